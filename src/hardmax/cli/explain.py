"""`hardmax explain`: why a model gives a text its label."""

from typing import Annotated

from typer import Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import is_terminal, notify, print_json, print_text


def explain_command(
    text: opt.Text = None,
    file: opt.TextFile = None,
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    html: Annotated[
        str | None, Option("--html", "-o", metavar="FILE", help="Write a .html page.")
    ] = None,
    interactive: Annotated[
        bool,
        Option(
            "--try", help="Put the model into the page, with its vocabulary, to try other words."
        ),
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Explain why a model gives a text its label.

    Prints the label, its probability, the active tokens with their leaders, and how their votes add
    up to the score. The page has the same, and of the model nothing but what it says about the
    words of the text."""
    opt.check_target(html, "--html", ".html", ".htm")
    if interactive and html is None:
        raise InputError("`--try` is for a page: name its file with --html FILE.")
    content = opt.read_text(text, file)

    from hardmax.text.shipped import load_model  # only now: it takes a while to import

    loaded = load_model(model)
    explanation = loaded.explain(content)
    if interactive:
        from hardmax.text.page import gives_away

        notify(f"{html} {gives_away(loaded)}")
    if html is not None:
        explanation.save(html, interactive=interactive)
        notify(f"wrote {html}")
    if as_json:
        print_json(explanation.to_dict())
        return
    if is_terminal():
        from rich.console import Console

        Console(highlight=False).print(explanation)
    else:
        print_text(explanation)
