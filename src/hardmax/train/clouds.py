"""A batch of clouds as training sees it: ragged, without padding, the tokens known by number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from hardmax.text.tokens.encoding import Encoded


@dataclass(frozen=True, eq=False)
class Clouds:
    """Cloud b has the tokens `ids[offsets[b]:offsets[b + 1]]`, each as often as `counts` says."""

    ids: np.ndarray  # int64
    counts: np.ndarray  # float64
    offsets: np.ndarray  # int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def cloud_of_token(self) -> np.ndarray:
        """The cloud that each token is in."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


Batch = TypeVar("Batch", Clouds, Encoded)


def as_clouds(encoded: Encoded, binary: bool = True, extra: int | None = None) -> Clouds:
    """All texts as clouds; if `binary`, a word that is there counts once, however often it is said.

    The token `extra`, if given, joins every cloud, at its end.

    >>> texts = Encoded(np.array([0, 1, 1]), np.array([2, 1, 1]), np.array([0, 2, 3]))
    >>> both = as_clouds(texts, extra=2)
    >>> both.ids.tolist(), both.counts.tolist(), both.offsets.tolist()
    ([0, 1, 2, 1, 2], [1.0, 1.0, 1.0, 1.0, 1.0], [0, 3, 5])
    """
    ids, offsets = encoded.ids.astype(np.int64), encoded.offsets.astype(np.int64)
    often = np.ones(len(ids)) if binary else encoded.counts.astype(np.float64)
    if extra is None:
        return Clouds(ids, often, offsets)
    ends = offsets[1:]
    return Clouds(np.insert(ids, ends, extra), np.insert(often, ends, 1.0), offsets + np.arange(len(offsets)))


def pick(batch: Batch, rows: np.ndarray) -> Batch:
    """Some of the clouds, or of the texts, in the order asked for."""
    sizes = np.diff(batch.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(batch.offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return replace(batch, ids=batch.ids[places], counts=batch.counts[places], offsets=offsets)


def restrict(encoded: Encoded, kept: np.ndarray, tokens: int) -> Encoded:
    """The same texts in the tokens that were kept, numbered anew.

    >>> texts = Encoded(np.array([0, 1, 2]), np.array([1, 1, 3]), np.array([0, 2, 3]))
    >>> fewer = restrict(texts, np.array([0, 2]), tokens=3)
    >>> fewer.ids.tolist(), fewer.counts.tolist(), fewer.offsets.tolist()
    ([0, 1], [1, 3], [0, 1, 2])
    """
    number = np.full(tokens, -1, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    ids = number[encoded.ids]
    stays = ids >= 0
    before = np.concatenate([[0], np.cumsum(stays)])
    return Encoded(ids[stays], encoded.counts[stays], before[encoded.offsets])


def drop_words(clouds: Clouds, share: float, rng: np.random.Generator, never: int | None = None) -> Clouds:
    """The clouds without a random share of their tokens: no word can be relied upon; the token `never` stays."""
    if share == 0:
        return clouds
    stays = rng.random(len(clouds.ids), dtype=np.float32) >= share
    if never is not None:
        stays |= clouds.ids == never
    before = np.concatenate([[0], np.cumsum(stays)])
    return Clouds(clouds.ids[stays], clouds.counts[stays], before[clouds.offsets])
