"""`hardmax models`: list the shipped models, describe one, or write its card."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax._validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

COLUMNS = ("name", "tokens", "dimension", "layers", "alpha", "classes", "accuracy")
KEYWORDS = 10


def models_command(
    model: Annotated[
        str | None,
        typer.Argument(metavar="MODEL", help="A shipped model or a model folder to describe; without it, list all."),
    ] = None,
    card: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page about the model to a .html file.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the shipped models, or describe one.

    Any of them can be used as MODEL: `hardmax explain TEXT --model MODEL`. The accuracy was measured once, on texts
    that were not used in training.
    """
    from hardmax.text.files.finding import available
    from hardmax.text.shipped import load

    if model is None:
        if card is not None:
            raise InputError("`--card` needs a model: name one of those that `hardmax models` lists, or a folder.")
        found = [_describe(name, load(name)) for name in available()]
        if as_json:
            print_json(found)
        else:
            rows = [[_format(one[column]) for column in COLUMNS] for one in found]
            print_table(COLUMNS, rows, right=["tokens", "dimension", "layers", "accuracy"])
        return
    opt.check_target(card, "--card", ".html", ".htm")
    loaded = load(model)
    if card is not None:
        from hardmax._files import write_whole
        from hardmax.text.evaluation.card_page import card_page

        write_whole(card, card_page(loaded, Path(model).name).encode())
        notify(f"wrote {card}")
    facts = _describe(Path(model).name, loaded)
    keywords = {str(label): loaded.keywords(label, KEYWORDS) for label in loaded.classes}
    if as_json:
        print_json(
            facts | {"keywords": {label: {one.word: one.says for one in words} for label, words in keywords.items()}}
        )
    elif card is None:
        print_facts([(column, _format(facts[column])) for column in COLUMNS], comment="# ")
        for label, words in keywords.items():
            print_table([f"strongest tokens for {label}", "weight"], [[k.word, f"{k.says:+.2f}"] for k in words])


def _describe(name: str, model: "TextModel") -> dict[str, Any]:
    about = {"name": name} | opt.describe(model)
    about.pop("temperature")
    return about | {"classes": list(model.classes), "accuracy": model.metrics.get("accuracy")}


def _format(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
