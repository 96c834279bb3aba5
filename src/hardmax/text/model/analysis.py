"""What a model finds in many texts: the words it knows, their masses, who leads, and the logits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardmax._compile import interpreted
from hardmax._format import pluralize
from hardmax.dynamics import Dynamics
from hardmax.text.model.kernels.walking import UNDECIDED as UNPROVED
from hardmax.text.model.kernels.walking import Said, Weights, decode_texts, walk_texts
from hardmax.text.model.masses import ends, follows, masses, walk_cloud
from hardmax.text.model.prepared import Prepared
from hardmax.text.tokens.encoding import Encoded, blocks, encode_part
from hardmax.text.tokens.lexicon import Lexicon
from hardmax.text.tokens.texts import TextBytes
from hardmax.text.tokens.tokeniser import Tokeniser

UNDECIDED = -1  # the answer to a text without an active token, or with two classes level
FEW = 4096  # words: so many are weighed without waiting for numba


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Text t has the words `ids[offsets[t]:offsets[t + 1]]`; the last of them is the extra token, if there is one."""

    ids: np.ndarray
    rows: np.ndarray  # the row of `Prepared.table` where each word starts: its own, unless a gate silences it
    counts: np.ndarray  # how often each word is said
    offsets: np.ndarray
    masses: np.ndarray  # of each word in the mean of the last layer; those of a text add up to 1
    leader_since: np.ndarray  # the layer, or -1
    follows: np.ndarray  # the place in its text of the leader that a word is with at the last layer; -1: none alone
    counting: np.ndarray  # which words count: neither the extra token, nor following it where it is a neutral leader
    logits: np.ndarray  # (texts, rows)
    probabilities: np.ndarray  # (texts, classes)
    by_integers: int  # texts with a choice that floats could not prove

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        leaders = self.leaders_per_text.mean() if len(self) else 0.0
        size = pluralize(len(self), "text")
        return f"Analysis({size}, {leaders:.1f} leaders a text, {self.by_integers:,} decided by integers)"

    @property
    def leaders_per_text(self) -> np.ndarray:
        """How many leaders each text has."""
        return _sums(self.leader_since >= 0, self.offsets).astype(np.int64)

    @property
    def counting_per_text(self) -> np.ndarray:
        """How many distinct words count in each text."""
        return _sums(self.counting, self.offsets).astype(np.int64)

    @property
    def decided(self) -> np.ndarray:
        """Which texts are decided: a token is active, and one class is ahead of all others."""
        top = np.sort(self.probabilities, axis=1)[:, -2:]
        return (self.counting_per_text > 0) & (top[:, 0] < top[:, 1])

    @property
    def answers(self) -> np.ndarray:
        """The number of the most probable class of each text, or `UNDECIDED`."""
        return np.where(self.decided, self.probabilities.argmax(axis=1), UNDECIDED)

    @property
    def mass_on_leaders(self) -> np.ndarray:
        """The share of the mean of each text that its leaders make up."""
        return _sums(np.where(self.leader_since >= 0, self.masses, 0.0), self.offsets)


def analyse(
    texts: TextBytes, lexicon: Lexicon, tokeniser: Tokeniser, prepared: Prepared, dynamics: Dynamics, layers: float
) -> Iterator[Analysis]:
    """The analysis of the texts, a few megabytes at a time. What is found in a text depends on that text alone."""
    for part in find_words(texts, lexicon, tokeniser, prepared):
        yield weigh(part, prepared, dynamics, layers)


def find_words(texts: TextBytes, lexicon: Lexicon, tokeniser: Tokeniser, prepared: Prepared) -> Iterator[Encoded]:
    """The known tokens of the texts, with the extra one, a few megabytes at a time."""
    for part in blocks(texts):
        yield encode_part(part, lexicon, tokeniser, prepared.extra)


def weigh(
    found: Encoded, prepared: Prepared, dynamics: Dynamics, layers: float, places: np.ndarray | None = None
) -> Analysis:
    """The analysis of texts whose tokens have been found; `places` (words, d) get where each word ends."""
    words, d = len(found.ids), prepared.table.shape[1]
    places = np.empty((0, d)) if places is None else places
    weights = Weights(np.zeros(words), np.full(words, -1), np.full(words, -1), places)
    voices, rows = prepared.voices(found), prepared.rows(found)
    said = Said(rows, voices, found.offsets, int(np.diff(found.offsets).max(initial=0)))
    with interpreted(walk_texts, if_small=words <= FEW):
        walk_texts(said, prepared.vectors, prepared.rules, prepared.depth, weights)
    left = np.flatnonzero(weights.since == UNPROVED)
    for text in np.searchsorted(found.offsets, left, side="right") - 1:
        here = slice(found.offsets[text], found.offsets[text + 1])
        run = walk_cloud(prepared.table[rows[here]], voices[here], dynamics, layers)
        weights.masses[here] = masses(run, voices[here], layers)
        weights.since[here] = run.leader_since[run.points.of_token]
        weights.follows[here] = follows(run)
        if len(places):
            places[here] = ends(run, layers)
    if layers == 0:  # nobody has gone anywhere
        weights.follows[:] = -1
    logits = np.empty((len(found), len(prepared.bias)))
    probabilities = np.empty((len(found), max(2, len(prepared.bias))))
    with interpreted(walk_texts, if_small=words <= FEW):
        decode_texts(rows, found.offsets, weights.masses, prepared.scores, prepared.bias, logits, probabilities)
    counting = _which_count(found, rows, weights.follows, prepared)
    return Analysis(
        found.ids, rows, found.counts, found.offsets, *weights[:3], counting, logits, probabilities, len(left)
    )  # fmt: skip


def _which_count(found: Encoded, rows: np.ndarray, followed: np.ndarray, prepared: Prepared) -> np.ndarray:
    counting = (found.ids != prepared.extra) & (rows == found.ids)
    if prepared.has_neutral:  # it is the last word of every text
        sizes = np.diff(found.offsets)
        counting &= followed != np.repeat(sizes - 1, sizes)
    return counting


def join(parts: list[Analysis], rows: int) -> Analysis:
    """The parts as one."""
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    return Analysis(
        np.concatenate([np.empty(0, dtype=np.int32), *(part.ids for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.int32), *(part.rows for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.int32), *(part.counts for part in parts)]),
        np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
        np.concatenate([np.empty(0), *(part.masses for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.int64), *(part.leader_since for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.int64), *(part.follows for part in parts)]),
        np.concatenate([np.empty(0, dtype=bool), *(part.counting for part in parts)]),
        np.concatenate([np.empty((0, rows)), *(part.logits for part in parts)]),
        np.concatenate([np.empty((0, max(2, rows))), *(part.probabilities for part in parts)]),
        sum(part.by_integers for part in parts),
    )


def _sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.bincount(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), values, minlength=len(offsets) - 1)
