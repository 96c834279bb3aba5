"""Explanations one by one: how long one takes, and that the votes add up to the logit.

python benchmarks/explain.py TEST.parquet [REVIEWS]

Reviews (2,000) are spread evenly over the file; one thread; the row goes to results/explain.csv. A
gap is what is between the logit and the sum of the bias and the votes, as a share of the logit; the
largest of all reviews is told."""

import math
import sys
import time

import numpy as np
from harness import add_rows
from imdb import read

from hardmax._kernels.parallel import limit_threads
from hardmax.text.explain import Explanation
from hardmax.text.shipped import load_model

COLUMNS = ("model", "reviews", "median_ms", "median_ms_with_ledger", "median_ms_with_removals")
COLUMNS += ("largest_gap", "smallest_logit")


def gap(why: Explanation) -> float:
    """How far the ledger is from the logit, as a share of it."""
    total = math.fsum([why.bias, *(entry.vote for entry in why.ledger)])
    return abs(total - why.logit) / abs(why.logit)


def main(test: str, reviews: str = "2000") -> None:
    texts, *_ = read(test)
    chosen = [texts[row] for row in np.linspace(0, len(texts) - 1, int(reviews)).astype(int)]
    with limit_threads(1):
        for name in ("sentiment-en", "imdb", "imdb-best"):
            model = load_model(name)
            model.predict_proba(chosen)  # kernels are compiled, and the dictionary is made
            _ = model.explain(chosen[0]).removals
            seconds, found = [], []
            for text in chosen:
                began = time.perf_counter()
                why = model.explain(text)
                alone = time.perf_counter() - began
                _ = why.removals
                ranked = time.perf_counter() - began
                _ = why.ledger, why.active
                seconds.append((alone, alone + time.perf_counter() - began - ranked, ranked))
                found.append((gap(why), abs(why.logit)))
            medians = [f"{1e3 * median:.3f}" for median in np.median(seconds, axis=0)]
            largest, smallest = max(part for part, _ in found), min(logit for _, logit in found)
            row = [name, len(chosen), *medians, f"{largest:.1e}", f"{smallest:.1e}"]
            print(dict(zip(COLUMNS, row, strict=True)), flush=True)
            add_rows("explain", COLUMNS, [row])


if __name__ == "__main__":
    main(*sys.argv[1:])
