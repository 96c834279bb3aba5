"""The fewest words that change an answer: how many, how sure, how long it takes, and that every
flip is one.

python benchmarks/flips.py TEST.parquet [REVIEWS]

Reviews (500) are spread evenly over the file; the row goes to results/flips.csv. Of texts cut to
their first eight words, what is told to be smallest is held against all sets of words."""

import sys
import time
from itertools import combinations

import numpy as np
from harness import add_rows
from imdb import read
from units import Units

from hardmax.text.shipped import load_model
from hardmax.text.text_model import TextModel

COLUMNS = ("model", "reviews", "found", "verified", "median_words", "mean_words", "most_words")
COLUMNS += (
    "shown_smallest",
    "median_seconds",
    "mean_seconds",
    "short_texts",
    "short_texts_as_by_brute_force",
)
SHORT = 8  # words


def labels_of(model: TextModel, texts: list[str]) -> np.ndarray:
    """Labels; of an undecided text none, as `flip` sees it, and not the one `predict` falls back to."""
    labels = model.predict(texts).astype(object)
    labels[~model.analyse(texts).decided] = None
    return labels


def by_brute_force(model: TextModel, text: str) -> int:
    """How many words it takes, trying all sets of them; 0 if none does."""
    units = Units.of(text)
    label = labels_of(model, [text])[0]
    if label is None:
        return 0
    for size in range(1, len(units) + 1):
        changed = [units.without(which) for which in combinations(range(len(units)), size)]
        if not set(labels_of(model, changed)) <= {label, None}:
            return size
    return 0


def main(test: str, reviews: str = "500") -> None:
    texts, *_ = read(test)
    model = load_model("imdb")
    chosen = [texts[row] for row in np.linspace(0, len(texts) - 1, int(reviews)).astype(int)]
    model.flip(chosen[0])
    flips, seconds = [], []
    for text in chosen:
        began = time.perf_counter()
        flips.append(model.flip(text))
        seconds.append(time.perf_counter() - began)
    found = [flip for flip in flips if flip.found]
    verified = sum(model.predict([flip.text])[0] == flip.after != flip.before for flip in found)
    sizes = [len(flip.changes) for flip in found]
    short = [" ".join(text.split()[:SHORT]) for text in chosen]
    of_short = [model.flip(text) for text in short]
    fewest = [len(flip.changes) if flip.found else 0 for flip in of_short]
    by_force = [by_brute_force(model, text) for text in short]
    same = sum(one == other for one, other in zip(fewest, by_force, strict=True))
    row = [
        "imdb",
        len(flips),
        len(found),
        verified,
        np.median(sizes),
        f"{np.mean(sizes):.2f}",
        max(sizes),
    ]
    row += [
        sum(flip.proved_smallest for flip in flips),
        f"{np.median(seconds):.3f}",
        f"{np.mean(seconds):.3f}",
    ]
    row += [len(short), same]
    print(dict(zip(COLUMNS, row, strict=True)))
    add_rows("flips", COLUMNS, [row])


if __name__ == "__main__":
    main(*sys.argv[1:])
