"""Whether the tokens that are said to matter do: erasure tests, and agreement with what people marked."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_instance, check_int, shorten
from hardmax.text._analysis import UNDECIDED
from hardmax.text._texts import read_texts
from hardmax.text.corpora import read_spans
from hardmax.text.spans import Span, cut, keep, merged, touched
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """Shares of texts by what becomes of their answer when only a part of them is left; "undecided" is an answer of its
    own."""

    texts: int
    leaders_alone: float
    """Same answer, from the tokens that lead alone; a neutral leader is not among them."""
    active_alone: float
    """Same answer, from the active tokens alone."""
    without_active: float
    """Same answer, without the active tokens."""
    changed_without_active: float
    """Another label, without the active tokens."""
    undecided_without_active: float
    """Undecided, without the active tokens."""
    without_others: float
    """Same answer, without as many other words as the active tokens have."""

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Shares of the tokens furthest out on the side of the predicted class that stand in what people marked."""

    texts: int
    """Those with a token for the class that is predicted; if there are none, all shares are nan."""
    first: float
    """Of the leaders of the predicted class."""
    first_two: float
    """Of these, and of those who would lead if they were not there."""
    any_word: float
    """Of all tokens for the predicted class, in the mean of a text: what one drawn at random would reach."""
    marked: float
    """How many of all words of a text are marked, in the mean."""

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data; None for nan."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def measure_erasure(model: TextModel, texts: Any, *, at_most: int = 1000, seed: int = 0) -> Erasure:
    """What texts are answered from their leaders alone, from their active tokens alone, without these, and without as
    many other words. Of more than `at_most` texts so many are drawn; `seed` decides which, and which other words.

    >>> from hardmax.text import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0.1], [-2, 0.1], [0.1, 0.2]], decoder=[[1, 0]], bias=[-0.1],
    ...                   classes=["negative", "positive"], layers=8, extra=[0, 1])
    >>> found = measure_erasure(model, ["A great film.", "An awful film!"])
    >>> found.leaders_alone, found.undecided_without_active, found.without_others
    (1.0, 1.0, 1.0)
    """
    check_instance(model, TextModel, "`model`", "a TextModel")
    at_most, seed = check_int(at_most, "`at_most`", at_least=1), check_int(seed, "`seed`", at_least=0)
    given = read_texts(texts).strings()
    if not given:
        raise InputError("`texts` is empty: expected at least one text.")
    rng = np.random.default_rng(seed)
    whole = [given[row] for row in np.sort(rng.permutation(len(given))[:at_most])]
    parts = [list(_parts(model, text, rng)) for text in whole]
    before = model.analyse(whole).answers
    leaders, active, without, others = (model.analyse(list(few)).answers for few in zip(*parts, strict=True))
    return Erasure(
        texts=len(whole),
        leaders_alone=float((leaders == before).mean()),
        active_alone=float((active == before).mean()),
        without_active=float((without == before).mean()),
        changed_without_active=float(((without != before) & (without != UNDECIDED)).mean()),
        undecided_without_active=float((without == UNDECIDED).mean()),
        without_others=float((others == before).mean()),
    )


def measure_agreement(model: TextModel, texts: Any, spans: Sequence[Sequence[Span]]) -> Agreement:
    """How often the tokens that lead stand in what people marked: `spans` has for each text the pairs (start, end) of
    text[start:end]. A text without marks is a miss."""
    check_instance(model, TextModel, "`model`", "a TextModel")
    hits, marked_words = [], []
    for text, marked in _marked_texts(texts, spans):
        if own := [bool(touched(places, marked).any()) for places in furthest_out(model, text)]:
            hits.append(own)
            marked_words.append(touched(_words(model.tokeniser, text), marked).mean())
    return Agreement(
        texts=len(hits),
        first=_mean([own[0] for own in hits]),
        first_two=_mean([hit for own in hits for hit in own[:2]]),
        any_word=_mean([_mean(own) for own in hits]),
        marked=_mean(marked_words),
    )


def furthest_out(model: TextModel, text: str) -> list[list[Span]]:
    """The places of each token furthest out on the side of the predicted class.

    First its leader (of several, that with the largest mass), then who would lead if those before were not there: of
    the active tokens that speak for the class, those that say most, <its row of the decoder, vector>. A single row is
    that of the second class, its negative that of the first.
    """
    read = model.read(text)
    found = model.weigh(read.encoded)
    scores = model.prepared.scores[found.ids]
    predicted = int(found.probabilities[0].argmax())
    if scores.shape[1] == 1:
        out = scores[:, 0] if predicted else -scores[:, 0]
        side = found.active & (out > 0)
    else:
        out = scores[:, predicted]
        side = found.active & (scores.argmax(axis=1) == predicted)
    ranked = np.flatnonzero(side)[np.argsort(-out[side], kind="stable")]
    leaders = ranked[found.leader_since[ranked] >= 0]
    if len(leaders):
        leader = leaders[found.masses[leaders].argmax()]
        ranked = np.concatenate([[leader], ranked[ranked != leader]])
    return [_spans(read.places[t]) for t in ranked]


def _parts(model: TextModel, text: str, rng: np.random.Generator) -> Iterator[str]:
    """The leaders alone, the active tokens alone, the text without these, and without as many other words."""
    read = model.read(text)
    found = model.weigh(read.encoded)
    leads = (found.leader_since >= 0) & (found.ids < len(model.vocabulary))
    for own in (leads, found.active):
        yield keep(text, merged(span for t in np.flatnonzero(own) for span in _spans(read.places[t])))
    active = merged(span for t in np.flatnonzero(found.active) for span in _spans(read.places[t]))
    words = _words(replace(model.tokeniser, marks=False), text)
    is_active = touched(words, active)
    drawn = rng.permutation(np.flatnonzero(~is_active))[: int(is_active.sum())]
    yield cut(text, active)
    yield cut(text, merged(words[n] for n in drawn.tolist()))


def _words(tokeniser: Tokeniser, text: str) -> list[Span]:
    """Where every word stands, known or not."""
    return [(token.start, token.end) for token in replace(tokeniser, longest_phrase=1).tokens(text)]


def _marked_texts(texts: Any, spans: Any) -> Iterator[tuple[str, list[Span]]]:
    given = read_texts(texts).strings()
    if not isinstance(spans, list | tuple) or len(spans) != len(given):
        raise InputError(f"`spans` must be {len(given)} lists, one for each text, not {shorten(spans)}.")
    for row, (text, cell) in enumerate(zip(given, spans, strict=True)):
        marked, fault = read_spans(cell, len(text))
        if fault:
            raise InputError(f"`spans` of text {row}: {fault}.")
        yield text, marked


def _spans(places: np.ndarray) -> list[Span]:
    return [(start, end) for start, end in places.tolist()]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
