"""Files of planted texts, and a recipe that learns them in a moment."""

import csv
import json
from pathlib import Path

from hardmax.text.data.planted import Planted, plant

QUICK = {
    "layers": 4,
    "max_words": 100,
    "max_phrases": 0,
    "longest_phrase": 1,
    "max_tokens": 12,
    "thrift": 0,
    "epochs": 4,
    "bag_of_words_epochs": 1,
    "alpha_warmup_epochs": 1,
    "batch_size": 16,
    "learning_rate": 0.1,
    "validation_fraction": 0.25,
}
TRAIN = plant(80, words=6, length=8, disturbed=0.1, seed=1)
TEST = plant(40, words=6, length=8, disturbed=0.1, seed=2)


def write_csv(path: Path, corpus: Planted = TRAIN, header: tuple[str, str] = ("review", "sentiment")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *zip(corpus.texts, corpus.labels, strict=True)])
    return path


def write_recipe(path: Path, **changes) -> Path:
    path.write_text(json.dumps(QUICK | changes))
    return path
