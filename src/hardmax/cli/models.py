"""List the shipped models, or print the card of one.

Any of them can be used as MODEL: `hardmax explain TEXT --model MODEL`. The card says what a model
is for, what it was trained on, how good it is, and which tokens weigh most."""

from argparse import Namespace

from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_table, print_text

OPTIONS = {
    "MODEL": {"nargs": "?", "help": "Model to describe, if not to list all."},
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.text import describe
    from hardmax.text.shipped import available, load_model

    names = available() if args.MODEL is None else [args.MODEL]
    models = {name: load_model(name) for name in names}
    facts = [{"name": name} | opt.describe(model) for name, model in models.items()]
    if args.json:
        print_json({"models": facts})
    elif args.MODEL is None:
        print_table(list(facts[0]), [list(row.values()) for row in facts])
    else:
        print_text(describe(models[args.MODEL]))
