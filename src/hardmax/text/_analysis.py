"""What a model computes: the votes of the tokens of each text, who leads, logits, probabilities."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import pluralize
from hardmax._kernels.compiling import interpreted
from hardmax.text._kernels_votes import Said, Votes, Voting, vote_texts
from hardmax.text.encoding import Encoded, Read, encode_parts, read_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardmax.text._texts import TextBytes
    from hardmax.text.text_model import TextModel

LENGTHS = "training_lengths"
"""Where `TextModel.metrics` has the 1 % and 99 % quantiles of the lengths of training texts, in
characters."""
FEW = 4096  # at most this many tokens are weighed without waiting for numba


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What a model finds in texts.

    Made by `TextModel.analyse`. Text t has the tokens `ids[offsets[t]:offsets[t + 1]]`.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load_model("sentiment-en")
    >>> analysis = model.analyse(["An awful script.", "Great!"])
    >>> first = slice(*analysis.offsets[:2])
    >>> words = [model.vocabulary.surfaces[token] for token in analysis.ids[first]]
    >>> words[analysis.votes[first, 0].argmin()], analysis.predicted.tolist()
    ('awful', [0, 1])
    """

    ids: np.ndarray
    counts: np.ndarray
    """How often each token is in its text."""
    factors: np.ndarray
    """What modifiers multiply the vote of each token by, the mean over its places."""
    shifts: np.ndarray
    """What they add to it then, in the unit of the weights."""
    attended: np.ndarray
    """A bit for each modifier that it attends to."""
    offsets: np.ndarray
    votes: np.ndarray
    """What each token adds to the logits, (tokens, rows); inactive ones add nothing."""
    active: np.ndarray
    """Whether each token is active: its vote is large enough for the gate."""
    logits: np.ndarray
    """(texts, rows)."""
    probabilities: np.ndarray
    """(texts, classes)."""
    weights: np.ndarray
    """Of each token, (tokens, rows)."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        active = self.active_per_text.mean() if len(self) else 0.0
        return f"Analysis({pluralize(len(self), 'text')}, {active:.1f} active tokens per text)"

    @property
    def active_per_text(self) -> np.ndarray:
        """How many distinct tokens are active in each text."""
        return self._count(self.active)

    @property
    def leaders_per_text(self) -> np.ndarray:
        """How many leaders each text has."""
        return self._count(self.leads)

    @property
    def predicted(self) -> np.ndarray:
        """The index of the most probable class of each text; the first of several that are equally
        probable."""
        return self.probabilities.argmax(axis=1)

    @property
    def decided(self) -> np.ndarray:
        """Which texts are decided: a token is active, and one class is ahead of all others."""
        top = np.sort(self.probabilities, axis=1)[:, -2:]
        return (self.active_per_text > 0) & (top[:, 0] < top[:, 1])

    @cached_property
    def leads(self) -> np.ndarray:
        """Whether each token is a leader: active, and the strongest of its class in its text, or
        the first of several."""
        (active,) = self.active.nonzero()
        texts = np.repeat(np.arange(len(self)), self.active_per_text)
        votes = (self.weights * self.factors[:, None] + self.shifts[:, None])[active]
        if votes.shape[1] == 1:
            votes = np.hstack([-votes, votes])
        groups, strengths = votes.shape[1] * texts + votes.argmax(axis=1), votes.max(axis=1)
        largest = np.full(votes.shape[1] * len(self), -np.inf)
        np.maximum.at(largest, groups, strengths)
        best = np.flatnonzero(strengths == largest[groups])
        _, first = np.unique(groups[best], return_index=True)
        leads = np.zeros(len(self.ids), dtype=bool)
        leads[active[best[first]]] = True
        return leads

    def _count(self, chosen: np.ndarray) -> np.ndarray:
        """How many tokens of each text a mask chooses."""
        before = np.append(0, np.cumsum(chosen))
        return np.diff(before[self.offsets])


def kept_share(alpha: str) -> float:
    """What a token keeps of its own vote in a layer of that step size."""
    return float(1 / (1 + Fraction(alpha)))


def weigh(encoded: Encoded, voting: Voting) -> Analysis:
    """The analysis of texts whose tokens have been found."""
    texts, tokens, rows = len(encoded), len(encoded.ids), len(voting.bias)
    votes = Votes(
        np.empty((tokens, rows)),
        np.empty(tokens, dtype=bool),
        np.empty((texts, rows)),
        np.empty((texts, max(2, rows))),
    )
    with interpreted(vote_texts, if_small=tokens <= FEW):
        said = Said(encoded.ids, encoded.factors, encoded.shifts, encoded.offsets)
        vote_texts(said, voting, votes)
    return Analysis(**vars(encoded), **votes._asdict(), weights=voting.weights[encoded.ids])


def weigh_parts(
    model: "TextModel", texts: "TextBytes", *, few: bool = False
) -> "Iterator[Analysis]":
    """The analysis of texts in parts of a few megabytes; with `few`, without waiting for numba if
    they are short."""
    for encoded in encode_parts(texts, model.vocabulary, model.tokeniser, model._reader, few=few):
        yield weigh(encoded, model._voting)


def weigh_text(model: "TextModel", text: str) -> tuple[Read, Analysis]:
    """The known tokens of one text and where they are in it; its analysis."""
    read = read_one(text, model.vocabulary, model.tokeniser, model._reader)
    return read, weigh(read.encoded, model._voting)
