"""Other classifiers whose parts can be read, on IMDb: accuracy and the tokens that it takes.

python benchmarks/peers.py TRAIN.parquet TEST.parquet

Peers read words and pairs of words that at least eight reviews have. L1-penalised logistic
regression is fitted at three strengths, an explainable boosting machine (interpret) on the 300
tokens that tell the classes apart best, and fastText with pairs of words as in its own example for
sentiment. A token is active if it is in the review and has a weight; for fastText and TF-IDF that
is every word. Times are of the processor, from texts to a model. The shipped models are measured by
`imdb.py`."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from harness import add_rows
from imdb import read
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hardmax.text.evaluation import evaluate

COLUMNS = ("method", "tokens", "accuracy", "log_loss", "calibration_error", "seconds")
Result = tuple[
    str, float, np.ndarray
]  # name, active tokens per test text, probability of the second class
WORDS: dict[str, Any] = {"ngram_range": (1, 2), "min_df": 8, "binary": True}


def penalised(texts: list[str], labels: np.ndarray, unseen: list[str]) -> Iterator[Result]:
    for strength in (0.02, 0.05, 0.2):
        words = CountVectorizer(**WORDS)
        model = LogisticRegression(C=strength, l1_ratio=1, solver="liblinear").fit(
            words.fit_transform(texts), labels
        )
        table = words.transform(unseen)
        tokens = (table @ (model.coef_[0] != 0)).mean()
        yield f"L1 logistic regression, C {strength:g}", tokens, model.predict_proba(table)[:, 1]


def boosted(texts: list[str], labels: np.ndarray, unseen: list[str]) -> Iterator[Result]:
    from interpret.glassbox import ExplainableBoostingClassifier

    words = make_pipeline(CountVectorizer(**WORDS), SelectKBest(chi2, k=300))
    known = words.fit_transform(texts, labels).toarray()
    model = ExplainableBoostingClassifier(
        interactions=0, outer_bags=4, n_jobs=1, random_state=0
    ).fit(known, labels)
    table = words.transform(unseen).toarray()
    yield (
        "explainable boosting machine, 300 tokens",
        table.sum(axis=1).mean(),
        model.predict_proba(table)[:, 1],
    )


def fast_text(texts: list[str], labels: np.ndarray, unseen: list[str]) -> Iterator[Result]:
    import fasttext

    plain = TfidfVectorizer().build_analyzer()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            f"__label__{label} {' '.join(plain(text))}"
            for text, label in zip(texts, labels, strict=True)
        ]
        Path(folder, "texts").write_text("\n".join(np.random.default_rng(0).permutation(rows)))
        model = fasttext.train_supervised(
            str(Path(folder, "texts")),
            lr=0.5,
            epoch=5,
            wordNgrams=2,
            dim=50,
            thread=1,
            verbose=0,
            seed=0,
        )
    words = [plain(text) for text in unseen]
    chances = [dict(zip(*model.predict(" ".join(each), k=2), strict=True)) for each in words]
    size = float(np.mean([len(set(each)) for each in words]))
    yield "fastText", size, np.array([min(each["__label__1"], 1.0) for each in chances])


def tf_idf(texts: list[str], labels: np.ndarray, unseen: list[str]) -> Iterator[Result]:
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=8, sublinear_tf=True)
    model = LogisticRegression(C=10, max_iter=1000).fit(words.fit_transform(texts), labels)
    table: Any = words.transform(unseen)
    yield (
        "TF-IDF and logistic regression",
        table.getnnz(axis=1).mean(),
        model.predict_proba(table)[:, 1],
    )


def main(train_file: str, test_file: str) -> None:
    (texts, labels, _), (unseen, truth, _) = read(train_file), read(test_file)
    methods: list[tuple[Callable[..., Iterator[Result]], str]] = [
        (penalised, "sklearn"),
        (boosted, "interpret"),
        (fast_text, "fasttext"),
        (tf_idf, "sklearn"),
    ]
    rows = []
    for method, package in methods:
        if find_spec(package) is None:
            print(f"{package} is not installed: left out")
            continue
        began = time.process_time()
        for name, tokens, chances in method(texts, labels, unseen):
            seconds = time.process_time() - began
            found = evaluate(truth, np.stack([1 - chances, chances], axis=1))
            measured = (
                round(found[key], 4) for key in ("accuracy", "log_loss", "calibration_error")
            )
            rows.append((name, round(tokens, 1), *measured, round(seconds, 1)))
            print(*rows[-1], flush=True)
            began = time.process_time()
    add_rows("peers", COLUMNS, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
