"""Compare two models: the words whose votes differ most.

With --data, also their answers to its texts: shares of labels, mean logits, and the texts that get
different labels; with --label the accuracy of both, and the gain with the half width of its 95 %
interval. Votes are then means over all texts; without texts, those of words on their own."""

from argparse import Namespace

from hardmax.cli import options as opt
from hardmax.cli.output import print_frames

OPTIONS = {
    "FIRST": {"help": "Name of a shipped model, or a model folder."},
    "SECOND": {"help": "Another one, with the same classes."},
    **opt.DATA,
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.text import diff, load_model

    first, second = load_model(args.FIRST), load_model(args.SECOND)
    found = diff(first, second, opt.read_data(args), text=args.text, label=args.label)
    print_frames(found, as_json=args.json)
