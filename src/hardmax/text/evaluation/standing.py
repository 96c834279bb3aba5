"""Whether the words that are said to count do: what a model says of them alone, and of a text without them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_instance, check_int, shorten
from hardmax.text.corpora import read_spans
from hardmax.text.model.analysis import UNDECIDED
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.cutting import Span, cut, keep, merged
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser

SAMPLE = 1000  # texts


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Shares of texts that keep their answer when only a part of them is left; "undecided" is an answer of its own."""

    texts: int
    leaders_alone: float  # the words that lead, a neutral leader not among them
    counting_alone: float  # the words that count
    without_counting: float
    undecided_without: float  # the share of texts that are undecided without the words that count
    without_others: float  # as many words fewer as in `without_counting`, drawn from those outside the words that count

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Places:
    """Where in a text words stand, each list in order and without overlaps."""

    leaders: list[Span]  # of the leaders, the neutral one not among them
    counting: list[Span]


@dataclass(frozen=True, kw_only=True)
class Inside:
    """Shares of the words furthest out on the side of the predicted class that stand in what people marked."""

    texts: int  # those with a word for the class that is predicted; nan for all shares if there are none
    first: float  # of the leaders of the predicted class
    first_two: float  # of these, and of those who would lead if they were not there
    any_word: float  # of all words for the predicted class, in the mean of a text: what one drawn of them would reach
    marked: float  # how much is marked, of all words of a text as they are said, in the mean

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data; None for nan."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def find_places(model: TextModel, text: str) -> Places:
    """Where the leaders and the words that count stand in a text."""
    read = model.read(text)
    found = model.weigh(read.encoded)
    words = found.ids < len(model.vocabulary)
    which = (found.leader_since >= 0) & words, found.counting
    return Places(*(merged([span for t in np.flatnonzero(own) for span in _spans(read.places[t])]) for own in which))


def find_furthest(model: TextModel, text: str, first: int | None = None) -> list[list[Span]]:
    """Where the `first` words stand, or all, each by itself, that are furthest out on the side of the predicted class.

    First its leader (of several, that with the largest mass), then who would lead if those before were not there: of
    the words that count and speak for the class, those that say most, <its row of the decoder, vector>. A single row
    is that of the second class, its negative that of the first.
    """
    read = model.read(text)
    found = model.weigh(read.encoded)
    scores = model.prepared.scores[found.ids]
    predicted = int(found.probabilities[0].argmax())
    if scores.shape[1] == 1:
        out = scores[:, 0] if predicted else -scores[:, 0]
        side = found.counting & (out > 0)
    else:
        out = scores[:, predicted]
        side = found.counting & (scores.argmax(axis=1) == predicted)
    ranked = np.flatnonzero(side)[np.argsort(-out[side], kind="stable")]
    leaders = ranked[found.leader_since[ranked] >= 0]
    if len(leaders):
        leader = leaders[found.masses[leaders].argmax()]
        ranked = np.concatenate([[leader], ranked[ranked != leader]])
    return [_spans(read.places[t]) for t in ranked[:first]]


def measure_standing(model: TextModel, texts: Sequence[str], *, at_most: int = SAMPLE, seed: int = 0) -> Standing:
    """How many texts keep their answer: of the leaders alone, of the words that count alone, without these, and without
    as many other words. Of more than `at_most` texts so many are drawn; `seed` decides which, and which other words.

    >>> from hardmax.text.tokens.vocabulary import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0.1], [-2, 0.1], [0.1, 0.2]], decoder=[[1, 0]], bias=[-0.1],
    ...                   classes=["negative", "positive"], layers=8, extra=[0, 1])
    >>> measure_standing(model, ["A great film.", "An awful film!"])
    Standing(texts=2, leaders_alone=1.0, counting_alone=1.0, without_counting=0.0, undecided_without=1.0, without_others=1.0)
    """  # noqa: E501 (a doctest)
    check_instance(model, TextModel, "`model`", "a TextModel")
    at_most, seed = check_int(at_most, "`at_most`", at_least=1), check_int(seed, "`seed`", at_least=0)
    given = _strings(texts)
    if not given:
        raise InputError("`texts` is empty: expected at least one text.")
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(given))[:at_most])
    whole, parts = [given[row] for row in rows], []
    for text in whole:
        places = find_places(model, text)
        parts.append([keep(text, places.leaders), keep(text, places.counting), *_less(model, text, places, rng)])
    answers = model.analyse(whole).answers
    of_parts = [model.analyse(few).answers for few in map(list, zip(*parts, strict=True))]
    same = [float((of_part == answers).mean()) for of_part in of_parts]
    names = ("leaders_alone", "counting_alone", "without_counting", "without_others")
    undecided = float((of_parts[2] == UNDECIDED).mean())
    return Standing(texts=len(whole), undecided_without=undecided, **dict(zip(names, same, strict=True)))


