"""Whether the words that are said to count do: what a model says of them alone, and of a text without them.

Texts are put together from the places where words stand, all of them, joined by " . ": a sentence ends there, so that
no phrase arises that nobody wrote (unless the model's phrases go across sentences).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hardmax.checking import instance, short, whole_number
from hardmax.errors import InputError
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.texts import read_texts

JOINT = " . "
SAMPLE = 1000  # texts
Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Shares of texts that keep their label when only a part of them is left."""

    texts: int
    leaders_alone: float  # the words that lead, a neutral leader not among them
    counting_alone: float  # the words that count
    without_counting: float
    without_others: float  # as many words fewer as in `without_counting`, drawn from those outside the words that count

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Places:
    """Where in a text words stand, each list in order and without overlaps."""

    leaders: list[Span]  # of the leaders, the neutral one not among them
    counting: list[Span]
    first_leaders: list[list[Span]]  # of each leader by itself, those with the largest mass first


def find_places(model: TextModel, text: str) -> Places:
    """Where the leaders and the words that count stand in a text."""
    read = model.read(text)
    found = model.weigh(read.encoded)
    words = found.ids < len(model.vocabulary)
    leaders = np.flatnonzero((found.leader_since >= 0) & words)
    ranked = leaders[np.argsort(-found.masses[leaders], kind="stable")]
    own = [_spans(read.places[t]) for t in ranked]
    counting = [span for t in np.flatnonzero(found.counting) for span in _spans(read.places[t])]
    return Places(merged([span for spans in own for span in spans]), merged(counting), own)


def measure_standing(model: TextModel, texts: Sequence[str], *, at_most: int = SAMPLE, seed: int = 0) -> Standing:
    """How many texts keep their label: of the leaders alone, of the words that count alone, without these, and without
    as many other words. Of more than `at_most` texts so many are drawn; `seed` decides which, and which other words.

    >>> from hardmax.text.tokens.vocabulary import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0.1], [-2, 0.1], [0.1, 0.2]], decoder=[[1, 0]], bias=[-0.1],
    ...                   classes=["negative", "positive"], layers=8, extra=[0, 1])
    >>> measure_standing(model, ["A great film.", "An awful film!"])
    Standing(texts=2, leaders_alone=1.0, counting_alone=1.0, without_counting=0.5, without_others=1.0)
    """
    instance(model, TextModel, "`model`", "a TextModel")
    at_most, seed = whole_number(at_most, "`at_most`", at_least=1), whole_number(seed, "`seed`", at_least=0)
    given = _strings(texts)
    if not given:
        raise InputError("`texts` is empty: expected at least one text.")
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(given))[:at_most])
    whole, parts = [given[row] for row in rows], []
    for text in whole:
        places = find_places(model, text)
        parts.append([_kept(text, places.leaders), _kept(text, places.counting), *_less(model, text, places, rng)])
    label = model.predict_proba(whole).argmax(axis=1)
    same = [
        float((model.predict_proba(few).argmax(axis=1) == label).mean()) for few in map(list, zip(*parts, strict=True))
    ]
    names = ("leaders_alone", "counting_alone", "without_counting", "without_others")
    return Standing(texts=len(whole), **dict(zip(names, same, strict=True)))


def share_inside(model: TextModel, texts: Sequence[str], spans: Sequence[Sequence[Span]], first: int = 1) -> float:
    """The share of leaders, the `first` of each text by mass, that stand at least once in what somebody marked in it:
    `spans` has for each text the pairs (start, end) of text[start:end]. nan if there are no leaders.

    >>> from hardmax.text.tokens.vocabulary import Vocabulary
    >>> model = TextModel(vocabulary=Vocabulary(["great", "awful"], [[0, 9], [9, 0]]), embeddings=[[2], [-2]],
    ...                   decoder=[[1]], bias=[0], classes=["negative", "positive"], layers=8)
    >>> share_inside(model, ["A great film.", "Awful!"], [[(2, 7)], []])
    0.5
    """
    instance(model, TextModel, "`model`", "a TextModel")
    first, given = whole_number(first, "`first`", at_least=1), _strings(texts)
    if not isinstance(spans, list | tuple) or len(spans) != len(given):
        raise InputError(f"`spans` must be {len(given)} lists, one for each text, not {short(spans)}.")
    hits = []
    for row, (text, marked) in enumerate(zip(given, spans, strict=True)):
        _check_spans(marked, row, len(text))
        for own in find_places(model, text).first_leaders[:first]:
            hits.append(any(_overlap(span, other) for span in own for other in marked))
    return float(np.mean(hits)) if hits else float("nan")


def merged(spans: Sequence[Span]) -> list[Span]:
    """The same places in order, those that overlap as one.

    >>> merged([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found


def _less(model: TextModel, text: str, places: Places, rng: np.random.Generator) -> tuple[str, str]:
    """The text without the words that count, and without as many others."""
    words = [(token.start, token.end) for token in replace(model.tokeniser, longest_phrase=1, marks=False).tokens(text)]
    starts = np.array([start for start, _ in places.counting])
    counts = np.zeros(len(words), dtype=bool)
    for n, (start, end) in enumerate(words):
        at = int(np.searchsorted(starts, end)) - 1  # the last of those that count that begins before the word ends
        counts[n] = at >= 0 and _overlap(places.counting[at], (start, end))
    others = np.flatnonzero(~counts)
    drawn = rng.permutation(others)[: int(counts.sum())]
    return _cut(text, places.counting), _cut(text, merged([words[n] for n in drawn.tolist()]))


def _kept(text: str, spans: Sequence[Span]) -> str:
    return JOINT.join(text[start:end] for start, end in spans)


def _cut(text: str, spans: Sequence[Span]) -> str:
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return JOINT.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _strings(texts: Any) -> list[str]:
    found = read_texts(texts).strings()
    if found is None:
        raise InputError("`texts` are not UTF-8: expected texts.")
    return found


def _spans(places: np.ndarray) -> list[Span]:
    return [(start, end) for start, end in places.tolist()]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _check_spans(marked: Any, row: int, length: int) -> None:
    wish = f"pairs (start, end) of whole numbers from 0 to {length}"
    if not isinstance(marked, list | tuple | np.ndarray):
        raise InputError(f"`spans` of text {row} are {short(marked)}: expected a list of {wish}.")
    for span in marked:
        pair = isinstance(span, list | tuple | np.ndarray) and len(span) == 2
        if not pair or not all(
            isinstance(at, int | np.integer) and not isinstance(at, bool) and 0 <= at <= length for at in span
        ):
            raise InputError(f"`spans` of text {row} hold {short(span)}: expected {wish}.")
