"""Files of planted texts."""

import csv
from pathlib import Path

from hardmax.text import Corpus, plant

TRAIN = plant(80, words=6, length=8, disturbed=0.1, seed=1)
TEST = plant(40, words=6, length=8, disturbed=0.1, seed=2)


def write_csv(path: Path, corpus: Corpus = TRAIN, header: tuple[str, str] = ("review", "sentiment")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *zip(corpus.texts, corpus.labels, strict=True)])
    return path
