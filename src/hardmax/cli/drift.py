"""Compare the texts of two tables, such as those of two months, as a model sees them.

Prints the shares of labels and the mean logits, the words that move the mean logit most, and words
that are more frequent in the new texts but unknown to the model."""

from argparse import Namespace

from hardmax.cli import options as opt
from hardmax.cli.output import print_frames

OPTIONS = {
    "OLD": {"help": "CSV, TSV, JSON lines or Parquet file, or a folder of Parquet files."},
    "NEW": {"help": "Another one."},
    **opt.MODEL,
    **opt.COLUMN_OF_TEXTS,
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.text import drift, load_model
    from hardmax.text.overview import read_frame

    old, new = read_frame(args.OLD), read_frame(args.NEW)
    found = drift(load_model(args.model), old, new, text=args.text)
    print_frames(found, as_json=args.json)
