"""Which words of a text to remove, one after the other, without reading it again for each."""

from typing import NamedTuple

import numpy as np

from hardmax._kernels.compiling import njit
from hardmax.text._kernels_tokens import (
    Attending,
    Found,
    Modifiers,
    Standing,
    collect,
    keep_segments,
    strongest,
)
from hardmax.text._kernels_votes import Said, Votes, Voting, vote_texts


class Written(NamedTuple):
    """The words of a text and all known tokens in it, also those that overlap, by first and last
    word."""

    units: np.ndarray  # int32, for each word the number of what it spells
    clauses: np.ndarray  # int64, for each word the first one of its clause
    modifiers: np.ndarray  # int32, for each word the modifier that it is, or -1
    tokens: np.ndarray  # int32
    firsts: np.ndarray  # int32
    lasts: np.ndarray  # int32


class Judge(NamedTuple):
    """What tells the lead of a label: `toward` says how often each logit counts."""

    modifiers: Modifiers
    voting: Voting
    overlapping: bool
    toward: np.ndarray  # float64


class Scratch(NamedTuple):
    """Memory for a text without some words."""

    standing: Standing
    attending: Attending
    place: np.ndarray  # int32, one for each token of the vocabulary, -1
    found: Found
    votes: Votes


def make_scratch(words: int, tokens: int, vocabulary: int, rows: int) -> Scratch:
    """Memory for a text of so many words and tokens."""
    own, firsts, lasts, ids, counts = np.empty((5, tokens), np.int32)
    keys, taken = np.empty(tokens, np.int64), np.zeros(words + 1, np.bool_)
    sizes = np.zeros(1, np.int64)
    return Scratch(
        Standing(own, firsts, lasts, keys, taken),
        Attending(np.empty(words, np.int32), np.empty(words, np.int32)),
        np.full(vocabulary, -1, np.int32),
        Found(np.zeros(1, np.int64), ids, counts, np.empty(tokens), sizes),
        Votes(
            np.empty((tokens, rows)),
            np.empty(tokens, np.bool_),
            np.empty((1, rows)),
            np.empty((1, max(2, rows))),
        ),
    )


@njit
def _attend_without(written, unit, modifiers, attending):
    own, attended = attending
    for word in range(len(own)):
        own[word] = -1 if written.units[word] == unit else written.modifiers[word]
        first = max(written.clauses[word], word - modifiers.scope)
        attended[word] = strongest(own, first, word, modifiers.strengths)


@njit
def _stand_without(written, tokens, unit, standing):
    """Those of the first tokens that do not have a word, to `standing`; return how many."""
    count = 0
    for i in range(tokens):
        first, last = written.firsts[i], written.lasts[i]
        standing.tokens[count], standing.firsts[count] = written.tokens[i], first
        standing.lasts[count] = last
        is_whole = True
        for word in range(first, last + 1):
            is_whole = is_whole and written.units[word] != unit
        count += is_whole
    return count


@njit
def _lead_without(written, tokens, unit, judge, scratch):
    """The lead of the label in the text without a word; what others attend to then is known."""
    standing, attending, place, found, votes = scratch
    kept = _stand_without(written, tokens, unit, standing)
    if not judge.overlapping:
        kept = keep_segments(standing, kept)
    size = collect(standing, kept, attending, judge.modifiers.factors, place, found, 0)
    said = Said(found.ids, found.factors, np.array([0, size]))
    vote_texts(0, 1, said, judge.voting, votes)
    lead = 0.0
    for row in range(len(judge.toward)):
        lead += judge.toward[row] * votes.logits[0, row]
    return lead


@njit
def remove_words(written, judge, scratch, candidates, alone, lead, rounds):
    """(order, losses, scores): the candidates in the order in which they are removed, as long as
    the best score is positive and at most so many; and what each cost then, the others last.

    What is written is changed."""
    is_left, modifies = np.ones(len(candidates), np.bool_), np.zeros(len(candidates), np.bool_)
    number = np.full(written.units.max() + 1, -1)
    number[candidates] = np.arange(len(candidates))
    for word in range(len(written.units)):
        if written.modifiers[word] >= 0 and number[written.units[word]] >= 0:
            modifies[number[written.units[word]]] = True
    order, size, tokens = np.empty(len(candidates), np.int64), 0, len(written.tokens)
    losses, scores = np.empty(len(candidates)), np.empty(len(candidates))
    while size < rounds:
        _attend_without(written, -1, judge.modifiers, scratch.attending)
        best = -1
        for n in np.flatnonzero(is_left):
            unit = candidates[n]
            if modifies[n]:
                _attend_without(written, unit, judge.modifiers, scratch.attending)
            losses[n] = lead - _lead_without(written, tokens, unit, judge, scratch)
            if modifies[n]:
                _attend_without(written, -1, judge.modifiers, scratch.attending)
            scores[n] = losses[n] / 3.0 + 2.0 / 3.0 * alone[n]
            if best < 0 or scores[n] > scores[best]:
                best = n
        if best < 0 or scores[best] <= 0.0:
            break
        order[size], is_left[best], size = best, False, size + 1
        lead -= losses[best]
        unit, standing = candidates[best], scratch.standing
        tokens = _stand_without(written, tokens, unit, standing)
        written.tokens[:tokens] = standing.tokens[:tokens]
        written.firsts[:tokens] = standing.firsts[:tokens]
        written.lasts[:tokens] = standing.lasts[:tokens]
        for word in range(len(written.units)):
            if written.units[word] == unit:
                written.modifiers[word] = -1
    return order[:size], losses, scores
