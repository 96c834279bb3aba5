"""The picture of one text as SVG, a few kilobytes with real letters: no matplotlib, nothing loaded.

Colours of letters and lines are those of the page (`currentColor`); behind words lies `--hardmax-ground`.
"""

import math
import unicodedata

import numpy as np

from hardmax._format import EXTRA_TOKEN, escape_html, truncate
from hardmax.figures.free_places import UPRIGHT, Box, free_offset
from hardmax.figures.svg import joined, star_around, tenths
from hardmax.figures.text_scene import TextScene, Window

WIDTH = 440.0
MOST_NAMED, LONGEST_NAME = 22, 28
_LETTERS = 13.5  # height of letters, in the units of the picture
_LINE = 1.25 * _LETTERS
_DISTANCES = (3.0, 8.0, 15.0, 24.0, 35.0, 48.0, 63.0, 80.0, 99.0, 120.0)
_NEAR = 7.0  # up to here it is plain which mark a word belongs to
_DOT, _STAR, _MEAN = 3.6, 8.5, 7.5
_MOST_OF_CROWD, _MOST_IN_PLACE = 400, 100
# Shapes in steps for a pen that stands in their middle, one for each place in the cycle of classes.
_SHAPES = (
    f"m{-_DOT} 0a{_DOT} {_DOT} 0 1 0 {2 * _DOT} 0a{_DOT} {_DOT} 0 1 0 {-2 * _DOT} 0z",
    "m-3.2 -3.2h6.4v6.4h-6.4z",
    "m0 -4.6l4.6 4.6 -4.6 4.6 -4.6 -4.6z",
    "m-1.5 -4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",
    "m0 4.4l-4.2 -7.4h8.4z",
    "m-4.4 0l7.4 -4.2v8.4z",
)
_TRIANGLE = f"m0 {-_MEAN}l{0.95 * _MEAN:g} {1.6 * _MEAN:g}h{-1.9 * _MEAN:g}z"


class _Canvas:
    """Where places of a window lie in a picture, y downwards."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.width, self.height = WIDTH, round(WIDTH * window.drawn_aspect)
        self.scale = np.array([self.width / (window.right - window.left), -self.height / (window.top - window.bottom)])

    def places(self, points: np.ndarray) -> np.ndarray:
        return (points - (self.window.left, self.window.top)) * self.scale


def text_svg(scene: TextScene, told: str) -> str:
    """The picture as an element `<svg>`; `told` is read out to those who do not see it.

    Words that count stand where they start, in the colour and the shape of the class for which their leader speaks, a
    line shows how far they go, leaders are stars, the mean in which all end is a triangle, and the rest is a haze.
    """
    canvas = _Canvas(scene.window())
    marks = [*_tints(scene, canvas), *_borders(scene, canvas), *_crowd(scene, canvas), *_words(scene, canvas)]
    marks += [*_extra(scene, canvas), *_mean(scene, canvas), *_names(scene, canvas)]
    width, height = tenths(canvas.width), tenths(canvas.height)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape_html(told)}" {size} '
        f'class="hardmax-picture">{"".join(marks)}</svg>'
    )


def _tints(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The part of each class, tinted."""
    return [
        f'<path d="M{joined(canvas.places(corners))}z" fill="{scene.color(c)}" fill-opacity=".11"/>'
        for c, corners in enumerate(scene.regions(canvas.window))
        if len(corners)
    ]


