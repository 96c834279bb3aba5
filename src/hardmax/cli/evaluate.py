"""`hardmax evaluate`: measure a model on labelled texts."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_facts, print_json, print_table

SHOWN_LEADERS = 30


def evaluate_command(
    model: opt.ModelName,
    file: opt.CorpusFile,
    text: opt.TextColumn = None,
    label: opt.LabelColumn = None,
    encoding: opt.Encoding = None,
    on_bad_rows: opt.OnBadRows = "skip",
    picture: opt.Picture = None,
    card: opt.Card = None,
    rename: Annotated[
        str | None, Option("--map", help="Classes of the labels: 1=positive,0=negative.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Evaluate a model on labelled texts.

    Prints accuracy, calibration and the most frequent leaders. --picture plots the calibration.
    """
    opt.check_target(picture, "--picture", *opt.PICTURES)
    opt.check_target(card, "--card", ".html", ".htm")
    names = {} if rename is None else _read_names(rename)
    corpus = opt.read_corpus(file, on_bad_rows, text=text, label=label, encoding=encoding)

    # Only now: scipy takes most of a second to import.
    from hardmax.text.evaluation import calibration_curve, evaluate_model
    from hardmax.text.shipped import load_model

    loaded = load_model(model)
    labels = [names.get(str(label), label) for label in corpus.labels]
    evaluation = evaluate_model(loaded, corpus.texts, labels)
    if picture is not None:
        from hardmax.figures.charts import reliability_figure

        curve = calibration_curve(evaluation.truth, evaluation.probabilities)
        opt.write_picture(picture, reliability_figure(curve))
    if card is not None:
        from hardmax.text.documents import card_page

        opt.write_text(card, card_page(loaded, Path(model).name, corpus.texts, evaluation))
    document = {
        "model": opt.describe(loaded),
        "classes": list(loaded.classes),
        **evaluation.metrics,
        "leaders": [asdict(leader) for leader in evaluation.leaders[:SHOWN_LEADERS]],
    }
    if as_json:
        print_json(document)
    else:
        _show(repr(loaded), document)


def _read_names(text: str) -> dict[str, str]:
    """The class for each label.

    >>> _read_names("1=positive, 0=negative")
    {'1': 'positive', '0': 'negative'}
    """
    pairs = [[name.strip() for name in part.split("=", 1)] for part in text.split(",")]
    are_pairs = all(len(pair) == 2 and all(pair) for pair in pairs)
    if not are_pairs or len({pair[0] for pair in pairs}) < len(pairs):
        raise InputError(
            "`--map` must be pairs such as 1=positive,0=negative, each label once, "
            f"not {text!r:.60}."
        )
    return dict(pairs)


def _show(model: str, document: dict[str, Any]) -> None:
    """Every number, the confusion matrix and the most frequent leaders."""
    numbers = {name: value for name, value in document.items() if isinstance(value, int | float)}
    print_facts({"model": model} | numbers)
    names, leaders = document["classes"], document["leaders"]
    rows = zip(names, document["confusion"], document["f1"], strict=True)
    table = ([name, *row, f1] for name, row, f1 in rows)
    print_table(["true \\ predicted", *names, "F1"], table)
    header = list(leaders[0]) if leaders else ["no leaders"]
    print_table(header, (list(leader.values()) for leader in leaders))
