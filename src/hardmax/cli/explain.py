"""`hardmax explain`: why a model gives a text its label."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._format import sanitize_line, sanitize_text
from hardmax.cli import options as opt
from hardmax.cli.output import is_terminal, notify, print_json, print_text
from hardmax.figures.palette import place_of_class

if TYPE_CHECKING:
    from hardmax.text.explain.explanation import Explanation

# Colours of the classes, in the order of those of pages and figures.
COLOURS = ("blue", "red", "green", "yellow", "magenta", "cyan")


def explain_command(
    text: opt.Text = None,
    file: opt.TextFile = None,
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page to a .html file.")] = None,
    gif: Annotated[str | None, typer.Option(metavar="FILE", help="Animate the layers in a .gif file.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Explain why a model gives a text its label.

    Prints the label, its probability, the active tokens with their leaders, and how their votes add up to the score.
    """
    opt.check_target(html, "--html", ".html", ".htm")
    opt.check_target(gif, "--gif", ".gif")
    content = opt.read_text(text, file)

    from hardmax.text.shipped import load  # only now: it takes a while to import

    explanation = load(model).explain(content)
    if html is not None:
        explanation.save(html)
        notify(f"wrote {html}")
    if gif is not None:
        explanation.animate(gif)
        notify(f"wrote {gif}")
    if as_json:
        print_json(explanation.to_dict())
        return
    if is_terminal():
        _show_text(explanation)
    print_text(explanation)


def _show_text(explanation: "Explanation") -> None:
    """The text with its active tokens in the colours of their classes, leaders underlined, and a summary."""
    from rich.console import Console
    from rich.text import Text

    from hardmax.text.explain.excerpt import pieces
    from hardmax.text.explain.sentence import sentence

    marked, summary = Text(), Text()
    for piece in pieces(explanation):
        if piece.side == "left out":
            marked.append(f"\n{piece.text}\n", "dim")
        else:
            style = "" if piece.vote is None else _style(piece.vote.side, explanation) + " bold underline" * piece.leads
            marked.append(sanitize_text(piece.text), style)
    for bit in sentence(explanation):
        style = "" if bit.side is None else f"{_style(bit.side, explanation)} bold underline"
        summary.append(sanitize_line(bit.text), style)
    console = Console(highlight=False)
    console.print(marked, "\n")
    console.print(summary, "\n")


def _style(side: int, explanation: "Explanation") -> str:
    """The colour of a class; every second one is reversed, so that classes differ without colours, too."""
    place = int(place_of_class(side, len(explanation.model.classes)))
    return f"{COLOURS[place % len(COLOURS)]}{' reverse' * (place % 2)}"
