"""Make the table of English word vectors that ships: python tools/english_vectors.py GLOVE

GLOVE is the text file of GloVe 6B in 100 dimensions (Pennington, Socher and Manning 2014; public
domain, PDDL 1.0), the most frequent words first.

The mean and the main direction, which tell how frequent words are rather than what they mean, are
taken out. Vectors of length 1 are rounded to multiples of STEP: that costs less accuracy with few
labels than leaving out words or dimensions, and gives small whole numbers, which zip well.
"""

import io
import re
import sys
from itertools import islice
from pathlib import Path

import numpy as np

from hardmax._common.files import write_whole

OUTPUT = Path(__file__).parents[1] / "src/hardmax/train/english.npz"
WORDS = 60_000  # lines that are read
FREQUENT = 20_000  # words, of which the main directions are taken
STEP = 0.05
_WORD = re.compile("[a-z0-9]+")  # what texts can contain as one word


def main(source: str) -> None:
    """Write the table, words in the order of the source."""
    with Path(source).open(encoding="utf-8") as stream:
        lines = [line.rstrip().split(" ") for line in islice(stream, WORDS)]
    lines = [line for line in lines if _WORD.fullmatch(line[0])]
    words = np.array([line[0] for line in lines], dtype="S")
    vectors = np.array([line[1:] for line in lines], dtype=np.float64)
    vectors -= vectors.mean(axis=0)
    axes = np.linalg.svd(vectors[:FREQUENT], full_matrices=False)[2]
    meanings = vectors @ axes[1:].T
    meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
    table = np.round(meanings / STEP).astype(np.int8, order="F")  # by column: 4 % smaller
    data = io.BytesIO()
    np.savez_compressed(data, words=words, vectors=table)
    write_whole(OUTPUT, data.getvalue())
    print(f"{OUTPUT}: {table.shape[0]:,} x {table.shape[1]}, {len(data.getvalue()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
