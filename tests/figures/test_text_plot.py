"""The picture of a text: bars are votes, dotted ones what they would be, in the colours of the
classes."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from refusals import refuses
from text.small_models import random_texts, small_model, word_model

from hardmax.figures.palette import look_of_class
from hardmax.figures.text_plot import MOST
from hardmax.text.reading import Modifier

TEXT = "a great film, the plot is not good but very witty, awful ! the worst"
MODELS = {
    "plain": small_model(),
    "gathered": small_model(alpha="1", gate=0.3, neutral_weight=50),
    "three classes": small_model(classes=3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def bars_of(ax: Axes, *, dotted: bool) -> list[Rectangle]:
    return [
        bar
        for bar in ax.patches
        if isinstance(bar, Rectangle) and (bar.get_linestyle() == ":") == dotted
    ]


@every_model
def test_bars_are_the_largest_votes_in_order_and_dotted_ones_what_modified_tokens_would_say(model):
    for why in (model.explain(text) for text in (TEXT, *random_texts(5))):
        if not why.ledger:
            continue
        ax = why.plot(Figure().add_subplot())
        shown = why.active[:MOST]
        bars = bars_of(ax, dotted=False)
        assert [bar.get_width() for bar in bars] == [entry.vote for entry in shown]
        for bar, entry in zip(bars, shown, strict=True):
            assert same_color(
                bar.get_facecolor(), look_of_class(entry.class_index, len(model.classes))[0]
            )
            assert bool(bar.get_hatch()) == (entry.vote < 0)  # not by colour alone
        modified = [(row, entry) for row, entry in enumerate(shown) if entry.modifiers]
        dotted = bars_of(ax, dotted=True)
        assert [bar.get_width() for bar in dotted] == [entry.weight for _, entry in modified]
        assert [tuple(text.xy) for text in ax.texts] == [
            (entry.vote, row) for row, entry in modified
        ]  # type: ignore[attr-defined]
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert [name.partition(" ← ")[0] for name in names] == [entry.word for entry in shown]
        low, high = ax.get_ylim()
        assert high < 0 < len(shown) - 1 < low or len(shown) <= 1  # the largest is on top


def test_names_say_what_a_token_attends_to_and_the_axis_what_votes_mean():
    model = word_model({"boring": -2, "great": 1.5}, modifiers=[Modifier("never", -0.5)])
    ax = model.explain("Great: it never gets boring.").plot(Figure().add_subplot())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["great", "boring ← never"]
    assert ax.get_xlabel() == "vote towards positive"
    assert ax.get_title(loc="left").startswith("positive")
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["for positive"]


def test_of_very_many_tokens_the_largest_votes_are_drawn_and_the_rest_is_counted():
    model = word_model({f"w{chr(97 + n)}": n + 1 for n in range(26)})
    ax = model.explain(" ".join(model.vocabulary.surfaces)).plot()
    assert len(bars_of(ax, dotted=False)) == MOST
    assert ax.get_xlabel().endswith("; 6 smaller ones are not shown")
    with refuses("`ax` must be axes"):
        model.explain("wa").plot(3)  # type: ignore[arg-type]


def test_names_of_mathematics_and_markup_are_drawn_as_they_are():
    model = word_model({"good": 1.0}, classes=("$x^$", "$\\frac{1}$"))
    figure = Figure()
    model.explain("good").plot(figure.add_subplot())
    figure.canvas.draw()  # matplotlib would refuse half a formula
    assert np.asarray(figure.axes[0].patches).size


def test_a_text_without_known_words_is_nothing_to_draw():
    with refuses("nothing to draw"):
        MODELS["plain"].explain("xyzzy").plot()