def share_inside(model: TextModel, texts: Sequence[str], spans: Sequence[Sequence[Span]], first: int = 1) -> float:
    """The share of the words furthest out on the side of the predicted class, the `first` of each text, that stand at
    least once in what somebody marked in it: `spans` has for each text the pairs (start, end) of text[start:end].

    The first is the leader of the predicted class, the second who would lead if it were not there (`find_furthest`). A
    text without marks is a miss; nan if no text has a word for the class that is predicted.

    >>> from hardmax.text.tokens.vocabulary import Vocabulary
    >>> model = TextModel(vocabulary=Vocabulary(["great", "awful"], [[0, 9], [9, 0]]), embeddings=[[2], [-2]],
    ...                   decoder=[[1]], bias=[0], classes=["negative", "positive"], layers=8)
    >>> share_inside(model, ["A great film.", "Awful!"], [[(2, 7)], []])
    0.5
    """
    check_instance(model, TextModel, "`model`", "a TextModel")
    first = check_int(first, "`first`", at_least=1)
    return _mean([hit for text, marked in _marked_texts(texts, spans) for hit in _hits(model, text, marked, first)])


def measure_inside(model: TextModel, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> Inside:
    """How often the words that lead stand in what people marked, beside how much they marked; as in `share_inside`."""
    check_instance(model, TextModel, "`model`", "a TextModel")
    hits, marked_words = [], []
    for text, marked in _marked_texts(texts, spans):
        if own := _hits(model, text, marked):
            hits.append(own)
            marked_words.append(float(_touched(_words(model.tokeniser, text), merged(marked)).mean()))
    return Inside(
        texts=len(hits),
        first=_mean([own[0] for own in hits]),
        first_two=_mean([hit for own in hits for hit in own[:2]]),
        any_word=_mean([_mean(own) for own in hits]),
        marked=_mean(marked_words),
    )


def _less(model: TextModel, text: str, places: Places, rng: np.random.Generator) -> tuple[str, str]:
    """The text without the words that count, and without as many others."""
    words = _words(replace(model.tokeniser, marks=False), text)
    counts = _touched(words, places.counting)
    others = np.flatnonzero(~counts)
    drawn = rng.permutation(others)[: int(counts.sum())]
    return cut(text, places.counting), cut(text, merged([words[n] for n in drawn.tolist()]))


def _words(tokeniser: Tokeniser, text: str) -> list[Span]:
    """Where every word stands, known or not."""
    return [(token.start, token.end) for token in replace(tokeniser, longest_phrase=1).tokens(text)]


def _touched(words: Sequence[Span], spans: Sequence[Span]) -> np.ndarray:
    """Which words overlap one of the spans, which are in order and without overlaps."""
    starts = np.array([start for start, _ in spans])
    touched = np.zeros(len(words), dtype=bool)
    for n, word in enumerate(words):
        at = int(np.searchsorted(starts, word[1])) - 1  # the last of them that begins before the word ends
        touched[n] = at >= 0 and _overlap(spans[at], word)
    return touched


def _marked_texts(texts: Any, spans: Any) -> Iterator[tuple[str, list[Span]]]:
    given = _strings(texts)
    if not isinstance(spans, list | tuple) or len(spans) != len(given):
        raise InputError(f"`spans` must be {len(given)} lists, one for each text, not {shorten(spans)}.")
    for row, (text, cell) in enumerate(zip(given, spans, strict=True)):
        marked, fault = read_spans(cell, len(text))
        if fault:
            raise InputError(f"`spans` of text {row}: {fault}.")
        yield text, marked


def _hits(model: TextModel, text: str, marked: Sequence[Span], first: int | None = None) -> list[bool]:
    furthest = find_furthest(model, text, first)
    spans = merged(marked)
    return [bool(_touched(own, spans).any()) for own in furthest]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _strings(texts: Any) -> list[str]:
    found = read_texts(texts).strings()
    if found is None:
        raise InputError("`texts` are not UTF-8: expected texts.")
    return found


def _spans(places: np.ndarray) -> list[Span]:
    return [(start, end) for start, end in places.tolist()]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
