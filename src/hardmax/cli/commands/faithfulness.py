"""`hardmax faithfulness`: whether the words that are said to matter do, beside what others say."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import InputError, require_extra
from hardmax.cli.corpus import (
    ColumnOptions,
    CorpusFile,
    MarkedColumns,
    OnBadRows,
    Renamed,
    check_corpus,
    read_names,
    read_texts_with_labels,
)
from hardmax.cli.options import AsJson, grouped
from hardmax.cli.output import narrate, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from hardmax.text.corpora import Corpus
    from hardmax.text.faithfulness.attributions import Attribution
    from hardmax.text.faithfulness.measuring import Faithfulness

PEERS = ("lime", "shap", "tfidf")
_SHORT = {
    "comprehensiveness": "comp",
    "sufficiency": "suff",
    "comprehensiveness_at": "comp, counting",
    "sufficiency_at": "suff, counting",
    "flips": "flips",
    "aopc": "AOPC",
    "aopc_between_bounds": "AOPC, 0 to 1",
    "kendall": "tau",
    "precision_at_1": "P@1",
    "precision_at_2": "P@2",
    "precision_at_k": "P@k",
    "auprc": "AUPRC",
}


@grouped
def faithfulness_command(
    model: Annotated[str, typer.Argument(help="The folder of a model, or the name of one that ships.")],
    file: CorpusFile,
    *,
    columns: MarkedColumns,
    on_bad_rows: OnBadRows = "skip",
    peers: Annotated[
        str, typer.Option(help="Others to set beside ours: some of lime, shap, tfidf, joined by commas.")
    ] = "",
    train: Annotated[
        str | None, typer.Option(help="Texts with labels, as FILE has them, from which tfidf learns its weights.")
    ] = None,
    rename: Renamed = None,
    attributions: Annotated[
        str | None,
        typer.Option(help='Scores made elsewhere, as JSON lines: {"row": 0, "scores": {"awful": 1.5}}.'),
    ] = None,
    sample: Annotated[int, typer.Option(help="How many texts, the first of the file; each takes a while.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Measure whether the words that are said to matter do.

    Asks the model itself about texts without the words that come first, and of them alone (comprehensiveness and
    sufficiency, over 1, 5, 10, 20 and 50 % of the words, and for exactly as many as count), how far its answer falls
    as words go one by one (AOPC, also between the bounds that the model has), how often it changes, and how the order
    agrees with leaving out one word at a time; with --spans also with what people marked. For ours, the peers, leaving
    one out, and chance.
    """
    asked = [name for name in peers.split(",") if name]
    names = {} if rename is None else read_names(rename)
    check_asked(asked, train, attributions, sample)
    check_corpus(file)
    if train is not None:
        check_corpus(train)

    from hardmax.text.faithfulness.measuring import measure_faithfulness
    from hardmax.text.faithfulness.outside import read_attributions
    from hardmax.text.shipped import load

    loaded = load(model)
    corpus = read_texts_with_labels(file, columns, on_bad_rows)
    texts, spans = corpus.texts[:sample], None if corpus.spans is None else corpus.spans[:sample]
    plain = ColumnOptions(columns.text, columns.label)
    learned = None if train is None else read_texts_with_labels(train, plain, on_bad_rows)
    others = make_peers(asked, learned, names)
    if attributions is not None:
        others["from the file"] = read_attributions(attributions, texts)
    with progress_bar("measuring") as progress:
        found = measure_faithfulness(loaded, texts, others, spans=spans, progress=progress)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)


def check_asked(asked: list[str], train: str | None, attributions: str | None, sample: int) -> None:
    """Refuses before the work what could not be done."""
    unknown = [name for name in asked if name not in PEERS]
    if unknown:
        raise InputError(f"`--peers` has {unknown[0]!r:.40}: expected some of {', '.join(PEERS)}.")
    if ("tfidf" in asked) != (train is not None):
        raise InputError("`--train` names the texts from which the peer tfidf learns: give both, or neither.")
    if sample < 1:
        raise InputError(f"`--sample` must be a whole number from 1 up, not {sample}.")
    if attributions is not None and not Path(attributions).is_file():
        raise InputError(f"`--attributions` {attributions!r:.60} is no file.")
    for name, module in (("lime", "lime"), ("shap", "shap"), ("tfidf", "sklearn")):
        if name in asked:
            require_extra(f"`--peers {name}`", "faithfulness", module)


def make_peers(asked: list[str], learned: "Corpus | None", names: dict[str, str]) -> "dict[str, Attribution]":
    """The peers by the names that people know them by; `learned` is what TF-IDF learns, its labels called otherwise."""
    from hardmax.text.faithfulness.peers import by_lime, by_shap, by_tfidf

    found: dict[str, Attribution] = {}
    if "lime" in asked:
        found["LIME"] = by_lime()
    if "shap" in asked:
        found["SHAP (Partition)"] = by_shap()
    if learned is not None:
        labels = [names.get(str(label), label) for label in learned.labels]
        found["TF-IDF weights"] = by_tfidf(learned.texts, labels)
    return found


def show(found: "Faithfulness") -> None:
    """A row for each attribution; what such numbers do not tell is said, too."""
    names = [name for name in _SHORT if any(name in row.measures for row in found.rows)]
    rows = [
        [row.attribution, *(_cell(row.measures.get(name)) for name in names), f"{1e3 * row.seconds:,.2f}"]
        for row in found.rows
    ]
    head = ["attribution", *(_SHORT[name] for name in names), "ms"]
    print_table(head, rows, right=head[1:])
    narrate(f"{found.texts:,} texts, {found.words_that_count:.1f} words that count; comp: more is better, suff: less.")
    for limit in found.limits:
        narrate(limit)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
