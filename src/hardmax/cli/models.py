"""List the shipped models, or describe one by its strongest tokens.

Any of them can be used as MODEL: `hardmax explain TEXT --model MODEL`. The accuracy was measured on
texts that were not used in training. --picture draws the weights of its strongest tokens. The card
of a model is the README.md of its folder."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_facts, print_json, print_table

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

KEYWORDS = 10


OPTIONS = {
    "MODEL": {"nargs": "?", "help": "Model to describe, if not to list all."},
    **opt.PICTURE,
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.text.shipped import available, load_model

    if args.MODEL is None:
        if args.picture is not None:
            raise InputError("`--picture` needs a model: name one.")
        listed = [_describe(name, load_model(name)) for name in available()]
        if args.json:
            print_json(listed)
        else:
            print_table(list(listed[0]), [list(row.values()) for row in listed])
        return
    model, name = load_model(args.MODEL), Path(args.MODEL).name
    if args.picture is not None:
        opt.write_picture(args.picture, model.plot().figure)
    strongest = {
        str(label): {keyword.word: keyword.weight for keyword in model.keywords(label, KEYWORDS)}
        for label in model.classes
    }
    if args.json:
        print_json(_describe(name, model) | {"keywords": strongest})
        return
    print_facts(_describe(name, model))
    for label, weights in strongest.items():
        print_table([f"strongest tokens for {label}", "weight"], list(weights.items()))


def _describe(name: str, model: "TextModel") -> dict[str, Any]:
    from hardmax.text.card import evaluations

    about: dict[str, Any] = {"classes": list(model.classes), "accuracy": None, "measured_on": None}
    for one in evaluations(model)[:1]:
        texts, right = (sum(column) for column in zip(*one["classes"], strict=True))
        about |= {"accuracy": right / texts, "measured_on": one["on"]}
    return {"name": name} | opt.describe(model) | about
