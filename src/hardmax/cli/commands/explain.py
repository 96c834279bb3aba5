"""`hardmax explain`: why a model says what it says of a text."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import require_extra
from hardmax.cli.one_text import DEFAULT_MODEL, TextFile, TheModel, TheText, read_text
from hardmax.cli.options import AsJson, check_target
from hardmax.cli.output import is_terminal, narrate, print_json, print_text

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation


def explain_command(
    text: TheText = None,
    file: TextFile = None,
    model: TheModel = DEFAULT_MODEL,
    html: Annotated[
        str | None, typer.Option(help="Write a page with the active tokens marked to a .html file.")
    ] = None,
    gif: Annotated[
        str | None,
        typer.Option(help="Write the words going through the layers to a .gif file (needs the extra figures)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a model gives a text its label.

    Prints the label, its probability, the votes of the active tokens, and the leaders, and how both add up to the
    score.
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

    Console(highlight=False).print(explanation)
