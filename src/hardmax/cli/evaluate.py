"""Evaluate a model on labelled texts.

Prints accuracy, calibration and the most frequent leaders."""

from argparse import Namespace
from dataclasses import asdict
from typing import Any

from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table

SHOWN_LEADERS = 30


OPTIONS = {
    "MODEL": {"help": "Name of a shipped model, or a model folder."},
    **opt.TEXTS,
    **opt.MAP,
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    classes = opt.read_map(args)
    from hardmax.text.corpora import read_corpus

    corpus = read_corpus(args.FILE, **opt.texts_of(args))
    if corpus.bad:
        notify(corpus.describe_bad())

    # Only now: scipy takes most of a second to import.
    from hardmax.text.evaluation import evaluate_model
    from hardmax.text.shipped import load_model

    model = load_model(args.MODEL)
    labels = [classes.get(str(label), label) for label in corpus.labels]
    evaluation = evaluate_model(model, corpus.texts, labels)
    document: dict[str, Any] = model._made_by | opt.describe(model) | evaluation.metrics
    document["leaders"] = [asdict(leader) for leader in evaluation.leaders[:SHOWN_LEADERS]]
    if args.json:
        print_json(document)
        return
    numbers = {name: value for name, value in document.items() if isinstance(value, int | float)}
    print_facts({"model": repr(model)} | numbers)
    rows = zip(model.classes, document["confusion"], document["f1"], strict=True)
    table = ([name, *row, f1] for name, row, f1 in rows)
    print_table(["true \\ predicted", *model.classes, "F1"], table)
    leaders = document["leaders"] or [{"no leaders": ""}]
    print_table(list(leaders[0]), (list(leader.values()) for leader in leaders))
