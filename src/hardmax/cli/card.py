"""Print the card of a model, or write its dashboard.

The card says what a model is for, what it was trained on, how good it is, and which words weigh
most. The dashboard is one page of the whole model: search a word, see its vote and what modifies
it. With --data it also has the texts in which a word counts most, and the answers by slice, for
each value of each column; with --label also accuracy and calibration. It contains the vocabulary,
and parts of the texts."""

from argparse import Namespace

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_text

OPTIONS = {
    "MODEL": {"help": "Name of a shipped model, or a model folder."},
    "--dashboard": opt.target("Write the dashboard.", ".html", ".htm"),
    **opt.DATA,
}


def run(args: Namespace) -> None:
    """The command."""
    if args.data and args.dashboard is None:
        raise InputError("`--data` is for the dashboard: name its file with `--dashboard FILE`.")
    from hardmax.text import describe, load_model

    model = load_model(args.MODEL)
    if args.dashboard is None:
        print_text(describe(model))
        return
    model.show(opt.read_data(args), text=args.text, label=args.label).save(args.dashboard)
    notify(f"wrote {args.dashboard}")
