"""`hardmax explain`: why a model gives a text its label."""

from typing import Annotated

import typer

from hardmax.cli import options as opt
from hardmax.cli.output import is_terminal, notify, print_json, print_text


def explain_command(
    text: opt.Text = None,
    file: opt.TextFile = None,
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page to a .html file.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Explain why a model gives a text its label.

    Prints the label, its probability, the active tokens with their leaders, and how their votes add
    up to the score."""
    opt.check_target(html, "--html", ".html", ".htm")
    content = opt.read_text(text, file)

    from hardmax.text.shipped import load_model  # only now: it takes a while to import

    explanation = load_model(model).explain(content)
    if html is not None:
        explanation.save(html)
        notify(f"wrote {html}")
    if as_json:
        print_json(explanation.to_dict())
        return
    if is_terminal():
        from rich.console import Console

        Console(highlight=False).print(explanation)
    else:
        print_text(explanation)
