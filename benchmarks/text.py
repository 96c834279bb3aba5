"""From raw texts to labels, leaders and probabilities by the models that ship, beside TF-IDF and
logistic regression.

Run: pip install -c constraints.txt ".[tables]" --group bench && python benchmarks/text.py
TRAIN.parquet, IMDb for training, with the columns text and label."""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false

import sys
from pathlib import Path

import pyarrow.parquet as parquet
from harness import compare, record
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hardmax.text._texts import read_texts
from hardmax.text.encoding import encode
from hardmax.text.shipped import load_model
from hardmax.text.vocabulary import choose_tokens

TEXTS, PEER = 10_000, "TF-IDF (1, 2) + LogisticRegression"


def main(path: Path) -> None:
    train = parquet.read_table(path)
    column = train["text"][:TEXTS].combine_chunks()
    texts = column.to_pylist()
    peer = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=30)
    )
    peer.fit(train["text"].to_pylist(), train["label"].to_numpy())
    default, films, best = (load_model(name) for name in ("sentiment-en", "imdb", "imdb-best"))
    cut = default.vocabulary, default.tokeniser
    timings = compare(
        f"{TEXTS:,} reviews: raw text to labels, leaders and probabilities",
        PEER,
        {
            PEER: lambda: peer.predict_proba(texts),
            "hardmax, sentiment-en, list of str": lambda: default.analyse(texts),
            "hardmax, sentiment-en, Arrow": lambda: default.analyse(column),
            "hardmax, imdb, Arrow": lambda: films.analyse(column),
            "hardmax, imdb-best, Arrow": lambda: best.analyse(column),
            "hardmax, words and phrases alone": lambda: encode(column, *cut),
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
            "hardmax, the tokens to train on": lambda: choose_tokens(
                read_texts(train["text"]),
                2,
                words=10_000,
                phrases=30_000,
                min_df=2,
            ),
        },
        rounds=1,
    )
    for timing in timings[:-2]:
        print(f"{timing.contestant:40} {TEXTS / timing.seconds:10,.0f} reviews/s")
    record("text", timings)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
