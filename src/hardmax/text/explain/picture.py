"""The picture of a text, as data: its words laid into the plane, and what the decoder says there.

Vectors of two dimensions are drawn as they are. Others are projected by a linear map onto two orthonormal axes:

* along the first lies what decides: the row of the decoder, or, of several, that of the label less that of the class
  next to it. The line between these two is the same for every vector, not for those of a section alone;
* along the second lies the extra token, as far as it is orthogonal to the first; without one, or where nothing is left
  of it, the direction in which the words are spread most.
"""

import math

import numpy as np

from hardmax._format import EXTRA_TOKEN
from hardmax.figures.flat import principal_axes
from hardmax.figures.text_scene import NEUTRAL, TextScene
from hardmax.text.explain.account import Account


def scene_of(account: Account, path: np.ndarray | None = None) -> TextScene:
    """The scene of a text with a known word, or an extra token: the cloud and its ends, or a `path` (layers, n, d)."""
    path = np.stack([account.points, account.ends]) if path is None else path
    axes, remark = _axes(account)
    shares = account.voices / max(account.voices.sum(), 1)
    mean = np.einsum("t,ktd->kd", shares, path)
    return TextScene(
        path=path @ axes.T,
        mean=mean @ axes.T,
        words=account.words,
        sides=np.where(account.found.active, account.sides, NEUTRAL),
        leads=account.leads,
        weights=np.abs(account.votes),
        extra=len(account.words) - 1 if account.words[-1] == EXTRA_TOKEN else None,
        classes=tuple(map(str, account.model.classes)),
        scores=_scores(account, axes, mean[-1]),
        remark=remark,
    )


def _scores(account: Account, axes: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """What the decoder says of the places of the plane that is parallel to the axes and goes through the mean."""
    decoder, bias = account.model.decoder.astype(np.float64), account.model.bias.astype(np.float64)
    if len(decoder) == 1:
        decoder, bias = np.vstack([np.zeros_like(decoder), decoder]), np.concatenate([[0.0], bias])
    beside = mean - (axes @ mean) @ axes
    return np.column_stack([decoder @ axes.T, decoder @ beside + bias])


def _axes(account: Account) -> tuple[np.ndarray, str]:
    """The axes (2, d) of the picture, and what a reader must be told of them."""
    d = account.model.dimension
    if d <= 2:
        return np.eye(2, d), ""
    first = _unit(_deciding(account))
    extra = account.model.extra
    second = np.zeros(d) if extra is None else _beside(extra.astype(np.float64), first)
    told = "the extra token"
    if not second.any():
        rest = account.points - np.outer(account.points @ first, first)
        second, told = _beside(principal_axes(rest)[:, 0], first), "where words differ most"
    return np.stack([first, _unit(second)]), f"projected from {d} dimensions: across, what decides; upwards, {told}"


def _deciding(account: Account) -> np.ndarray:
    decoder = account.model.decoder.astype(np.float64)
    if len(decoder) == 1:
        return decoder[0]
    second, first = np.argsort(account.found.logits[0], kind="stable")[-2:]
    return decoder[first] - decoder[second]


def _beside(vector: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """What is left of a vector without its part along an axis; zero where that is rounding."""
    left = vector - (vector @ axis) * axis
    return left if math.sqrt(left @ left) > 1e-9 * math.sqrt(vector @ vector) else np.zeros_like(vector)


def _unit(vector: np.ndarray) -> np.ndarray:
    """The vector with length 1; of a decoder that says nothing, the first axis."""
    length = math.sqrt(vector @ vector)
    return vector / length if length > 0 else np.eye(1, len(vector))[0]
