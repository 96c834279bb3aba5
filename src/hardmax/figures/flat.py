"""Tokens of any dimension laid into the plane."""

import numpy as np

# The directions of largest spread are sought among at most so many tokens.
MOST_TOKENS = 20_000


def principal_axes(tokens: np.ndarray) -> np.ndarray:
    """The two directions (d, 2) in which the tokens (n, d) spread most, seen from the origin as it is.

    >>> principal_axes(np.array([[0.0, 3.0, 0.0], [0.0, -3.0, 0.0], [1.0, 0.0, 0.0]])).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    some = tokens[:: len(tokens) // MOST_TOKENS + 1]
    some = some / (np.abs(some).max() or 1.0)  # no square of it is too large or too small for a float
    # The triangle of a QR decomposition has the same directions, and d rows instead of n.
    triangle = np.linalg.qr(some - some.mean(axis=0), mode="r")
    _, _, directions = np.linalg.svd(triangle, full_matrices=True)
    chosen = directions[:2]
    # A direction and its opposite are equally good: the largest entry is made positive, so that pictures do not flip.
    largest = chosen[np.arange(2), np.abs(chosen).argmax(axis=1)]
    return (chosen * np.sign(largest)[:, None]).T


def plane_axes(tokens: np.ndarray) -> np.ndarray:
    """A linear map (d, 2) of tokens (n, d) onto the plane: themselves where they fit, else principal coordinates."""
    d = tokens.shape[1]
    return np.eye(d, 2) if d <= 2 else principal_axes(tokens)


def remark_on(d: int) -> str:
    """What a reader must be told about tokens of that dimension in a plane."""
    return "" if d <= 2 else f"first two principal coordinates of {d}"
