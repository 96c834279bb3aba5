"""The shipped models: trained on IMDb, and measured once on its test split and on sentences of
another corpus.

    python benchmarks/imdb.py train TRAIN.parquet TRAINED
    python benchmarks/imdb.py measure TRAIN.parquet TEST.parquet MR.parquet ERASER-MOVIES.parquet
        TRAINED SHIPPED

Within a class the ids of IMDb follow films: ten neighbours are a group, which is held out together,
and in which a token counts once. Names (words that are mostly capitalised within sentences) and
function words alone are no tokens, nor, in `imdb`, are numbers: "7 10" is a star rating, with which
a text says its own label. All choices were made on blocks of 250 consecutive ids held out of the
training split; seeds choose the sentences that count beside their texts. Beside the models stands
the peer, naive-Bayes-weighted logistic regression on the same tokens, pruned by weight and
refitted."""

# pyright: reportMissingImports=false
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from harness import add_rows
from scipy.sparse import csr_array, diags_array
from sentences import excluded, with_sentences
from sentiment import KEPT, USES, describe_source, part_of, word_changes
from sklearn.linear_model import LogisticRegression
from units import Units

from hardmax.text.encoding import encode
from hardmax.text.evaluation import Evaluation, evaluate_model, summarize
from hardmax.text.shipped import load_model
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import JOINT, cut_surface
from hardmax.train import Settings, fit

PURPOSES = {
    "imdb": "Film reviews in English: is it praise or blame? With few active tokens, so that the "
    "explanation is short.",
    "imdb-best": "Film reviews in English: is it praise or blame? As accurate as possible, with many "
    "active tokens.",
}
COMMON: dict[str, Any] = {
    "ngram_range": (1, 3),
    "min_df": 8,
    "max_features": 40_000,
    "fit_intercept": False,
}
COMMON |= {
    "consistent": True,
    "scaling": "evidence",
    "C": 0.1,
    "stop_words": "english",
}
MODELS = {
    "imdb": Settings(**COMMON, overlapping=False, gate=0.18, alpha="1/4"),
    "imdb-best": Settings(**COMMON, overlapping=True, gate=0.02, alpha="0"),
}
SEEDS = (0, 1, 2)
CLASSES = np.array(["negative", "positive"])
COLUMNS = ("model", "seed", "seconds", "tokens", "accuracy", "log_loss", "calibration_error")
COLUMNS += ("peer_accuracy", "undecided", "leaders_per_text", "first_12_words_log_loss")
COLUMNS += ("mr_accuracy", "mr_log_loss", "mr_undecided")
COLUMNS += ("sentences_right", "leaders_alone", "active_alone", "without_active")
COLUMNS += ("eraser_first", "eraser_first_two", "leaders")


