"""The picture of one text on matplotlib's axes, and its layers as a moving picture."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._format import EXTRA_TOKEN
from hardmax.figures.labels import escape_mathtext, place_labels
from hardmax.figures.palette import INK, LEADER, look_of_class
from hardmax.figures.style import (
    DPI,
    Annotation,
    Axes,
    Figure,
    Line2D,
    LineCollection,
    PathCollection,
    Polygon,
    our_look,
    write_film,
)
from hardmax.figures.text_scene import TextScene

MOST_NAMED = 22
_WIDTH = 6.4
_DOT, _STAR, _MEAN = 26.0, 150.0, 80.0  # areas of marks
_MEAN_NAME = "mean"
_HOLD = 6  # frames for which a film rests at its end


@dataclass(frozen=True)
class DrawnText:
    """What `draw_text` drew."""

    halves: list[Polygon]  # the part of each class that has one
    borders: list[Line2D]
    crowd: PathCollection
    ways: LineCollection
    words: list[PathCollection]  # those of each class that a word speaks for
    leaders: list[PathCollection]
    extra: PathCollection
    mean: PathCollection
    mean_way: Line2D
    classes: list[Annotation]
    names: list[Annotation]  # that of the mean first

    def move(self, scene: TextScene, layer: int) -> None:
        """Put the marks where they are at a layer; names stay where words start, and leaders do not move."""
        places = scene.path[layer]
        self.crowd.set_offsets(places[_of_crowd(scene)[0]])
        self.ways.set_segments([scene.path[: layer + 1, t] for t in scene.named])
        for marks, side in zip(self.words, _sides(scene), strict=True):
            marks.set_offsets(places[_followers(scene, side)])
        for marks, side in zip(self.leaders, _sides(scene), strict=True):
            marks.set_offsets(places[_leaders(scene, side)])
        self.extra.set_offsets(places[[] if scene.extra is None else [scene.extra]])
        self.mean.set_offsets(scene.mean[layer])
        self.mean_way.set_data(*scene.mean[: layer + 1].T)
        for name in self.names[:1]:
            if name.get_text() == _MEAN_NAME:  # it found room
                name.xy = tuple(scene.mean[layer].tolist())


def draw_text(scene: TextScene, ax: Axes) -> DrawnText:
    """The half-planes of the classes and the line that decides, words where they start and the ways they go, leaders
    as stars, the mean in which all end as a triangle, and those that say nothing as a haze.
    """
    window = scene.window()
    ax.set(xticks=[], yticks=[])
    ax.set_xlim(window.left, window.right)
    ax.set_ylim(window.bottom, window.top)
    ax.set_aspect(window.drawn_aspect / window.aspect)
    halves = [_tint(corners, scene.color(c), ax) for c, corners in enumerate(scene.regions(window)) if len(corners)]
    borders = [ax.plot(*line.T, color=INK, lw=1.0, zorder=1)[0] for line in scene.borders(window)]
    some, counts = _of_crowd(scene)
    ways = LineCollection(
        [scene.path[:, t] for t in scene.named],
        colors=[scene.color(int(scene.sides[t])) for t in scene.named],
        lw=0.7,
        alpha=0.6,
        zorder=3,
    )
    ax.add_collection(ways)
    start, extra = scene.path[0], [] if scene.extra is None else [scene.extra]
    return DrawnText(
        halves,
        borders,
        ax.scatter(*start[some].T, s=20 + 12 * np.minimum(counts, 100), c=INK, alpha=0.12, linewidths=0, zorder=2),
        ways,
        [
            _marks(start[_followers(scene, side)], ax, side, scene, s=_DOT, marker=_shape(side, scene), zorder=5)
            for side in _sides(scene)
        ],
        [
            _marks(scene.path[-1][_leaders(scene, side)], ax, side, scene, s=_STAR, marker=LEADER, zorder=6)
            for side in _sides(scene)
        ],
        ax.scatter(
            *scene.path[-1][extra].T, s=_STAR, c="white", edgecolors=INK, marker=LEADER, linewidths=0.9, zorder=6
        ),
        ax.scatter(*scene.mean[-1:].T, s=_MEAN, c=INK, marker="^", linewidths=0, zorder=7),
        ax.plot(*scene.mean.T, color=INK, lw=0.8, ls=":", zorder=4)[0],
        *_name(scene, ax),
    )


def text_axes(scene: TextScene, title: str) -> Axes:
    """The axes of a new figure of pyplot, for `draw_text`, with a title and the names of classes."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=_size(scene), dpi=DPI)
    with our_look():
        return _titled(figure, scene, title)


