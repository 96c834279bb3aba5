"""List the shipped models.

Any of them can be used as MODEL: `hardmax explain TEXT --model MODEL`. `hardmax card MODEL` says
more of one."""

from argparse import Namespace

from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_table

OPTIONS = {**opt.JSON}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.text.shipped import available, load_model

    facts = [{"name": name} | opt.describe(load_model(name)) for name in available()]
    if args.json:
        print_json({"models": facts})
    else:
        print_table(list(facts[0]), [list(row.values()) for row in facts])
