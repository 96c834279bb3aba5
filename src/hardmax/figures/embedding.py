"""The words of a classifier in the plane: where they are, who leads, and which side speaks for which class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._format import EXTRA_TOKEN, pluralize
from hardmax._validation import InputError, shorten
from hardmax.figures import inputs
from hardmax.figures.asked import LeaderLike, ModelLike, all_like, like
from hardmax.figures.inputs import validate_params
from hardmax.figures.labels import escape_mathtext, place_labels
from hardmax.figures.mpl import Annotation, Axes, Figure, Line2D, PathCollection, QuadContourSet
from hardmax.figures.palette import FAINT, INK, LEADER, look_of_class
from hardmax.figures.plane import draw_origin
from hardmax.figures.style import our_look, plain_axes

MOST_LABELS = 30
NEUTRAL = "neutral leader"
_GRID = 240
_SMALLEST, _LARGEST = 7.0, 150.0  # areas of marks
FLATTEST = 0.55


@dataclass(frozen=True)
class Plane:
    """A plane through the space of the words: `origin + place @ axes`."""

    origin: np.ndarray  # (d,)
    axes: np.ndarray  # (2, d), orthonormal, or with a row of zeros where there is one dimension

    def places(self, points: np.ndarray) -> np.ndarray:
        return (points - self.origin) @ self.axes.T

    def points(self, places: np.ndarray) -> np.ndarray:
        return self.origin + places @ self.axes


@dataclass(frozen=True)
class DrawnEmbedding:
    """What `draw_embedding` drew."""

    words: PathCollection
    leaders: list[PathCollection]  # one for each class that a leader speaks for
    neutral: PathCollection  # the neutral leader, if there is one
    labels: list[Annotation]
    halves: list[QuadContourSet]  # the side of each class, where it has one
    borders: list[QuadContourSet]


def _a_model(value: Any, name: str) -> ModelLike:
    return like(value, ModelLike, name, "a TextModel")


def _leaders(value: Any, name: str) -> Sequence[LeaderLike]:
    return all_like(value, LeaderLike, name, "what `frequent_leaders` gives")


@validate_params(model=_a_model, leaders=_leaders, ax=inputs.an_axes)
def draw_embedding(model: ModelLike, leaders: Sequence[LeaderLike], ax: Axes) -> DrawnEmbedding:
    """All words as faint dots, the leaders by the class for which they speak, larger the more often they lead; the
    neutral leader as a white star.

    The plane is tinted by the class that a text would get whose mean lies there; the line between is where it is
    undecided. Of more than two dimensions the two are shown in which the leaders are spread most.
    """
    plane = plane_of(model, leaders)
    known = model.prepared.table[: max(len(model.vocabulary), model.prepared.extra + 1)]  # not the silent
    places, everybody = plane.places(_vectors(model, leaders)), plane.places(known)
    neutral = plane.places(_neutral(model))
    plain_axes(ax, frame=True)
    ax.axis(_window(np.vstack([places, neutral])))
    halves, borders = _draw_sides(model, plane, ax)
    words = ax.scatter(*everybody.T, s=1.5, c=FAINT, linewidths=0, alpha=0.5, zorder=2, rasterized=True)
    draw_origin(ax)
    sizes = _sizes([leader.texts for leader in leaders])
    marks = []
    for c, name in enumerate(model.classes):
        these = [n for n, leader in enumerate(leaders) if leader.lean == name]
        color, shape = look_of_class(c, len(model.classes))
        marks.append(
            ax.scatter(*places[these].T, s=sizes[these], c=color, marker=shape, edgecolors="white", lw=0.5, zorder=5)
        )
    star = ax.scatter(*neutral.T, s=_LARGEST, c="white", marker=LEADER, edgecolors=INK, lw=0.9, zorder=6)
    named = leaders[:MOST_LABELS]
    labels = place_labels(
        np.vstack([neutral, places[: len(named)]]),
        [*(NEUTRAL for _ in neutral), *(leader.word for leader in named)],
        (np.sqrt([*(_LARGEST for _ in neutral), *sizes[: len(named)]]) / 2).tolist(),
        ax,
    )
    return DrawnEmbedding(words, marks, star, labels, halves, borders)


@validate_params(model=_a_model, leaders=_leaders)
def embedding_figure(model: ModelLike, leaders: Sequence[LeaderLike]) -> Figure:
    """`draw_embedding` as a figure of its own, with a key."""
    shown = np.vstack([_vectors(model, leaders), _neutral(model)])
    left, right, bottom, top = _window(plane_of(model, leaders).places(shown))
    with our_look():
        figure = Figure(figsize=(8.0, 1.0 + 7.0 * (top - bottom) / (right - left)))
        ax = figure.add_axes((0.02, 0.04, 0.96, 0.84))
        draw_embedding(model, leaders, ax)
        ax.set_title(_title(model, leaders), loc="left")
        ax.legend(handles=_key(model), loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0)
    return figure


def plane_of(model: ModelLike, leaders: Sequence[LeaderLike]) -> Plane:
    """The plane that is drawn: the words' own, if they have two dimensions."""
    d = model.dimension
    if d <= 2:
        return Plane(np.zeros(d), np.eye(2, d))
    points = _vectors(model, leaders)
    weights = np.array([leader.texts for leader in leaders], dtype=float)
    mean = weights @ points / weights.sum()
    _, _, axes = np.linalg.svd(np.sqrt(weights)[:, np.newaxis] * (points - mean))
    # The sign of a principal axis is arbitrary: the entry of largest size decides it.
    turned = [axis * np.sign(axis[np.abs(axis).argmax()]) for axis in axes[:2]]
    return Plane(mean, np.array(turned))


