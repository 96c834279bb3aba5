"""Charts of a classifier are its numbers: the weights of tokens, and how well it is calibrated."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportUnhashable=false
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import same_color, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose
from refusals import refuses
from text.small_models import random_texts, small_model, word_model

from hardmax.figures.charts import MOST_VOTES, heaviest
from hardmax.figures.palette import BLUE, VERMILION, look_of_class
from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary


def model_of(classes: int, words: int = 30) -> TextModel:
    rng, rows = np.random.default_rng(classes), 1 if classes == 2 else classes
    surfaces = [f"word{number}" for number in range(words)]
    return TextModel(
        vocabulary=Vocabulary(surfaces, np.ones((words, classes))),
        weights=rng.normal(size=(words, rows)),
        bias=np.zeros(rows),
        classes=tuple(f"class {number}" for number in range(classes)),
    )


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
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [f"for class {c}" for c in range(classes)]
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent().padded(1)
    for note in ax.texts:
        box = note.get_window_extent()
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
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


# ---------------------------------------------------------------- the votes of a text

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
        ax = why.plot(ax=Figure().add_subplot())
        shown = why.active[:MOST_VOTES]
        bars = sorted(bars_of(ax, dotted=False), key=lambda bar: bar.get_y())
        assert [bar.get_width() for bar in bars] == [entry.vote for entry in shown]
        for bar, entry in zip(bars, shown, strict=True):
            assert same_color(
                bar.get_facecolor(), look_of_class(entry.class_index, len(model.classes))[0]
            )
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
    ax = model.explain("Great: it never gets boring.").plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["great", "boring ← never"]
    assert ax.get_xlabel() == "vote towards positive"
    assert ax.get_title(loc="left").startswith("positive")
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["for positive"]


def test_of_very_many_tokens_the_largest_votes_are_drawn_and_the_rest_is_counted():
    model = word_model({f"w{chr(97 + n)}": n + 1 for n in range(26)})
    ax = model.explain(" ".join(model.vocabulary.surfaces)).plot()
    assert len(bars_of(ax, dotted=False)) == MOST_VOTES
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
