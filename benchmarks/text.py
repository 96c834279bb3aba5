"""From raw texts to probabilities and leaders, beside TF-IDF with logistic regression.

Run: pip install -c constraints.txt scikit-learn '.[tables]' && python benchmarks/text.py FOLDER, where FOLDER holds
train.parquet and test.parquet of IMDb with the columns text and label.
"""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from harness import compare, record
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hardmax.text.building import build_vocabulary
from hardmax.text.encoding import encode
from hardmax.text.model import TextModel
from hardmax.text.tokeniser import Tokeniser

TEXTS, PEER = 10_000, "TF-IDF (1, 2) + LogisticRegression"


def untrained(table, dimension: int) -> TextModel:
    """A model of the size that ships: every word along its log-odds, with noise, as training finds them roughly."""
    known = build_vocabulary(table["text"], table["label"].to_numpy(), Tokeniser())
    rng = np.random.default_rng(0)
    vectors = rng.normal(scale=0.1, size=(len(known), dimension))
    vectors[:, 0] += np.log((known.counts[:, 1] + 1) / (known.counts[:, 0] + 1))
    return TextModel(
        vocabulary=known, embeddings=vectors, decoder=np.eye(1, dimension), bias=np.zeros(1), classes=(0, 1), layers=8
    )


def main(folder: Path) -> None:
    train, test = (parquet.read_table(folder / f"{split}.parquet") for split in ("train", "test"))
    column = test["text"][:TEXTS].combine_chunks()
    texts = column.to_pylist()
    peer = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=30))
    peer.fit(train["text"].to_pylist(), train["label"].to_numpy())
    plane, deep = untrained(train, 2), untrained(train, 16)
    timings = compare(
        f"{TEXTS:,} reviews: raw text to probabilities",
        PEER,
        {
            PEER: lambda: peer.predict_proba(texts),
            "hardmax, d 2, K 8, list of str": lambda: plane.predict_proba(texts),
            "hardmax, d 2, K 8, Arrow": lambda: plane.predict_proba(column),
            "hardmax, d 16, K 8, Arrow": lambda: deep.predict_proba(column),
            "hardmax, words and pairs alone": lambda: encode(column, plane.vocabulary, plane.tokeniser),
        },
        rounds=5,
    )
    timings += compare(
        "25,000 reviews: vocabulary with pairs",
        "TfidfVectorizer(1, 2).fit",
        {
            "TfidfVectorizer(1, 2).fit": lambda: TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit(
                train["text"].to_pylist()
            ),
            "hardmax build_vocabulary": lambda: build_vocabulary(train["text"], train["label"].to_numpy(), Tokeniser()),
        },
        rounds=1,
    )
    for timing in timings[:-2]:
        print(f"{timing.contestant:40} {TEXTS / timing.seconds:10,.0f} reviews/s")
    found = plane.analyse(column)
    print(f"leaders a review {found.leaders_per_text.mean():.2f}, decided by integers {found.by_integers}")
    record("text", timings)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
