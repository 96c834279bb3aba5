"""`hardmax explain`: why a model says what it says of a text."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._format import sanitize_line, sanitize_text
from hardmax._validation import require_extra
from hardmax.cli.one_text import DEFAULT_MODEL, TextFile, TheModel, TheText, read_text
from hardmax.cli.options import AsJson, check_target
from hardmax.cli.output import is_terminal, narrate, print_json, print_text
from hardmax.figures.palette import place_of_class

if TYPE_CHECKING:
    from hardmax.text.explain.explanation import Explanation

# How words look on a terminal, by the place of their class in the cycle of colours of pages and figures.
LOOKS = ("blue", "red", "green", "yellow", "magenta", "cyan")


def explain_command(
    text: TheText = None,
    file: TextFile = None,
    model: TheModel = DEFAULT_MODEL,
    html: Annotated[
        str | None, typer.Option(help="Write a page with the words that count marked, and a picture, to a .html file.")
    ] = None,
    gif: Annotated[
        str | None,
        typer.Option(help="Write the words going through the layers to a .gif file (needs the extra figures)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a model gives a text its label.

    Prints the label, its probability, the words that count and whom they follow, the words that lead, and how both add
    up to the score.
    """
    if html is not None:
        check_target(html, "--html", (".html", ".htm"))
    if gif is not None:
        check_target(gif, "--gif", (".gif",))
        require_extra("`--gif`", "figures", "matplotlib")
    content = read_text(text, file)

    from hardmax.text.shipped import load  # only now, since it takes a while to come

    explanation = load(model).explain(content)
    if html is not None:
        explanation.save(html)
        narrate(f"wrote {html}")
    if gif is not None:
        explanation.animate(gif)
        narrate(f"wrote {gif}")
    if as_json:
        print_json(explanation.to_dict())
    else:
        _show(explanation)


def _show(explanation: "Explanation") -> None:
    if not is_terminal():
        print_text(explanation)
        return
    from rich.console import Console
    from rich.text import Text

    from hardmax.text.explain.excerpt import pieces
    from hardmax.text.explain.sentence import sentence

    marked, told = Text(), Text()
    for piece in pieces(explanation):
        text = sanitize_text(piece.text)
        if piece.side == "left out":
            marked.append(f"\n{text}\n", "dim")
        elif piece.vote is None:
            marked.append(text)
        else:
            marked.append(text, _look(piece.vote.side, explanation) + " bold underline" * piece.leads)
    for bit in sentence(explanation):
        told.append(
            sanitize_line(bit.text), "" if bit.side is None else f"{_look(bit.side, explanation)} bold underline"
        )
    console = Console(highlight=False)
    console.print(marked, "\n")
    if told:
        console.print(told, "\n")
    console.print(Text(str(explanation)))


def _look(side: int, explanation: "Explanation") -> str:
    """The look of a class; the second of two is reversed, so that it is not told by colour alone."""
    place = int(place_of_class(side, len(explanation.model.classes)))
    return f"{LOOKS[place % len(LOOKS)]}{' reverse' * (place % 2)}"