def film_text(scene: TextScene, path: Path, title: Callable[[int], str], *, fps: float) -> None:
    """Write the layers as frames of a `.gif` or `.mp4`, whole or not at all; the last rests for a while."""
    with our_look():
        figure = Figure(figsize=_size(scene), dpi=100)
        ax = _titled(figure, scene, title(0))
        drawn = draw_text(scene, ax)

        def frame(layer: int) -> None:
            drawn.move(scene, layer)
            ax.set_title(escape_mathtext(title(layer)), loc="left")

        last = len(scene.path) - 1
        write_film(figure, path, [*range(last + 1), *[last] * _HOLD], frame, fps=fps)


def _size(scene: TextScene) -> tuple[float, float]:
    # An even number of pixels each way, as video asks for.
    return _WIDTH, round(50 * (_WIDTH * 0.96 * scene.window().drawn_aspect + 0.75)) / 50


def _titled(figure: Any, scene: TextScene, title: str) -> Axes:
    height = _size(scene)[1]
    ax = figure.add_axes((0.02, 0.32 / height, 0.96, 1 - 0.75 / height))
    ax.set_title(escape_mathtext(title), loc="left")
    if scene.remark:
        ax.set_xlabel(escape_mathtext(scene.remark), fontsize=7)
    return ax


def _tint(corners: np.ndarray, color: str, ax: Axes) -> Polygon:
    half = Polygon(corners, closed=True, facecolor=color, alpha=0.1, linewidth=0, zorder=0)
    ax.add_patch(half)
    return half


def _marks(places: np.ndarray, ax: Axes, side: int, scene: TextScene, **look: Any) -> PathCollection:
    return ax.scatter(*places.T, c=scene.color(side), edgecolors="white", linewidths=0.6, **look)


def _shape(side: int, scene: TextScene) -> str:
    return look_of_class(side, len(scene.classes))[1]


def _name(scene: TextScene, ax: Axes) -> tuple[list[Annotation], list[Annotation]]:
    """The names of classes, in their parts; and of the mean, of the extra token, and of as many words as find room."""
    end, extra = scene.path[-1], [] if scene.extra is None else [scene.extra]
    words, regions = scene.named[:MOST_NAMED], scene.regions(scene.window())
    classes = [c for c, corners in enumerate(regions) if len(corners)]
    names = [
        *(scene.classes[c] for c in classes),
        _MEAN_NAME,
        *("neutral leader" if scene.crowd else EXTRA_TOKEN for _ in extra),
    ]
    places = [*(_place_of_name(c, regions[c], scene) for c in classes), scene.mean[-1], *(end[t] for t in extra)]
    areas = [*(0.0 for _ in classes), _MEAN, *(_STAR for _ in extra)]
    names += [scene.words[t] for t in words]
    places += [scene.path[0][t] for t in words]
    areas += [_STAR if scene.leads[t] else _DOT for t in words]
    placed = place_labels(np.array(places), names, (np.sqrt(areas) / 2).tolist(), ax)
    shown = [escape_mathtext(name) for name in names[: len(classes)]]
    of_classes = [label for label in placed[: len(classes)] if label.get_text() in shown]
    for label in of_classes:
        label.set_fontweight("bold")
    return of_classes, placed[len(of_classes) :]


def _place_of_name(c: int, corners: np.ndarray, scene: TextScene) -> np.ndarray:
    """The lower edge of the picture, if that is in the part of the class, else the middle of its part."""
    x, y = corners.mean(axis=0).tolist()
    low = np.array([x, scene.window().bottom])
    return low if scene.class_at(low) == c else np.array([x, y])


def _sides(scene: TextScene) -> list[int]:
    return sorted({int(scene.sides[t]) for t in scene.named})


def _followers(scene: TextScene, side: int) -> list[int]:
    return [t for t in scene.named if scene.sides[t] == side and not scene.leads[t]]


def _leaders(scene: TextScene, side: int) -> list[int]:
    return [t for t in scene.named if scene.sides[t] == side and scene.leads[t]]


def _of_crowd(scene: TextScene) -> tuple[np.ndarray, np.ndarray]:
    """Of the words that say nothing one for each way that they go, and how many go it."""
    crowd = np.array(scene.crowd, dtype=np.int64)
    ways = scene.path[:, crowd].transpose(1, 0, 2).reshape(len(crowd), 2 * len(scene.path))
    _, first, counts = np.unique(ways, axis=0, return_index=True, return_counts=True)
    return crowd[first], counts
