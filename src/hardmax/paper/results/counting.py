"""How many leaders reviews have, counted as the authors do; `hardmax.text.knowing.counting` counts as we do.

A leader attends to itself alone; a word that is said twice is one point. The authors count a position whose attended
set begins with itself, where ties are equalities of floats: so a position that ties with another point counts, too.
"""

from collections.abc import Sequence

import numpy as np

from hardmax.paper.authors.weights import Weights
from hardmax.text.knowing.counting import Counted


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
