"""`hardmax flip`: the fewest words that change the label of a text."""

from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from hardmax._common.format import sanitize_text
from hardmax.cli import options as opt
from hardmax.cli.output import is_terminal, print_json, print_text

if TYPE_CHECKING:
    from hardmax.text.counterfactual import Flip

NOT_FOUND, UNDECIDED = 1, 3


def flip_command(
    text: opt.Text = None,
    file: opt.TextFile = None,
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    replace: Annotated[
        list[str] | None, Option(metavar="WORD", help="Replace words by it; repeatable.")
    ] = None,
    to: Annotated[
        str | None, Option(metavar="CLASS", help="Label to reach, if not just any other.")
    ] = None,
    protected: Annotated[
        list[str] | None, Option(metavar="WORD", help="A word that must stay; repeatable.")
    ] = None,
    max_evaluations: Annotated[
        int, Option(help="About how many variants of the text to try.")
    ] = 20_000,
    as_json: opt.AsJson = False,
) -> None:
    """Find the fewest words that change the label.

    Words are removed, or replaced by those of --replace. Prints the labels before and after, and
    the text with removed words struck out, or as [-word-], and replacements as {+word+}. The exit
    code is 1 if no set of words changes the label or the text is undecided, and 3 if none was found
    but not all could be tried."""
    content = opt.read_text(text, file)

    from hardmax.text.shipped import load_model  # only now: it takes a while to import

    loaded = load_model(model)
    label = next(
        (each for each in loaded.classes if str(each) == to), to
    )  # a class may be a number
    found = loaded.flip(
        content,
        replacements=replace or None,
        to=label,
        protected=protected or (),
        max_evaluations=max_evaluations,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(found)
        if found.found:
            _show_text(content, found)
    if not found.found:
        raise Exit(NOT_FOUND if found.proved_smallest else UNDECIDED)


def _show_text(text: str, flip: "Flip") -> None:
    """The text with the changes: in colours where the terminal has them, else in signs."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=not is_terminal())
    removed, added = ("{}", "{}") if console.color_system else ("[-{}-]", "{{+{}+}}")
    shown, at = Text("\n"), 0
    for start, end, instead in sorted(
        (*span, change.replacement) for change in flip.changes for span in change.spans
    ):
        shown.append(sanitize_text(text[at:start]))
        shown.append(removed.format(sanitize_text(text[start:end])), "red strike")
        if instead is not None:
            shown.append(added.format(sanitize_text(instead)), "green bold underline")
        at = end
    console.print(shown.append(sanitize_text(text[at:])))
