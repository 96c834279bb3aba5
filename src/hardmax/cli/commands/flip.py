"""`hardmax flip`: the fewest words of a text without which a model says something else."""

from typing import Annotated

import typer

from hardmax.cli.one_text import DEFAULT_MODEL, TextFile, TheModel, TheText, read_text
from hardmax.cli.options import AsJson
from hardmax.cli.output import print_json

NONE, UNDECIDED = 1, 3


def flip_command(
    text: TheText = None,
    file: TextFile = None,
    model: TheModel = DEFAULT_MODEL,
    replace: Annotated[
        list[str] | None,
        typer.Option(help="Replace words by this one instead of taking them out; give it several times for a choice."),
    ] = None,
    to: Annotated[str | None, typer.Option(help="The class that is wanted; any other than now if not given.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="A word that must stay; may be repeated.")] = None,
    max_evaluations: Annotated[
        int, typer.Option(help="About how many variants may be tried to prove that no smaller set of words works.")
    ] = 20_000,
    as_json: AsJson = False,
) -> None:
    """Find the fewest words that change the answer.

    Prints the answers before and after, and the text with the words struck out, or [-so-], and what comes instead,
    {+so+}. Where no set of words changes the answer, or the text is undecided, the exit code is 1; where none was found
    but not all could be tried, it is 3.
    """
    content = read_text(text, file)

    from hardmax.text.shipped import load  # only now, since it takes a while to come

    loaded = load(model)
    label = next((each for each in loaded.classes if str(each) == to), to)  # a class may be a number
    found = loaded.flip(
        content, replacements=replace or None, to=label, keep=keep or (), max_evaluations=max_evaluations
    )
    if as_json:
        print_json(found.to_dict())
    else:
        from hardmax.cli.reports.flip import show_flip

        show_flip(content, found)
    if not found.found:
        raise typer.Exit(NONE if found.proved_smallest else UNDECIDED)
