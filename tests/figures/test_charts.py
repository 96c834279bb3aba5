"""Charts of a classifier are its numbers: the weights of tokens, and how well it is calibrated."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false
import numpy as np
import pytest
from figures.test_cards import model_of
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import hardmax as hm
from hardmax.figures.cards import heaviest
from hardmax.figures.charts import reliability_figure
from hardmax.figures.palette import BLUE, VERMILION


@pytest.mark.parametrize("classes", [2, 3])
def test_the_bars_of_a_model_are_its_heaviest_tokens(classes: int):
    model = model_of(classes)
    ax, bars = model.plot(top=5), heaviest(model, 5)
    assert [label.get_text() for label in ax.get_yticklabels()] == [bar.name for bar in bars]
    by_row = sorted(ax.patches, key=lambda patch: patch.get_y())
    assert_allclose([patch.get_width() for patch in by_row], [bar.value for bar in bars])
    assert ax.yaxis_inverted()
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"for class {c}" for c in range(classes)]
    if classes == 2:  # the same colours as in pages and on terminals
        assert [to_hex(patch.get_facecolor()) for patch in (by_row[0], by_row[-1])] == [BLUE.lower(), VERMILION.lower()]
    hatches = {(patch.get_facecolor(), patch.get_hatch()) for patch in ax.patches}
    assert len(hatches) == len({hatch for _, hatch in hatches}) == classes  # never colour alone


def test_one_class_on_given_axes():
    model, mine = model_of(3), Figure().add_subplot()
    assert model.plot("class 2", top=4, ax=mine) is mine
    assert [label.get_text() for label in mine.get_yticklabels()] == [bar.name for bar in heaviest(model, 4, [2])]
    assert not pyplot.get_fignums()
    for given in ({"label": "class 9"}, {"top": 0}, {"ax": 3}):
        with pytest.raises(hm.InputError, match=f"`{next(iter(given))}`"):
            model.plot(**given)


def test_points_of_the_reliability_diagram_are_the_bins_and_the_title_has_the_error():
    confidence, right, texts = np.array([0.6, 0.9]), np.array([0.5, 1.0]), np.array([30, 10])
    (ax,) = reliability_figure((confidence, right, texts)).axes
    assert_allclose(ax.lines[1].get_xydata(), np.stack([confidence, right], axis=1))
    assert_allclose(ax.collections[0].get_segments(), [[[0.6, 0.6], [0.6, 0.5]], [[0.9, 0.9], [0.9, 1.0]]])
    assert ax.get_title(loc="left") == "40 texts, expected calibration error 0.1000"
