"""How many leaders reviews have, counted as the authors do, and as we do.

A leader attends to itself alone; a word that is said twice is one point. The authors count a position whose attended
set begins with itself, where ties are equalities of floats: so a position that ties with another point counts, too.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hardmax.paper.authors.weights import Weights
from hardmax.text._analysis import Analysis


class Counted(NamedTuple):
    """For each text how many lead at a layer, and how many of these led at layer 0."""

    leaders: np.ndarray
    from_start: np.ndarray

    @property
    def share_from_start(self) -> float:
        """The mean over texts of the share of the leaders that lead since layer 0; texts without any have none."""
        some = self.leaders > 0
        return float((self.from_start[some] / self.leaders[some]).mean()) if some.any() else 0.0

    def document(self, how: str, layer: int) -> dict[str, Any]:
        """The same as plain data: how many texts have `fewest` leaders, how many one more, and so on."""
        fewest = int(self.leaders.min())
        return {
            "how": how,
            "layer": layer,
            "fewest": fewest,
            "reviews": np.bincount(self.leaders - fewest).tolist(),
            "share_from_start": round(self.share_from_start, 6),
        }


def count_leaders(found: Analysis, without: int | None = None) -> Counted:
    """How many attend to themselves alone after the last layer; the word of the number `without` is not counted."""
    counts = found.leader_since >= 0
    if without is not None:
        counts &= found.ids != without
    since_start = counts & (found.leader_since == 0)
    return Counted(found.sums(counts).astype(np.int64), found.sums(since_start).astype(np.int64))


def count_first_indices(weights: Weights, reviews: np.ndarray, layers: Sequence[int]) -> list[Counted]:
    """The positions whose attended set begins with themselves at each of these layers, in floats of 32 bits.

    `reviews` is (reviews, positions), the row of the embedding for each position. Positions with the same word stay
    together, and of them only the first can be a first index: so the words of a review are walked, each as often as it
    is said.
    """
    found = np.array([_first_indices(weights, review, layers) for review in reviews])
    return [Counted(*found[:, which].T) for which in range(len(layers))]


def _first_indices(weights: Weights, review: np.ndarray, layers: Sequence[int]) -> list[tuple[int, int]]:
    rows, places, often = np.unique(review, return_index=True, return_counts=True)
    order = places.argsort()
    z, often = weights.embeddings[rows[order]].astype(np.float32), often[order].astype(np.float32)
    own, alpha = np.arange(len(z)), np.float32(weights.alpha)
    leads = []
    for _ in range(max(layers) + 1):
        chosen = _attended(z)
        first = chosen.argmax(axis=1)
        leads.append(first == own)
        means = z[first]
        for tied in np.flatnonzero(chosen.sum(axis=1) > 1):
            means[tied] = often[chosen[tied]] @ z[chosen[tied]] / often[chosen[tied]].sum()
        z = (z + alpha * means) / (1 + alpha)
    return [(int(leads[layer].sum()), int((leads[layer] & leads[0]).sum())) for layer in layers]


def _attended(z: np.ndarray) -> np.ndarray:
    """Who attends to whom, (n, n). Scores are added axis by axis: a product of matrices may round equal rows
    differently."""
    scores = np.zeros((len(z), len(z)), dtype=z.dtype)
    for column in np.ascontiguousarray(z.T):
        scores += column[:, np.newaxis] * column
    return scores == scores.max(axis=1, keepdims=True)
