"""What `hardmax flip` prints: the answers before and after, and the text with what goes and what comes."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from hardmax._format import pluralize, sanitize_line, sanitize_text
from hardmax.cli.output import is_terminal, print_text
from hardmax.text.counterfactual import Flip
from hardmax.text.view import windows_around
from hardmax.text.wording import format_probability

Kind = Literal["stays", "goes", "comes", "left out"]
# On a terminal that knows neither, and on a pipe, what goes is [-so-], and what comes {+so+}.
LOOKS = {"stays": "", "goes": "red strike", "comes": "green bold underline", "left out": "dim"}
SIGNS = {"stays": "{}", "goes": "[-{}-]", "comes": "{{+{}+}}", "left out": "\n{}\n"}
_TIMES = 5


class Bit(NamedTuple):
    """Some characters of the text, and what becomes of them."""

    text: str
    kind: Kind


def show_flip(text: str, flip: Flip) -> None:
    """Print what was found."""
    if is_terminal() and flip.found:
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        if console.color_system is not None:
            shown = Text()
            for bit in bits_of(text, flip):
                line_breaks = "\n" * (bit.kind == "left out")
                shown.append(f"{line_breaks}{sanitize_text(bit.text)}{line_breaks}", LOOKS[bit.kind])
            console.print(shown, "\n")
            print_text(told(flip))
            return
    print_text(told(flip))
    if flip.found:
        print_text("\n" + "".join(SIGNS[bit.kind].format(bit.text) for bit in bits_of(text, flip)))


def told(flip: Flip) -> str:
    """The answers, the words, and what was tried, a line each."""
    if not flip.decided:
        return "undecided: there is no label to flip"
    before = f"{sanitize_line(flip.before)}  {format_probability(flip.probability_before)}"
    if not flip.found:
        return f"{before}\n{flip.verdict}"
    words = ", ".join(sanitize_line(str(change)) for change in flip.changes)
    what = "removing" if flip.changes[0].replacement is None else "replacing"
    after = f"{sanitize_line(flip.after)}  {format_probability(flip.probability)}"
    return f"{before}  →  {after}\n{what} {pluralize(len(flip.changes), 'word')}: {words}\n{flip.verdict}"


def bits_of(text: str, flip: Flip) -> Iterator[Bit]:
    """The text from its beginning to its end, with the changes; of a very long one, the opening and what is around
    them."""
    edits = sorted((*span, change.replacement) for change in flip.changes for span in change.spans)
    # Of a word that stands in many places the first few are shown, after the first of every other.
    places = (change.spans[time][0] for time in range(_TIMES) for change in flip.changes if time < len(change.spans))
    at = 0
    for first, last in windows_around(text, places):
        if at < first:
            yield Bit(f"… {first - at:,} characters left out …", "left out")
        at = first
        for start, end, instead in edits:
            if first <= start < last:
                yield Bit(text[at:start], "stays")
                yield Bit(text[start:end], "goes")
                if instead is not None:
                    yield Bit(instead, "comes")
                at = end
        yield Bit(text[at:last], "stays")
        at = max(at, last)
    if at < len(text):
        yield Bit(f"… {len(text) - at:,} characters left out …", "left out")
