"""`place_labels`: each beside its mark, over no other label or mark, inside the axes; or none at
all."""

# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from hardmax.figures.labels import place_labels

DPI = 100


def axes() -> Axes:
    ax = Figure(figsize=(4, 4), dpi=DPI).add_axes((0.1, 0.1, 0.8, 0.8))
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return ax


def points(box: Bbox) -> Bbox:
    return Bbox(box.get_points() * 72 / DPI)


def placed(
    places, words, reach: float, ax: Axes, **options
) -> tuple[list[Annotation], list[Bbox], list[Bbox]]:
    """The labels, their boxes, and those of all marks, in points."""
    labels = place_labels(np.array(places), words, [reach] * len(places), ax, **options)
    middles = ax.transData.transform(places) * 72 / DPI
    marks = [Bbox([middle - reach, middle + reach]) for middle in middles]
    return labels, [points(label.get_window_extent()) for label in labels], marks


def distance(one: Bbox, other: Bbox) -> float:
    """Between two boxes; 0 if they meet."""
    gaps = np.maximum(np.maximum(one.min - other.max, other.min - one.max), 0)
    return float(np.hypot(*gaps))


near = st.floats(0, 1)
clouds = st.lists(st.tuples(near, near), min_size=1, max_size=15, unique=True)


@given(clouds, st.floats(2, 8), st.booleans())
def test_no_label_covers_another_or_a_mark_or_leaves_the_axes(places, reach, outwards):
    ax = axes()
    centre = np.mean(places, axis=0) if outwards else None
    labels, boxes, marks = placed(
        places, [f"{n}" for n in range(len(places))], reach, ax, centre=centre
    )
    frame = points(ax.get_window_extent())
    assert len(labels) > 0
    lines = [note.xy for note in ax.texts if not note.get_text()]
    for number, (label, box) in enumerate(zip(labels, boxes, strict=True)):
        own = int(label.get_text())
        assert np.allclose(label.xy, places[own])
        assert (box.min >= frame.min).all()
        assert (box.max <= frame.max).all()
        assert all(distance(box, other) > 0 for other in boxes[:number])
        assert all(distance(box, mark) > 0 for mark in marks[:own] + marks[own + 1 :])
        away = distance(box, Bbox([marks[own].min + reach] * 2)) - reach
        assert -0.25 * reach < away < 65  # a mark is round, and its box is not
        # It is joined to its mark if it is not beside it; around it there is a point of padding.
        assert (label.xy in lines) == (away > 7) or 6 < away < 7.5


def test_directions_away_from_the_centre_come_first_and_without_one_the_right():
    around = 0.5 + 0.2 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [0.8, 0.6]])
    _, boxes, marks = placed(around, list("abcde"), 4, axes(), centre=np.array([0.5, 0.5]))
    for place, box, mark in zip(around, boxes, marks, strict=True):
        away = (box.min + box.max - mark.min - mark.max) / 2
        angle = np.arccos((away / np.hypot(*away)) @ ((place - 0.5) / np.hypot(*(place - 0.5))))
        assert angle <= np.pi / 8
        assert distance(box, mark) < 4
    (label,), (box,), (mark,) = placed([[0.5, 0.5]], ["a"], 4, axes())
    assert label.get_position()[1] == pytest.approx(0)
    assert 1 <= distance(box, mark) <= 3
    assert box.x0 > mark.x1


def test_where_there_is_no_room_there_is_no_label_and_larger_type_needs_more():
    crowd = [[x, y] for x in np.linspace(0, 1, 25) for y in np.linspace(0, 1, 25)]
    ax = axes()
    labels, *_ = placed(crowd, ["a long label"] * 5, 5, ax)
    assert labels == []
    assert [text for text in ax.texts if text.get_text()] == []
    small, large = (placed([[0.5, 0.5]], ["word"], 4, axes(), size=size)[1][0] for size in (8, 16))
    assert large.height == pytest.approx(2 * small.height, rel=0.2)


def test_dollars_are_dollars_and_no_label_has_several_lines():
    (label,), *_ = placed([[0.5, 0.5]], ["$5 a\nday$"], 4, axes())
    assert label.get_text().count(r"\$") == 2
    assert "\n" not in label.get_text()
