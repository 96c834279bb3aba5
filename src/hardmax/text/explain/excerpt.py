"""The text of an explanation in pieces, the words that count marked, and leaders among them.

Of a long text only the opening and the neighbourhood of leaders are there, with a word about what is left out, so that
nobody has to scroll through a book.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

import numpy as np

from hardmax.text.explain.account import Account, Share, Vote

WHOLE = 20_000  # characters: no longer text is shown whole, nor is more than this shown of one that is longer
AROUND = 200  # characters on either side of a leader
_TIMES = 5  # of a leader that is said often, the first few are shown
_NEAR_SPACE = 30  # characters in which to find a space, so that words are not cut

Side = Literal["", "for", "against", "left out"]
Span = tuple[int, int]
Mark = tuple[int, int, Side, bool, Vote]


@dataclass(frozen=True)
class Piece:
    """Some characters: plain text, a word that counts for or against, or a word about what is left out."""

    text: str
    side: Side = ""
    leads: bool = False
    vote: Vote | None = None  # of the word that counts


def pieces(account: Account, most: int = WHOLE) -> list[Piece]:
    """The text from its beginning to its end. Where words overlap, leaders come first, by mass, then larger votes.

    Of a text of more than `most` characters, so many are there.
    """
    text = account.text
    windows = windows_around(text, _places(account.leaders), most)
    marks = _marks(account, windows)
    found, at = [], 0
    for first, last in windows:
        found += _left_out(at, first)
        found += _inside(text, first, last, marks)
        at = last
    return [piece for piece in [*found, *_left_out(at, len(text))] if piece.text]


def _places(leaders: tuple[Share, ...]) -> Iterator[int]:
    for time in range(_TIMES):
        for leader in leaders:
            yield from leader.places[time : time + 1].ravel().tolist()  # the two ends of a phrase may be far apart


def windows_around(text: str, places: Iterable[int], most: int = WHOLE) -> list[Span]:
    """What is shown, in order, without overlaps: a text of up to `most` characters as a whole, of a longer one the
    opening and what is around the places, the first ones first."""
    if len(text) <= most:
        return [(0, len(text))]
    windows = [_window(text, place) for place in islice(chain([0], places), most // (2 * AROUND))]
    merged: list[Span] = []
    for first, last in sorted(windows):
        if merged and first <= merged[-1][1]:
            first, last = merged[-1][0], max(last, merged.pop()[1])
        merged.append((first, last))
    return merged


def _window(text: str, place: int) -> Span:
    """The neighbourhood of a place, from space to space."""
    first, last = max(0, place - AROUND), min(len(text), place + AROUND)
    if first > 0:
        first = max(first, text.find(" ", first, first + _NEAR_SPACE) + 1)
    if last < len(text):
        space = text.rfind(" ", last - _NEAR_SPACE, last)
        last = space if space >= 0 else last
    return first, last


def _marks(account: Account, windows: list[Span]) -> list[Mark]:
    """The words that count and stand in the windows, in order, without overlaps."""
    taken, marks = bytearray(len(account.text)), []
    mass = {share.word: share.mass for share in account.leaders}

    def rank(vote: Vote) -> tuple[float, float]:
        return -mass.get(vote.word, -1.0), -abs(vote.vote)

    for vote in sorted(account.counting, key=rank):
        side: Side = "for" if vote.vote >= 0 else "against"
        for start, end in _standing_in(windows, vote.places):
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                marks.append((start, end, side, vote.word in mass, vote))
    return sorted(marks, key=lambda mark: mark[:2])


def _standing_in(windows: list[Span], places: np.ndarray) -> list[list[int]]:
    starts, ends = places[:, 0], places[:, 1]  # both increase
    reached = [
        np.arange(np.searchsorted(ends, first, side="right"), np.searchsorted(starts, last, side="left"))
        for first, last in windows
    ]
    return places[np.unique(np.concatenate(reached))].tolist()


def _inside(text: str, first: int, last: int, marks: list[Mark]) -> list[Piece]:
    """The pieces of one window; a mark that reaches beyond it is cut."""
    found, at = [], first
    for start, end, side, leads, vote in marks:
        if start < last and first < end:
            start, end = max(start, first), min(end, last)
            found += [Piece(text[at:start]), Piece(text[start:end], side, leads, vote)]
            at = end
    return [*found, Piece(text[at:last])]


def _left_out(first: int, last: int) -> list[Piece]:
    return [Piece(f"… {last - first:,} characters left out …", "left out")] if first < last else []
