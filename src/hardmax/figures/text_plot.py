"""The tokens of one text in the plane, layer by layer, drawn by matplotlib.

Vectors of two dimensions are drawn as they are. Others are projected onto two orthonormal axes: along the first lies
what decides (the row of the decoder, or that of the label less that of the next class), so that the line between the
two classes is the same for every vector; along the second the extra token, as far as it is orthogonal to the first, or,
if there is none, the direction in which the tokens spread most.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.figures import style
from hardmax.figures.labels import escape_mathtext, place_labels
from hardmax.figures.palette import FAINT, INK, LEADER, look_of_class
from hardmax.text._format import EXTRA_TOKEN

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

MOST_NAMED = 22
_SIZE = (6.4, 4.4)  # inches
_DOT, _STAR, _MEAN = 26.0, 150.0, 80.0  # areas of marks
_GRID = 240


@dataclass(frozen=True, eq=False)
class TextScene:
    """Tokens and their mean in the plane, at every layer, and the scores of the classes: `scores[c] @ (x, y, 1)`."""

    path: np.ndarray  # (layers, tokens, 2)
    mean: np.ndarray  # (layers, 2)
    words: tuple[str, ...]
    sides: np.ndarray  # the number of the class that each token counts towards; -1: none
    leads: np.ndarray  # which tokens lead
    votes: np.ndarray  # how much each token adds: those that add more are named first
    classes: tuple[str, ...]
    scores: np.ndarray  # (classes, 3)
    remark: str  # what the axes are, if tokens have more than two dimensions

    def leads_of(self, places: np.ndarray) -> np.ndarray:
        """By how much each class is ahead of the best other one at places (..., 2), as (classes, ...)."""
        scores = np.moveaxis(places @ self.scores[:, :2].T + self.scores[:, 2], -1, 0)
        return np.stack([score - np.delete(scores, c, axis=0).max(axis=0) for c, score in enumerate(scores)])


def scene_of(why: "Explanation") -> TextScene:
    """The scene of an explanation with at least one token."""
    model, path = why.model, why.path
    axes, remark = _axes(why)
    mean = np.einsum("t,ktd->kd", why.voices / max(why.voices.sum(), 1), path)
    decoder, bias = model.decoder.astype(np.float64), model.bias.astype(np.float64)
    if len(decoder) == 1:
        decoder, bias = np.vstack([np.zeros_like(decoder), decoder]), np.concatenate([[0.0], bias])
    beside = mean[-1] - (axes @ mean[-1]) @ axes  # the plane goes through the mean
    return TextScene(
        path=path @ axes.T,
        mean=mean @ axes.T,
        words=why.words,
        sides=np.where(why.found.active, why.sides, -1),
        leads=why.found.leader_since >= 0,
        votes=np.abs(why.votes),
        classes=tuple(map(str, model.classes)),
        scores=np.column_stack([decoder @ axes.T, decoder @ beside + bias]),
        remark=remark,
    )


def _axes(why: "Explanation") -> tuple[np.ndarray, str]:
    """The axes (2, d), and what a reader must know of them."""
    d, decoder, extra = why.model.dimension, why.model.decoder.astype(np.float64), why.model.extra
    if d <= 2:
        return np.eye(2, d), ""
    second, first = np.argsort(why.found.logits[0], kind="stable")[-2:] if len(decoder) > 1 else (0, 0)
    axis = _unit(decoder[0] if len(decoder) == 1 else decoder[first] - decoder[second], np.eye(d)[0])
    spread = np.linalg.svd((why.points - why.points.mean(axis=0)) @ (np.eye(d) - np.outer(axis, axis)))[2][0]
    upright, what = spread * np.sign(spread[np.abs(spread).argmax()]), "the direction of largest spread"
    if extra is not None:
        beside = extra.astype(np.float64) - (extra @ axis) * axis
        if np.linalg.norm(beside) > 1e-9 * np.linalg.norm(extra):
            upright, what = beside, "the extra token"
    upright = _unit(upright - (upright @ axis) * axis, np.eye(d)[1])
    return np.stack([axis, upright]), f"projected from {d} dimensions; horizontal: what decides; vertical: {what}"


def _unit(vector: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else otherwise


# ---------------------------------------------------------------- drawing


def plot_text(why: "Explanation", ax: Any = None) -> style.Axes:
    """Draw where the tokens of a text end, and the paths that lead there, on these axes or those of a new figure."""
    ax = style.new_figure(_SIZE).add_subplot() if ax is None else style.check_axes(ax)
    with style.our_look():
        _draw(scene_of(why), why.answer, ax)
    return ax


def _draw(scene: TextScene, title: str, ax: style.Axes) -> None:
    """Draw the regions of the classes, tokens with the paths that they took, and their mean."""
    ax.set_title(escape_mathtext(title), loc="left")
    ax.set_xlabel(scene.remark or "axes are not to the same scale", fontsize=7)
    ax.set_xticks([])
    ax.set_yticks([])
    _frame(scene, ax)
    _draw_regions(scene, ax)
    now, extra = scene.path[-1], np.array(scene.words) == EXTRA_TOKEN
    inactive = (scene.sides < 0) & ~extra
    blur = np.unique(now[inactive].round(9), axis=0)  # many lie in one place
    ax.scatter(*blur.T, s=60, c=INK, alpha=0.2, linewidths=0, zorder=2, label="inactive")
    for c, name in enumerate(scene.classes):
        color, shape = look_of_class(c, len(scene.classes))
        mine = (scene.sides == c) & ~extra
        look: dict[str, Any] = {"color": color, "edgecolors": "white", "linewidths": 0.6}
        ax.plot(*scene.path[:, mine].T, color=color, lw=0.7, alpha=0.6, zorder=3)
        ax.scatter(*now[mine & ~scene.leads].T, s=_DOT, marker=shape, zorder=5, label=escape_mathtext(name), **look)
        ax.scatter(*now[mine & scene.leads].T, s=_STAR, marker=LEADER, zorder=6, **look)
    ax.scatter([], [], s=_DOT * 2, c=FAINT, marker=LEADER, label="leader")
    if extra.any():
        neutral = "neutral leader" if inactive.any() else "extra token"
        ax.scatter(*now[extra].T, s=_STAR, c="white", edgecolors=INK, marker=LEADER, zorder=6, label=neutral)
    ax.plot(*scene.mean.T, color=INK, lw=0.8, ls=":", zorder=4)
    ax.scatter(*scene.mean[-1], s=_MEAN, c=INK, marker="^", linewidths=0, zorder=7, label="mean: decides the label")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=4, fontsize=7, frameon=False)
    _name(scene, now, ax)


def _frame(scene: TextScene, ax: style.Axes) -> None:
    """A window round all places, the mean, and the nearest border if it is near, with room for labels."""
    places = np.concatenate([scene.path.reshape(-1, 2), scene.mean])
    low, high = places.min(axis=0), places.max(axis=0)
    reach, mean = (high - low).max() or 1.0, scene.mean[-1]
    second, first = np.argsort(scene.scores @ np.array([*mean, 1.0]), kind="stable")[-2:]
    lead = scene.scores[first] - scene.scores[second]
    if (slope := lead[:2] @ lead[:2]) > 0:
        foot = mean - (lead @ np.array([*mean, 1.0])) * lead[:2] / slope
        if (foot >= low - reach / 2).all() and (foot <= high + reach / 2).all():
            beyond = foot + 0.2 * (foot - mean)
            low, high = np.minimum(low, beyond), np.maximum(high, beyond)
    room = np.where(high > low, high - low, 0.6 * reach)
    ax.set_xlim(low[0] - 0.14 * room[0], high[0] + 0.14 * room[0])
    ax.set_ylim(low[1] - 0.38 * room[1], high[1] + 0.2 * room[1])


def _draw_regions(scene: TextScene, ax: style.Axes) -> None:
    x, y = np.meshgrid(np.linspace(*ax.get_xlim(), _GRID), np.linspace(*ax.get_ylim(), _GRID))
    for c, lead in enumerate(scene.leads_of(np.stack([x, y], axis=-1))):
        if lead.max() > 0:
            color = look_of_class(c, len(scene.classes))[0]
            ax.contourf(x, y, lead, levels=[0, lead.max() + 1], colors=[color], alpha=0.1, zorder=0)
        if lead.min() < 0 < lead.max() and (c or len(scene.classes) > 2):  # two classes share one border
            ax.contour(x, y, lead, levels=[0], colors=INK, linewidths=1.0, zorder=1)


def _name(scene: TextScene, places: np.ndarray, ax: style.Axes) -> None:
    """Name leaders, then the tokens that add most; no name reaches across a border."""
    from matplotlib.text import Text

    figure: Any = ax.figure.get_figure(root=True)
    figure.draw_without_rendering()  # where the axes are is known from then on
    renderer: Any = style.FigureCanvasAgg(figure).get_renderer()
    order = sorted(np.flatnonzero(scene.sides >= 0).tolist(), key=lambda t: (not scene.leads[t], -scene.votes[t]))
    named = order[:MOST_NAMED]
    reaches = [(_STAR if scene.leads[t] else _DOT) ** 0.5 / 2 for t in named]
    for label in place_labels(places[named].reshape(-1, 2), [scene.words[t] for t in named], reaches, ax):
        label.update_positions(renderer)
        box = Text.get_window_extent(label, renderer)  # without the line to its mark
        corners = ax.transData.inverted().transform([(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)])
        if len(set(scene.leads_of(np.vstack([corners, label.xy])).argmax(axis=0))) > 1:
            label.remove()
