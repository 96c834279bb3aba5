"""Training: seconds an epoch and reviews a second, the exact layer beside softmax at a temperature, padded, in torch.

python benchmarks/train.py                 reviews as long as IMDb's, random
python benchmarks/train.py reviews.parquet a table with the columns `text` and `label`, by the recipe `imdb_2d`
"""

# pyright: reportMissingImports=false
import sys
import time

import numpy as np
from harness import compare, record

from hardmax.train import IMDB_2D, Recipe, fit
from hardmax.train.clouds import Clouds
from hardmax.train.examples import Examples
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.loop import train
from hardmax.train.network import make_network

REVIEWS, WORDS, LONG = 4096, 10_000, 132
ONE_EPOCH = Recipe(epochs=1, bag_of_words_epochs=0.0, alpha_warmup_epochs=0.0, word_dropout=0.0)


def random_reviews(seed: int = 0) -> Examples:
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, WORDS, REVIEWS * LONG)
    clouds = Clouds(ids, np.ones(len(ids)), np.arange(REVIEWS + 1) * LONG)
    return Examples(clouds, rng.integers(0, 2, REVIEWS), np.ones(REVIEWS, dtype=np.float32))


def epoch(examples: Examples, layer: Hardmax | Softmax) -> None:
    train(make_network(WORDS, 2, ONE_EPOCH, layer), examples, ONE_EPOCH)


def fit_table(path: str) -> None:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    began = time.perf_counter()
    seconds: list[float] = []
    fit(table["text"], table["label"].to_numpy(), IMDB_2D, progress=lambda report: seconds.append(report.seconds))
    total = time.perf_counter() - began
    rate = len(table) / np.median(seconds)
    print(f"{len(table):,} texts: {total:.1f} s in all, {np.median(seconds):.2f} s an epoch, {rate:,.0f} texts/s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit_table(sys.argv[1])
    else:
        data = random_reviews()
        jobs = {"exact": lambda: epoch(data, Hardmax()), "softmax 0.001": lambda: epoch(data, Softmax())}
        timings = compare(f"an epoch of {REVIEWS:,} reviews, d 2, 8 layers", "softmax 0.001", jobs, rounds=3)
        for timing in timings:
            print(f"{timing.contestant:28} {REVIEWS / timing.seconds:10,.0f} reviews/s")
        record("train", timings)
