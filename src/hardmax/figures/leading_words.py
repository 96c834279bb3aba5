"""Which words lead how often, as bars."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from hardmax.figures.labels import escape_mathtext
from hardmax.figures.mpl import Axes, Patch
from hardmax.figures.palette import INK, look_of_class
from hardmax.figures.style import our_look

DPI = 150
_HATCHES = ("////", "", "....", "\\\\\\\\", "xxxx", "----")  # never colour alone


class LeadingWord(NamedTuple):
    """A bar: what stands at its foot, its length in percent, what stands at its end, and the class it speaks for."""

    name: str
    percent: float
    pull: float
    side: int


def draw_leading_words(words: Sequence[LeadingWord], classes: int, ax: Axes) -> list[Any]:
    """A bar for each word, the first on top, in the colour and the hatch of its class; gives back the bars."""
    bars = []
    for place, word in enumerate(words):
        bars += ax.barh(place, word.percent, ec="white", height=0.8, **_look(word.side, classes))
        ax.text(word.percent, place, f" {word.pull:+.0f}", va="center", fontsize=7, color=INK)
    ax.set_yticks(range(len(words)), [escape_mathtext(word.name) for word in words])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.15 * ax.get_xlim()[1])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return bars


def bars_axes(words: int) -> Axes:
    """The axes of a new figure of pyplot, with room for so many bars."""
    from matplotlib import pyplot

    # Not inside our look, as in `plotting`: pyplot's first figure sets what has to last.
    figure = pyplot.figure(figsize=(5.6, 1.2 + 0.24 * words), dpi=DPI, layout="constrained")
    with our_look():
        return figure.add_subplot()


def key_of_classes(names: Sequence[str], which: Collection[int]) -> list[Patch]:
    """What the colours and hatches of these classes say, and the numbers at the bars."""
    spoken = [
        Patch(ec="white", label=escape_mathtext(f"speaks for {name}"), **_look(number, len(names)))
        for number, name in enumerate(names)
        if number in which
    ]
    return [*spoken, Patch(fc="none", ec="none", label="+9: what the word says itself, its logit")]


def _look(side: int, classes: int) -> dict[str, Any]:
    return {"fc": look_of_class(side, classes)[0], "hatch": _HATCHES[side % len(_HATCHES)]}
