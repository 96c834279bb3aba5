"""Sentences of training texts as texts of their own, for models of long texts that shall read short
ones."""

import re
from typing import Any

import numpy as np

_ENDS = re.compile(r"(?<=[.!?])\s+|<br ?/?>|\n+|(?<=[。！？])")
_MOST, _SHORTEST, _WEIGHT = 3, 15, 0.3  # of a text, in characters, beside the text itself


def with_sentences(
    texts: list[str], labels: Any, weights: Any, groups: Any, seed: int
) -> tuple[list[str], np.ndarray, dict[str, Any]]:
    """Texts, their labels, and what `fit` is told of them, with three sentences of each text after
    all: they count less, and belong to its group."""
    rng, sentences, owners = np.random.default_rng(seed), [], []
    for number, text in enumerate(texts):
        long = [part for part in _ENDS.split(text) if len(part) >= _SHORTEST]
        if len(long) > 1:  # else there is nothing new
            chosen = rng.permutation(len(long))[:_MOST].tolist()
            sentences += [long[place] for place in chosen]
            owners += [number] * len(chosen)
    rows = np.append(np.arange(len(texts)), owners).astype(int)
    counts = np.array(weights, dtype=float)[rows]
    counts[len(texts) :] *= _WEIGHT
    how = {"sample_weight": counts, "groups": np.asarray(groups)[rows]}
    return [*texts, *sentences], np.asarray(labels)[rows], how