def _borders(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The lines that decide."""
    lines = [f"M{joined(canvas.places(line))}" for line in scene.borders(canvas.window)]
    return [f'<path class="border" d="{"".join(lines)}" fill="none" stroke="currentColor"/>'] if lines else []


def _crowd(scene: TextScene, canvas: _Canvas) -> list[str]:
    """Words that say nothing, as a haze: the more of them stand in a place, the larger it is."""
    starts, ends = (canvas.places(scene.path[layer][scene.crowd]) for layer in (0, -1))
    # Of very many, as many places as make no difference to the eye.
    pixels = 1 if len(starts) <= _MOST_OF_CROWD else 12
    ways = np.concatenate([starts, ends], axis=1)
    ways, counts = np.unique((ways / pixels).round() * pixels, axis=0, return_counts=True)
    hazes = []
    for size in sorted(set(np.minimum(counts, _MOST_IN_PLACE).tolist())):
        some = ways[np.minimum(counts, _MOST_IN_PLACE) == size]
        hazes.append(_haze("".join(f"M{joined([way[:2]])}h0" for way in some), 0.13, 5 + 3 * math.sqrt(size)))
        lines = "".join(f"M{joined(way.reshape(2, 2))}" for way in some if math.dist(way[:2], way[2:]) >= 1)
        hazes.append(_haze(lines, 0.1, 1 + 0.4 * math.sqrt(size)))
    return hazes


def _haze(drawn: str, opacity: float, width: float) -> str:
    look = f'fill="none" stroke="currentColor" stroke-linecap="round" stroke-opacity="{opacity:g}"'
    return f'<path class="haze" d="{drawn}" {look} stroke-width="{tenths(width)}"/>' if drawn else ""


def _words(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The ways of the words that count, the words at their starts, and leaders where they are for good."""
    starts, ends = canvas.places(scene.path[0]), canvas.places(scene.path[-1])
    ways, dots, stars = [], [], []
    for side in sorted({int(scene.sides[t]) for t in scene.named}):
        mine = [t for t in scene.named if scene.sides[t] == side]
        color, shape = scene.color(side), _SHAPES[scene.place_of_side(side) % len(_SHAPES)]
        lines = "".join(f"M{joined([starts[t], ends[t]])}" for t in mine if math.dist(starts[t], ends[t]) >= 1)
        if lines:
            ways.append(f'<path d="{lines}" fill="none" stroke="{color}" stroke-opacity=".55"/>')
        dots.append(_filled([starts[t] for t in mine if not scene.leads[t]], shape, color, "word"))
        stars.append(_filled([ends[t] for t in mine if scene.leads[t]], star_around(_STAR), color, "leader"))
    return [*ways, *dots, *stars]


def _extra(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The extra token: a star without a colour."""
    if scene.extra is None:
        return []
    place = canvas.places(scene.path[-1][scene.extra])
    shape = star_around(_STAR) if scene.leads[scene.extra] else _SHAPES[0]
    return [f'<path class="extra" d="M{joined([place])}{shape}" stroke="currentColor"/>']


def _mean(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The mean: its way, and a triangle where it ends."""
    way = canvas.places(scene.mean)
    return [
        f'<path d="M{joined(way)}" fill="none" stroke="currentColor" stroke-dasharray="2 3"/>',
        f'<path class="mean" d="M{joined(way[-1:])}{_TRIANGLE}" fill="currentColor"/>',
    ]


def _filled(places: list[np.ndarray], shape: str, color: str, name: str) -> str:
    marks = "".join(f"M{joined([place])}{shape}" for place in places)
    return f'<path class="{name}" d="{marks}" fill="{color}"/>' if marks else ""


# ---------------------------------------------------------------- names


def _names(scene: TextScene, canvas: _Canvas) -> list[str]:
    """The names of classes, of the mean and the extra token, and of as many words as find room."""
    frame = Box(2, 2, canvas.width - 2, canvas.height - 2)
    starts, ends = canvas.places(scene.path[0]), canvas.places(scene.path[-1])
    mean = canvas.places(scene.mean)[-1]
    wanted = [("mean", mean, _MEAN, "")]
    if scene.extra is not None:
        wanted.append(("neutral leader" if scene.crowd else EXTRA_TOKEN, ends[scene.extra], _STAR, ""))
    wanted += [
        (scene.words[t], ends[t], _STAR, "strong") if scene.leads[t] else (scene.words[t], starts[t], _DOT, "")
        for t in scene.named[:MOST_NAMED]
    ]
    marks = [_around(place, reach) for _, place, reach, _ in wanted]
    marks += [_around(starts[t], _DOT) for t in scene.named[MOST_NAMED:]]
    classes, taken = _class_names(scene, canvas)
    lines, names = [], []
    for own, (name, place, reach, kind) in enumerate(wanted):
        shown, (x, y) = _cut(name), place.tolist()
        size = (_width(shown, strong=bool(kind)), _LINE)
        others = [*taken, *(mark for other, mark in enumerate(marks) if other != own)]
        offset = free_offset((x, y), size, reach, frame, others, _DISTANCES, UPRIGHT)
        if offset is None:
            continue
        middle = (x + offset[0], y + offset[1])
        taken.append(Box.around(*middle, size[0] / 2, size[1] / 2))
        lines += _join((x, y), offset, size, reach)
        names.append(_text(shown, middle, kind))
    joins = f'<path class="join" d="{"".join(lines)}" fill="none" stroke="currentColor"/>' if lines else ""
    return [joins, *classes, *names]


def _class_names(scene: TextScene, canvas: _Canvas) -> tuple[list[str], list[Box]]:
    """Each class has its name in its part of the picture, at the lower edge if that is its own, else in its middle."""
    names, boxes = [], []
    for c, corners in enumerate(scene.regions(canvas.window)):
        if not len(corners):
            continue
        shown = _cut(scene.classes[c])
        half = _width(shown, strong=True) / 2
        x, y = corners.mean(axis=0).tolist()
        low = np.array([x, canvas.window.bottom])
        (x, y), at_edge = canvas.places(np.array([x, y])).tolist(), scene.class_at(low) == c
        x = min(max(x, half + 6), canvas.width - half - 6)
        y = canvas.height - _LINE / 2 - 4 if at_edge else y
        box = Box.around(x, y, half, _LINE / 2)
        if not any(box.overlaps(other) for other in boxes):
            boxes.append(box)
            names.append(_text(shown, (x, y), "class"))
    return names, boxes


def _text(shown: str, middle: tuple[float, float], kind: str) -> str:
    name = f' class="{kind}"' if kind else ""
    x, y = tenths(middle[0]), tenths(middle[1] + 0.35 * _LETTERS)
    return f'<text x="{x}" y="{y}"{name}>{escape_html(shown)}</text>'


def _join(
    place: tuple[float, float], offset: tuple[float, float], size: tuple[float, float], reach: float
) -> list[str]:
    """A thin line from a mark to the edge of its name, if that stands off."""
    x, y = offset
    across, down = max(abs(x) - size[0] / 2, 0.0), max(abs(y) - size[1] / 2, 0.0)
    if math.hypot(across, down) <= reach + _NEAR:
        return []
    end = (place[0] + math.copysign(across, x), place[1] + math.copysign(down, y))
    return [f"M{joined([place, end])}"]


def _around(place: np.ndarray, reach: float) -> Box:
    x, y = place.tolist()
    return Box.around(x, y, reach, reach)


def _cut(name: str) -> str:
    return truncate(" ".join(name.split()), LONGEST_NAME)


def _width(shown: str, *, strong: bool) -> float:
    """About how wide letters are, whatever the font: rather too wide than too slim."""
    return _LETTERS * (1.08 if strong else 1.0) * sum(map(_width_of_letter, shown)) + 4


def _width_of_letter(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    return 0.34 if letter in "iljtfrI.,;:'|! " else 0.88 if letter in "mwMW@%" else 0.66 if letter.isupper() else 0.57
