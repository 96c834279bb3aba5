"""Planted texts in a file, and a model that knows their words."""

import csv
from pathlib import Path

import numpy as np

from hardmax.text import Corpus, Modifier, make_synthetic_corpus
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

CLASSES = ("negative", "positive")
TRAIN = make_synthetic_corpus(80, words=6, length=8, disturbed=0.1, seed=1)
TEST = make_synthetic_corpus(40, words=6, length=8, disturbed=0.1, seed=2)


def write_csv(
    path: Path, corpus: Corpus = TRAIN, header: tuple[str, str] = ("review", "sentiment")
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *zip(corpus.texts, corpus.labels, strict=True)])
    return path


def make_model(classes: tuple = CLASSES) -> TextModel:
    """A model that knows the planted words, and some others badly."""
    rng = np.random.default_rng(0)
    side = {
        word: sign
        for sign, label in zip((-1, 1), CLASSES, strict=True)
        for word in TEST.words[label]
    }
    words = [*side, "film", "plot", "a"]
    weights = np.concatenate([[3.0 * sign for sign in side.values()], 0.3 * rng.normal(size=3)])
    return TextModel(
        vocabulary=Vocabulary(words, np.ones((len(words), 2))),
        weights=weights[:, None],
        bias=np.array([0.1]),
        classes=classes,
        modifiers=(Modifier("not", -0.5),),
    )
