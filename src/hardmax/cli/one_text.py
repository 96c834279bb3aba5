"""What commands about one text share: where it comes from, and which model is asked."""

from typing import Annotated

import typer

from hardmax._files import decode, read_bytes, shown_name
from hardmax._validation import InputError

DEFAULT_MODEL = "imdb-2d"

TheText = Annotated[str | None, typer.Argument(help="The text, or - for standard input.")]
TextFile = Annotated[str | None, typer.Option("--file", "-f", help="Read the text from a file instead.")]
TheModel = Annotated[str, typer.Option(help="The folder of a model, or the name of one that ships.")]


def read_text(text: str | None, file: str | None) -> str:
    """The text that was given, or that stands in the file, or comes through standard input."""
    if (text is None) == (file is None):
        came = "both came" if text is not None else "neither came"
        raise InputError(f"give either a text (or - for standard input) or `--file`: {came}.")
    if file is None and text != "-":
        return text or ""
    source = "-" if file is None else file
    return decode(read_bytes(source, "expected a text"), shown_name(source), "save it as UTF-8")
