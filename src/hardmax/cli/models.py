"""`hardmax models`: list the shipped models, describe one, or write its card."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_facts, print_json, print_table

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

KEYWORDS = 10


def models_command(
    model: Annotated[
        str | None, Argument(metavar="MODEL", help="Model to describe, if not to list all.")
    ] = None,
    picture: opt.Picture = None,
    card: opt.Card = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the shipped models, or describe one by its strongest tokens.

    Any of them can be used as MODEL: `hardmax explain TEXT --model MODEL`. The accuracy was
    measured on texts that were not used in training. --picture draws the weights of its strongest
    tokens, --card writes a page to send: what for, trained on what, how good."""
    from hardmax.text.shipped import available, load_model

    opt.check_target(picture, "--picture", *opt.PICTURES)
    opt.check_target(card, "--card", ".html", ".htm")
    if model is None:
        if card is not None or picture is not None:
            raise InputError(
                "`--picture` and `--card` need a model: name a shipped one, or a folder."
            )
        listed = [_describe(name, load_model(name)) for name in available()]
        if as_json:
            print_json(listed)
        else:
            print_table(list(listed[0]), (list(row.values()) for row in listed))
        return
    loaded, name = load_model(model), Path(model).name
    if picture is not None:
        opt.write_picture(picture, loaded.plot().figure)
    if card is not None:
        from hardmax.text.documents import card_page

        opt.write_text(card, card_page(loaded, name))
    strongest = {}
    for label in loaded.classes:
        words = loaded.keywords(label, KEYWORDS)
        strongest[str(label)] = {keyword.word: keyword.weight for keyword in words}
    if as_json:
        print_json(_describe(name, loaded) | {"keywords": strongest})
    elif picture is None and card is None:
        print_facts(_describe(name, loaded))
        for label, weights in strongest.items():
            print_table([f"strongest tokens for {label}", "weight"], weights.items())


def _describe(name: str, model: "TextModel") -> dict[str, Any]:
    from hardmax.text.card import evaluations

    about: dict[str, Any] = {"classes": list(model.classes), "accuracy": None, "measured_on": None}
    for one in evaluations(model)[:1]:
        texts, right = (sum(column) for column in zip(*one["classes"], strict=True))
        about |= {"accuracy": right / texts, "measured_on": one["on"]}
    return {"name": name} | opt.describe(model) | about
