"""The authors' classifier computed as it is written down, position by position, in numpy: the check of everything else.

It shares neither code nor data layout with the package's engines: nothing is merged, nothing is proved, a tie is an
equality of floats. For each review of n positions and each layer, with A = I:

    C_i  = { j : <z_i, z_j> is largest }
    z_i' = z_i + alpha / (1 + alpha) (mean of z_j over C_i - z_i)

and then logit = <decoder, mean of z> + bias, probability = 1 / (1 + exp(-logit)).
"""

from typing import NamedTuple

import numpy as np

from hardmax.paper.authors.weights import Weights


class Directly(NamedTuple):
    """What comes out for one review."""

    attended: np.ndarray  # (layers, n, n) bool: which positions attend to which
    tokens: np.ndarray  # (n, d) after the last layer
    logit: float
    probability: float


def evaluate_directly(weights: Weights, review: np.ndarray) -> Directly:
    """One review, given as the row of each of its positions, in float64."""
    z = weights.embeddings[review].astype(np.float64)
    share = float(weights.alpha) / (1 + float(weights.alpha))
    attended = np.zeros((weights.layers, len(z), len(z)), dtype=bool)
    for sets in attended:
        scores = (z[:, None, :] * z[None, :, :]).sum(axis=2)
        sets[:] = scores == scores.max(axis=1, keepdims=True)
        # Row by row: a product of matrices may round equal rows differently, and so break ties.
        means = np.array([z[chosen].mean(axis=0) for chosen in sets])
        z = z + share * (means - z)
    logit = float(weights.decoder.astype(np.float64) @ z.mean(axis=0) + float(weights.bias))
    return Directly(attended, z, logit, float(1 / (1 + np.exp(-logit))))
