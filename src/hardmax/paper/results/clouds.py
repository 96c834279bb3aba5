"""The words of a review as a cloud in the plane, and what becomes of it layer by layer."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.paper.plain import rounded
from hardmax.text._analysis import follows, walk_cloud


@dataclass(frozen=True, eq=False)
class Decoder:
    """logit = <direction, mean> + bias."""

    direction: np.ndarray  # (2,)
    bias: float

    def says(self, places: np.ndarray) -> np.ndarray:
        """The logits of means at these places."""
        return places @ self.direction + self.bias


@dataclass(frozen=True, eq=False)
class Cloud:
    """Distinct words, each as often as it counts."""

    words: list[str]
    counts: np.ndarray
    vectors: np.ndarray  # (words, 2)


def walk_words(cloud: Cloud, dynamics: Dynamics, layers: int, decoder: Decoder) -> dict[str, Any]:
    """Where the words, and their mean, are at every layer, who leads since when, the logit at every layer, and whom
    each word follows at the last: the place of a leader, or -1."""
    run = walk_cloud(cloud.vectors, cloud.counts, dynamics, layers)
    path = np.stack([run.floats_at(layer) for layer in range(layers + 1)])
    means = np.einsum("n,lnd->ld", cloud.counts / cloud.counts.sum(), path)
    return {
        "words": cloud.words,
        "counts": cloud.counts.tolist(),
        "leader_since": run.leader_since[run.points.of_token].tolist(),
        "follows": follows(run).tolist(),
        "path": rounded(path, 4),
        "means": rounded(means, 4),
        "logits": rounded(decoder.says(means), 4),
        "own_logits": rounded(decoder.says(cloud.vectors), 3),
    }
