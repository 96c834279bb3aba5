"""Charts of a classifier are its numbers: the weights of tokens, and how well it is calibrated."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportUnhashable=false
from itertools import pairwise

import numpy as np
import pytest
from figures.test_cards import model_of
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from refusals import refuses

from hardmax.figures.cards import heaviest
from hardmax.figures.charts import draw_weights, reliability_figure
from hardmax.figures.palette import BLUE, VERMILION


@pytest.mark.parametrize("classes", [2, 3])
def test_the_bars_of_a_model_are_its_heaviest_tokens(classes):
    model = model_of(classes)
    ax, bars = model.plot(top=5), heaviest(model, 5)
    assert [label.get_text() for label in ax.get_yticklabels()] == [bar.name for bar in bars]
    by_row = sorted(ax.patches, key=lambda patch: patch.get_y())
    assert_allclose([patch.get_width() for patch in by_row], [bar.value for bar in bars])
    assert ax.yaxis_inverted()
    above = {2: "", 3: ", above the mean of all classes"}[classes]
    assert ax.get_xlabel() == f"weight (the logit is a mean of weights){above}"
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        f"for class {c}" for c in range(classes)
    ]
    if classes == 2:  # the same colours as in pages and on terminals
        assert [to_hex(patch.get_facecolor()) for patch in (by_row[0], by_row[-1])] == [
            BLUE.lower(),
            VERMILION.lower(),
        ]
    hatches = {(patch.get_facecolor(), patch.get_hatch()) for patch in ax.patches}
    assert len(hatches) == len({hatch for _, hatch in hatches}) == classes  # never colour alone


def test_one_class_on_given_axes():
    model, mine = model_of(3), Figure().add_subplot()
    assert model.plot("class 2", top=4, ax=mine) is mine
    assert [label.get_text() for label in mine.get_yticklabels()] == [
        bar.name for bar in heaviest(model, 4, [2])
    ]
    assert not pyplot.get_fignums()
    for given in ({"label": "class 9"}, {"top": 0}, {"ax": 3}):
        with refuses(f"`{next(iter(given))}`"):
            model.plot(**given)


def test_points_of_the_reliability_diagram_are_the_bins_and_the_title_has_the_error():
    confidence = np.array([0.6, 0.9])
    right = np.array([0.5, 1.0])
    texts = np.array([30, 10])
    (ax,) = reliability_figure((confidence, right, texts)).axes
    assert_allclose(ax.lines[1].get_xydata(), np.stack([confidence, right], axis=1))
    assert_allclose(
        ax.collections[0].get_segments(), [[[0.6, 0.6], [0.6, 0.5]], [[0.9, 0.9], [0.9, 1.0]]]
    )
    assert ax.get_title(loc="left") == "40 texts, expected calibration error 0.1000"


@pytest.mark.parametrize("classes", [2, 3])
def test_bars_and_what_is_written_at_their_ends_lie_inside_the_axes(classes):
    model = model_of(classes)
    for ax in (model.plot(top=5), model.plot(top=5, ax=Figure(figsize=(6, 4)).add_subplot())):
        ax.figure.draw_without_rendering()
        frame, inside = ax.get_window_extent().padded(1), [*ax.patches, *ax.texts]
        assert len(ax.texts) == len(ax.patches) == 5 * classes
        for artist in inside:
            box = artist.get_window_extent()
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
        low, high = ax.get_xlim()
        assert low <= 0 <= high
        values = [patch.get_width() for patch in ax.patches]
        assert high - low < 1.5 * (max(0, *values) - min(0, *values))
    heights = [model.plot(top=top).figure.get_size_inches()[1] for top in (2, 10)]
    assert 8 * classes * 0.15 < heights[1] - heights[0] < 8 * classes * 0.3  # inches a bar


@pytest.mark.parametrize("values", [(0, 0), (1, 3), (-1, -3), (-2, 3)])
def test_there_is_room_for_notes_where_bars_end_and_nowhere_else(values):
    model, ax = model_of(2), Figure().add_subplot()
    bars = [
        bar._replace(value=value) for bar, value in zip(heaviest(model, 1), values, strict=True)
    ]
    draw_weights(model, bars, ax, inside=True)
    low, high = ax.get_xlim()
    assert (low < min(values)) if min(values) < 0 else (low == 0)
    assert (high > max(values)) if min(values) >= 0 or max(values) > 0 else (high == 0)


@pytest.mark.parametrize("top", [1, 5, 15])
def test_names_of_bars_do_not_lie_over_each_other_however_many_there_are(top):
    ax = model_of(2).plot(top=top)
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) > top
    assert not any(upper.overlaps(lower) for upper, lower in pairwise(boxes))


def test_the_reliability_diagram_shows_all_points_beside_the_diagonal():
    for low in (0.02, 0.3, 0.6):
        curve = np.array([low, 0.97]), np.array([low + 0.01, 1.0]), np.array([5, 5])
        (ax,) = reliability_figure(curve).axes
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert (left, right) == (bottom, top)
        assert max(0, low - 0.1) <= left <= low
        assert 1 < right < 1.05
        assert ax.lines[0].get_xydata().tolist() == [[left, left], [1, 1]]