def read(path: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, labels and groups, in the order of ids within each class."""
    table = parquet.read_table(path).sort_by([("label", "ascending"), ("id", "ascending")])
    labels = table["label"].to_numpy().astype(np.int64)
    rank = np.concatenate([np.arange((labels == label).sum()) for label in (0, 1)])
    return table["text"].to_pylist(), labels, rank // 10 + labels * len(labels)


def train(train_file: str, folder: str) -> None:
    texts, labels, groups = read(train_file)
    names, numbers = excluded(texts)
    for seed, (name, settings) in product(SEEDS, MODELS.items()):
        began = time.process_time()
        exclude = tuple(sorted(names | numbers if name == "imdb" else names))
        every, truth, how = with_sentences(texts, labels, np.ones(len(texts)), groups, seed)
        settings = replace(settings, exclude=exclude, random_state=seed)
        model = fit(every, CLASSES[truth], settings, **how, progress=print)
        seconds = time.process_time() - began
        replace(model, metrics=model.metrics | {"seconds": seconds}).save(
            Path(folder) / str(seed) / name
        )
        print(f"{name}: {seconds:.0f} s of processor time", flush=True)


def log_loss(probabilities: np.ndarray, labels: np.ndarray) -> float:
    return float(-np.log(np.maximum(1e-15, probabilities[np.arange(len(labels)), labels])).mean())


def peer_accuracy(
    model: TextModel, train_file: str, texts: list[str], labels: np.ndarray, tokens: float
) -> float:
    """The peer with as many tokens per test text, or all of them."""
    known, truth, _ = read(train_file)
    tables = []
    for part in (known, texts):
        found = encode(part, model.vocabulary, model.tokeniser)
        shape = len(part), len(model.vocabulary)
        tables.append(csr_array((np.ones(len(found.ids)), found.ids, found.offsets), shape=shape))
    first, second = tables
    counts = np.stack(
        [np.asarray(first[truth == label].sum(axis=0)).ravel() + 1.0 for label in (0, 1)]
    )
    ratio = np.log(counts[1] / counts[1].sum() * counts[0].sum() / counts[0])
    every = LogisticRegression(C=0.1, max_iter=1000).fit(first @ diags_array(ratio), truth)
    order = np.argsort(-np.abs(every.coef_[0] * ratio), kind="stable")
    frequency = np.asarray(first.sum(axis=0)).ravel()[order].cumsum() / len(known)
    kept = np.sort(order[: max(1, int(np.searchsorted(frequency, tokens)))])
    scaled = diags_array(ratio[kept])
    pruned = LogisticRegression(C=0.1, max_iter=1000).fit(first[:, kept] @ scaled, truth)
    return float((pruned.predict(second[:, kept] @ scaled) == labels).mean())


def read_eraser(path: str) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """Texts, and what people marked, by characters; of the part that is there to choose by."""
    texts, spans = [], []
    for each in parquet.read_table(path).to_pylist():
        if each["split"] == "val":
            starts = np.concatenate(
                [[0], np.cumsum([len(word) + 1 for word in each["words"]])]
            ).tolist()
            texts.append(" ".join(each["words"]))
            spans.append([(starts[first], starts[last] - 1) for first, last in each["spans"]])
    return texts, spans


def measure_inside(
    model: TextModel, texts: list[str], spans: list[list[tuple[int, int]]]
) -> tuple[float, float]:
    """How often the strongest token of the predicted class, and the two strongest, touch what
    people marked."""
    hits = []
    for text, marked in zip(texts, spans, strict=True):
        why = model.explain(text)
        side = 1 if why.label == model.classes[1] else -1
        strongest = sorted(
            (entry for entry in why.active if side * entry.vote > 0),
            key=lambda each: -abs(each.vote),
        )
        hits.append([_touch(entry.spans, marked) for entry in strongest[:2]])
    return float(np.mean([own[0] for own in hits if own])), float(
        np.mean([hit for own in hits for hit in own])
    )


def _touch(places: Sequence[tuple[int, int]], marked: list[tuple[int, int]]) -> bool:
    return any(start < end and first < last for first, end in places for start, last in marked)


def erase(model: TextModel, texts: list[str]) -> dict[str, float]:
    """How often the answer stays the same from the leaders alone, from the active tokens alone, and
    without the words of these; "undecided" is an answer of its own."""
    parts = []
    for why, units in ((model.explain(text), Units.of(text)) for text in texts):
        words = {word for entry in why.active for word in cut_surface(entry.word)}
        alone = [
            [entry.word for entry in some for _ in entry.spans]
            for some in (why.leaders, why.active)
        ]
        without = units.without(n for n, word in enumerate(units.words) if word in words)
        parts.append([units.text, *map(JOINT.join, alone), without])
    columns = [list(few) for few in zip(*parts, strict=True)]
    before, *after = (
        np.where(model.analyse(few).decided, model.predict(few), "") for few in columns
    )
    names = ("leaders_alone", "active_alone", "without_active")
    return {name: float((before == now).mean()) for name, now in zip(names, after, strict=True)}


def read_sentences(model: TextModel) -> str:
    """How many of the plain sentences are read rightly; mixed ones, if they are not more than four
    fifths sure."""
    import csv

    with Path(__file__).with_name("sentences.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = [row["text"] for row in rows]
    answers = np.where(model.analyse(texts).decided, model.predict(texts), "undecided")
    sure = model.predict_proba(texts).max(axis=1)
    right = [
        answer == row["label"] or (row["label"] == "mixed" and p < 0.8)
        for row, answer, p in zip(rows, answers, sure, strict=True)
    ]
    for row, answer, p, is_right in zip(rows, answers, sure, right, strict=True):
        if not is_right:
            print(f"  {row['text']} ({row['label']}): {answer} {p:.2f}")
    return f"{sum(right)} of {len(right)}"


def about(
    name: str, model: TextModel, found: Evaluation, sentences: dict[str, Any], row: dict[str, Any]
) -> dict[str, Any]:
    """What the card of a model says: what for, trained on what, how good."""
    on = "the 25,000 test reviews of IMDb, once"
    reviews = summarize(on, found.truth, found.predicted, found.probabilities)
    return {
        "purpose": PURPOSES[name],
        "uses": USES,
        "evaluations": [reviews, sentences],
        "accuracy": row["accuracy"],
        "active tokens per review": row["tokens"],
        "same label from the leaders alone": row["leaders_alone"],
        "most frequent leaders": row["leaders"],
        "words_for_groups": word_changes(model),
    }


def summarize_sentences(probabilities: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    on = "single sentences about films (MR)"
    return summarize(on, truth, probabilities.argmax(axis=1), probabilities)


def measure(
    train_file: str, test_file: str, mr_file: str, eraser: str, trained: str, shipped: str
) -> None:
    texts, labels, _ = read(test_file)
    mr = parquet.read_table(mr_file)
    sentences, truth = mr["text"].to_pylist(), mr["label"].to_numpy().astype(np.int64)
    marked, spans = read_eraser(eraser)
    own_texts, own_labels, _ = read(train_file)
    what = "IMDb, training reviews (Maas et al., ACL 2011)"
    reviews = part_of(own_texts, own_labels)
    source = describe_source(what, "unknown", Path(train_file), reviews)
    rows = []
    for seed, name in product(SEEDS, MODELS):
        model = load_model(Path(trained) / str(seed) / name)
        found = evaluate_model(model, texts, CLASSES[labels].tolist())
        active = float(model.analyse(texts).active_per_text.mean())
        cut = [" ".join(text.split()[:12]) for text in texts[::5]]
        first, first_two = measure_inside(model, marked, spans)
        probabilities = model.predict_proba(sentences)
        row = {
            "model": name,
            "seed": seed,
            "seconds": model.metrics["seconds"],
            "tokens": active,
            "accuracy": found.metrics["accuracy"],
            "log_loss": found.metrics["log_loss"],
            "calibration_error": found.metrics["calibration_error"],
            "peer_accuracy": peer_accuracy(model, train_file, texts, labels, active),
            "undecided": float((~model.analyse(texts).decided).mean()),
            "leaders_per_text": found.metrics["leaders_per_text"],
            "first_12_words_log_loss": log_loss(model.predict_proba(cut), labels[::5]),
            "mr_accuracy": float((model.predict(sentences) == CLASSES[truth]).mean()),
            "mr_log_loss": log_loss(probabilities, truth),
            "mr_undecided": float((~model.analyse(sentences).decided).mean()),
            "sentences_right": read_sentences(model),
            **erase(model, texts[::10]),
            "eraser_first": first,
            "eraser_first_two": first_two,
            "leaders": ", ".join(leader.word for leader in found.leaders[:30]),
        }
        rows.append(
            {
                key: round(value, 4) if isinstance(value, float) else value
                for key, value in row.items()
            }
        )
        print(rows[-1], flush=True)
        measured = about(name, model, found, summarize_sentences(probabilities, truth), row)
        if seed:
            continue
        kept = {key: model.metrics[key] for key in KEPT}
        replace(model, metrics=measured | kept | {"sources": [source]}).save(Path(shipped) / name)
    add_rows("imdb", COLUMNS, [[row[name] for name in COLUMNS] for row in rows])


if __name__ == "__main__":
    {"train": train, "measure": measure}[sys.argv[1]](*sys.argv[2:])
