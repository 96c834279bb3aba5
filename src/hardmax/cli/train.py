"""Train a classifier on labelled texts.

Takes seconds for thousands of texts. Settings that are not given are chosen by cross-validation;
`hardmax.sklearn` has more of them. Writes a folder with a model card, which `hardmax evaluate` and
`hardmax explain` can read.

The files of a folder are read in the order of their names, part-10 before part-2; the order decides
which texts are held out together. Anything else in the folder is named on stderr."""

from argparse import Namespace
from pathlib import Path

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json

OPTIONS = {
    **opt.TEXTS,
    "-o --output": opt.value("FOLDER", "Folder to write the model to.", required=True),
    "--C": opt.number("Inverse of the regularisation strength.", float),
    "--gate": opt.number("A token is active above this share of the largest vote.", float),
    "--vectors": opt.value("NAME", "Word vectors: auto, english, none, or a file.", default="auto"),
    "--force": opt.flag("Overwrite a model."),
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax.train import Settings

    vectors = None if args.vectors == "none" else args.vectors
    settings = Settings(C=args.C, gate=args.gate, vectors=vectors)
    folder = Path(args.output)
    if not args.force and (folder.is_file() or (folder.is_dir() and any(folder.iterdir()))):
        raise InputError(f"`{folder}` exists: name another folder, or replace it with `--force`.")
    from hardmax.text.corpora import read_corpus

    corpus = read_corpus(args.FILE, **opt.texts_of(args))
    if corpus.bad:
        notify(corpus.describe_bad())
    from hardmax.train import fit  # scipy is not needed to refuse a file

    model = fit(corpus.texts, corpus.labels, settings, progress=notify, source=corpus.source)
    model.save(folder)
    notify(f"wrote {folder}")
    if args.json:
        print_json({"output": args.output} | opt.describe(model) | model.metrics)
        return
    from hardmax.text.card import MEASURES, evaluation_row

    chosen = ("C", "gate", "alpha", "neutral_weight", "vectors")
    [measured] = model.metrics["evaluations"]
    facts = {"model": repr(model)} | dict(zip(MEASURES, evaluation_row(measured), strict=True))
    print_facts(model.metrics["settings"] | facts, "model", *chosen, *MEASURES)
