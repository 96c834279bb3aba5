"""`hardmax explain`: why a model says what it says of a text."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax.cli.options import AsJson, check_target
from hardmax.cli.output import is_terminal, narrate, print_json
from hardmax.errors import InputError

if TYPE_CHECKING:
    from hardmax.text.explanation import Explanation

DEFAULT_MODEL = "imdb-2d"


def explain_command(
    text: Annotated[str | None, typer.Argument(help="The text, or - for standard input.")] = None,
    file: Annotated[str | None, typer.Option("--file", "-f", help="Read the text from a file instead.")] = None,
    model: Annotated[str, typer.Option(help="The folder of a model, or the name of one that ships.")] = DEFAULT_MODEL,
    html: Annotated[str | None, typer.Option(help="Write a page with the leaders marked to a .html file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a model gives a text its label.

    Prints the label, its probability, the words that lead, and how they add up to the score.
    """
    from hardmax.text.shipped import load

    if html is not None:
        check_target(html, "--html", (".html", ".htm"))
    content = _read_text(text, file)
    explanation = load(model).explain(content)
    if html is not None:
        explanation.save(html)
        narrate(f"wrote {html}")
    if as_json:
        print_json(explanation.to_dict())
    else:
        _show(explanation)


def _read_text(text: str | None, file: str | None) -> str:
    if (text is None) == (file is None):
        came = "both came" if text is not None else "neither came"
        raise InputError(f"give either a text (or - for standard input) or `--file`: {came}.")
    if file is None and text != "-":
        return text or ""
    name = "standard input" if file is None or file == "-" else f"`{file}`"
    try:
        data = sys.stdin.buffer.read() if file is None or file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {(error.strerror or type(error).__name__).lower()}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start}): save it as UTF-8.") from None


def _show(explanation: "Explanation") -> None:
    if not is_terminal():
        print(explanation)
        return
    from rich.console import Console
    from rich.text import Text

    marked = Text(explanation.text)
    for share in explanation.leaders:
        for start, end in share.spans:
            marked.stylize("bold underline blue" if share.contribution >= 0 else "bold reverse red", start, end)
    console = Console(highlight=False)
    console.print(marked, "\n")
    console.print(Text(str(explanation)))