def _vectors(model: ModelLike, leaders: Sequence[LeaderLike]) -> np.ndarray:
    """Where the leaders are."""
    number = {word: v for v, word in enumerate((*model.vocabulary.surfaces, EXTRA_TOKEN))}
    strange = next((leader.word for leader in leaders if leader.word not in number), None)
    if strange is not None:
        raise InputError(
            f"`leaders` has {shorten(strange)}, a word that the model does not know: take its own leaders."
        )
    if not leaders and model.dimension > 2:
        raise InputError(f"`leaders` is empty: nothing says which plane of {model.dimension} dimensions to draw.")
    return model.prepared.table[[number[leader.word] for leader in leaders]]


def _neutral(model: ModelLike) -> np.ndarray:
    """Where the neutral leader is: a row, or none."""
    return model.prepared.table[[model.prepared.extra]] if model.prepared.has_neutral else model.prepared.table[:0]


def _window(leaders: np.ndarray) -> tuple[float, float, float, float]:
    """A frame (left, right, bottom, top) round the leaders and zero; of other words, a lone one may lie outside."""
    corners = np.vstack([leaders, np.zeros((1, 2))])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, reach = (low + high) / 2, (high - low) / 2
    # Not so flat or so slim that words find no room beside their marks.
    reach = 1.15 * np.maximum(reach, (FLATTEST * reach.max()) or 1.0)
    (left, bottom), (right, top) = (middle - reach).tolist(), (middle + reach).tolist()
    return left, right, bottom, top


def _draw_sides(model: ModelLike, plane: Plane, ax: Axes) -> tuple[list[QuadContourSet], list[QuadContourSet]]:
    x, y = np.meshgrid(np.linspace(*ax.get_xlim(), _GRID), np.linspace(*ax.get_ylim(), _GRID))
    points = plane.points(np.stack([x.ravel(), y.ravel()], axis=1))
    leads = [lead.reshape(x.shape) for lead in _leads(points @ model.decoder.T.astype(float) + model.bias)]
    halves, borders = [], []
    for c, lead in enumerate(leads):
        if lead.max() > 0:
            tint = [look_of_class(c, len(leads))[0]]
            halves.append(ax.contourf(x, y, lead, levels=[0, lead.max() + 1], colors=tint, alpha=0.09, zorder=0))
        if lead.min() < 0 < lead.max() and (c or len(leads) > 2):  # two classes share one border
            borders.append(ax.contour(x, y, lead, levels=[0], colors=INK, linewidths=0.8, zorder=1))
    return halves, borders


def _leads(logits: np.ndarray) -> list[np.ndarray]:
    """For each class how far it is ahead of the best of the others."""
    scores = np.concatenate([np.zeros_like(logits), logits], axis=1) if logits.shape[1] == 1 else logits
    return [scores[:, c] - np.delete(scores, c, axis=1).max(axis=1) for c in range(scores.shape[1])]


def _sizes(texts: Sequence[int]) -> np.ndarray:
    counts = np.array(texts, dtype=float)
    return _SMALLEST + (_LARGEST - _SMALLEST) * counts / max(counts.max(initial=0.0), 1.0)


def _title(model: ModelLike, leaders: Sequence[LeaderLike]) -> str:
    named = f"of {pluralize(len(leaders), 'leader')} " if len(leaders) > MOST_LABELS else ""
    told = (
        f"{len(model.vocabulary):,} words and phrases; {named}the {min(len(leaders), MOST_LABELS)} most frequent named"
    )
    return told if model.dimension <= 2 else f"{told}\nthe first two principal directions of {model.dimension}"


def _key(model: ModelLike) -> list[Line2D]:
    signs = [
        _sign(
            *look_of_class(c, len(model.classes)), f"leads for {escape_mathtext(name)}: the larger, the more texts", 6
        )
        for c, name in enumerate(model.classes)
    ]
    return [
        *signs,
        *([_sign("white", LEADER, f"{NEUTRAL}: says nothing", 9, INK)] if model.prepared.has_neutral else []),
        _sign(FAINT, ".", "other word", 4),
        Line2D([], [], color=INK, lw=0.8, label="undecided"),
        _sign(FAINT, "+", "zero", 5),
    ]


def _sign(color: str, marker: str, text: str, size: float, edge: str | None = None) -> Line2D:
    marks = {"marker": marker, "color": color, "markersize": size, "markeredgecolor": edge or color}
    return Line2D([], [], ls="none", label=text, **marks)
