"""All the known tokens that stand in one text, those that count and those that would if others did not."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class Spots:
    """Token `tokens[i]` takes the pieces of the text from `firsts[i]` to `lasts[i]` (a mark takes nothing: its first is
    behind its last, where it stands), and is the kind `rows[i]` of those that count, or -1: others took its place."""

    tokens: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    rows: np.ndarray
    begins: np.ndarray  # piece p is text[begins[p]:ends[p]]
    ends: np.ndarray
    words: np.ndarray  # a number for each piece, the same for the same word; -1: no word, or in no known token

    def places(self, kinds: int) -> list[np.ndarray]:
        """Where each kind stands: rows (start, end) of `text[start:end]`."""
        own = np.flatnonzero(self.rows >= 0)
        own = own[np.argsort(self.rows[own], kind="stable")]
        firsts, lasts = np.minimum(self.firsts[own], self.lasts[own]), self.lasts[own]
        stand = np.stack([self.begins[firsts], self.ends[lasts]], axis=1)
        bounds = np.concatenate([[0], np.cumsum(np.bincount(self.rows[own], minlength=kinds))])
        return [stand[first:last] for first, last in pairwise(bounds.tolist())]
