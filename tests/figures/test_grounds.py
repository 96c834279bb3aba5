"""Light and dark: what is written and marked stands out from the ground that the user's style
has."""

# pyright: reportArgumentType=false
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from figures.test_layers import CLOUDS, HALF, run_of
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image
from text.small_models import word_model

import hardmax as hm
from hardmax.figures.style import save_figure
from hardmax.text.reading import Modifier

MODEL = word_model({"boring": -2, "great": 1.5}, modifiers=[Modifier("never", -0.5)])
PLOTS: dict[str, Callable[[], Any]] = {
    "a run": lambda: run_of().plot(),
    "a limit": lambda: hm.limit(CLOUDS["ties"], HALF).plot(),
    "in space": lambda: hm.limit(CLOUDS["in space"], HALF).plot(),
    "basins": lambda: hm.basins([[1.0], [-1.0]], box=[(-2, 2)]).plot(),
    "numbers of leaders": lambda: hm.limits([CLOUDS["ties"], CLOUDS["ties"][:3]], HALF).plot(),
    "softmax": lambda: hm.softmax_gap(CLOUDS["ties"], HALF, [1, 2], layers=2).plot(),
    "twelve leaders": lambda: hm.limit(hm.clouds.polygon(12), HALF).plot(),
    "weights": MODEL.plot,
    "a text": lambda: MODEL.explain("Great: it never gets boring.").plot(),
}


def lightness(color: Any) -> float:
    return float(np.dot(to_rgb(color), (0.3, 0.6, 0.1)))


@pytest.mark.parametrize("look", ["default", "dark_background"])
@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_words_and_the_marks_of_legends_stand_out_from_the_ground(plot, look):
    with pyplot.style.context(look):
        figure = plot().get_figure(root=True)
        figure.canvas.draw()
    ground = lightness(figure.get_facecolor())
    words = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    keys = [
        line
        for legend in (*figure.legends, *(ax.get_legend() for ax in figure.axes))
        if legend
        for line in legend.findobj(Line2D)
    ]
    assert words
    assert all(abs(lightness(text.get_color()) - ground) > 0.5 for text in words)
    assert all(abs(lightness(line.get_color()) - ground) > 0.2 for line in keys)
    pyplot.close(figure)


def test_a_dark_figure_is_saved_with_its_ground(tmp_path):
    with pyplot.style.context("dark_background"):
        save_figure(run_of().plot().get_figure(root=True), tmp_path / "dark.png")
    with Image.open(tmp_path / "dark.png") as image:
        assert image.convert("RGB").getpixel((0, 0)) == (0, 0, 0)
    pyplot.close("all")
