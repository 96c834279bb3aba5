"""Sentences of training texts as texts of their own, for models of long texts that shall read short
ones."""

import re
from collections import Counter
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


def excluded(texts: list[str]) -> tuple[set[str], set[str]]:
    """Names, and words with digits."""
    large, small, numbers = Counter[str](), Counter[str](), set[str]()
    for text in texts:
        plain = re.sub(r"<[^>]+>", " . ", text)
        numbers.update(word.lower() for word in re.findall(r"[\w']*\d[\w']*", plain))
        for before, word in re.findall(r"(\S)\s+([A-Za-z][A-Za-z']*)", plain):
            # What begins a sentence, and what is shouted, tells nothing.
            if before not in '.!?:;"(-*' and not (word.isupper() and len(word) > 1):
                (large if word[0].isupper() else small)[word.lower()] += 1
    names = {
        word for word, count in large.items() if count >= 3 and count > 0.6 * (count + small[word])
    }
    return names - numbers - {"i", "i'm", "i've", "i'd", "i'll", "god"}, numbers
