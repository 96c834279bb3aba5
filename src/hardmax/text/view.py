"""What an explanation shows, in a terminal and on a page: the marked text, a sentence, and the
ledger with bars."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from hardmax._common.format import pluralize, sanitize_line, sanitize_text, truncate
from hardmax.figures.palette import place_of_class
from hardmax.text.explain import Explanation, LedgerEntry

if TYPE_CHECKING:
    from rich.console import Group

WHOLE = 20_000  # characters: no longer text is shown whole
MOST_ROWS = 20
_MOST_NAMED = 4
_NAME, _BAR, _BESIDE = (
    26,
    10,
    30,
)  # columns of a terminal for a token, for half a bar, for what it attends to
# How tokens look on a terminal, by the place of their class in the cycle of colours of pages and
# figures.
_LOOKS = ("blue", "red", "green", "yellow", "magenta", "cyan")


# ---------------------------------------------------------------- the text


class Piece(NamedTuple):
    """Some characters of the text, perhaps an active token; or a remark about what is left out."""

    text: str
    entry: LedgerEntry | None = None
    kind: Literal["", "left out"] = ""


def pieces(why: Explanation) -> list[Piece]:
    """The text, active tokens apart; where they overlap, leaders come first, then larger votes.

    Of a text of more than `WHOLE` characters the beginning is there.
    """
    shown, found, at = why.text[:WHOLE], [], 0
    for start, end, entry in _marks(why, len(shown)):
        found += [Piece(shown[at:start]), Piece(shown[start:end], entry)]
        at = end
    found.append(Piece(shown[at:]))
    if len(shown) < len(why.text):
        found.append(
            Piece(f"… {len(why.text) - len(shown):,} characters left out …", kind="left out")
        )
    return [piece for piece in found if piece.text]


def _marks(why: Explanation, size: int) -> list[tuple[int, int, LedgerEntry]]:
    """The active tokens that begin in the first `size` characters, in order, without overlaps."""
    taken, marks = bytearray(size), []
    for entry in sorted(why.active, key=lambda entry: (not entry.leads, -abs(entry.vote))):
        for start, end in entry.places[: np.searchsorted(entry.places[:, 0], size)].tolist():
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (min(end, size) - start)
                marks.append((start, end, entry))
    return sorted(marks, key=lambda mark: mark[:2])


# ---------------------------------------------------------------- a sentence


class Bit(NamedTuple):
    """Part of a sentence: our own words, or a token with the number of the class that it counts
    towards."""

    text: str
    side: int | None = None


def sentence(why: Explanation) -> list[Bit]:
    """The strongest tokens, what they attend to, and how many have no effect; or why the text is
    undecided."""
    if not why.decided:
        reason = why.undecided_because
        return [Bit(f"{reason[0].upper()}{reason[1:]}.")]
    named, others = why.leaders[:_MOST_NAMED], why.leaders[_MOST_NAMED:]
    followers = Counter(entry.leader for entry in why.active if entry.leader != entry.word)
    bits = [Bit("Strongest: ")]
    for n, entry in enumerate(named):
        by = f" ← {', '.join(entry.modifiers)}" if entry.modifiers else ""
        agree = f", {followers[entry.word]:,} more agree" if followers[entry.word] else ""
        bits += [Bit(", " if n else ""), Bit(entry.word + by, entry.side)]
        bits.append(Bit(f" ({why.model.classes[entry.side]}{agree})"))
    bits.append(Bit(f" and {len(others):,} more." if others else "."))
    inactive = why.known - len(why.active)
    if inactive:
        bits.append(
            Bit(
                f" {pluralize(inactive, 'known token')} {'has' if inactive == 1 else 'have'} no effect."
            )
        )
    return bits


# ---------------------------------------------------------------- the ledger


class Row(NamedTuple):
    """A line of the ledger: what it is about, what it adds to the logit, and what it attends to."""

    name: str
    part: float
    beside: str = ""
    side: int | None = None
    leads: bool = False
    bar: float = 0.0
    """Its share of the largest vote, from -1 to 1, if it is a token."""


def rows(why: Explanation, most: int = MOST_ROWS) -> list[Row]:
    """The active tokens, the bias and the logit; those that are left out in one line. They add
    up."""
    shown, left = why.active[:most], why.active[most:]
    largest = max((abs(entry.vote) for entry in shown), default=0.0) or 1.0
    found = [
        Row(
            _named(entry), entry.vote, attends(entry), entry.side, entry.leads, entry.vote / largest
        )
        for entry in shown
    ]
    if left:
        found.append(Row(f"… and {len(left):,} more", sum(entry.vote for entry in left)))
    return [*found, Row("bias", why.bias), Row("logit", why.logit)] if why.active else []


def attends(entry: LedgerEntry) -> str:
    """The words that modify a token, and what its vote would be without them."""
    return f"← {', '.join(entry.modifiers)}, else {entry.weight:+.3f}" if entry.modifiers else ""


def bar_heads(why: Explanation) -> tuple[str, str]:
    """The classes that votes to the left and to the right count towards."""
    return (str(why.model.classes[0]) if len(why.model.classes) == 2 else "other classes"), str(
        why.towards
    )


def _named(entry: LedgerEntry) -> str:
    return f"{entry.word} ×{entry.count}" if entry.count > 1 else entry.word


# ---------------------------------------------------------------- in a terminal


def plain(why: Explanation) -> str:
    """The answer, a sentence, notes, and the ledger with bars."""
    summary = "".join(sanitize_line(bit.text) for bit in sentence(why))
    return "\n".join(
        [sanitize_line(why.answer), summary, *why.notes, *(line for line, _ in _lines(why))]
    )


def colored(why: Explanation) -> "Group":
    """The marked text, and the same in the colours of the classes."""
    from rich.console import Group
    from rich.text import Text

    marked, summary = Text(), Text()
    for text, entry, kind in pieces(why):
        if kind:
            marked.append(f"\n{text}\n", "dim")
        else:
            marked.append(
                sanitize_text(text),
                "" if entry is None else _look(entry.side, why, strong=entry.leads),
            )
    for text, side in sentence(why):
        summary.append(sanitize_line(text), "" if side is None else _look(side, why, strong=True))
    head = Text(sanitize_line(why.answer), "bold")
    lines = [
        Text(line, _color(side, why), no_wrap=True, overflow="crop") for line, side in _lines(why)
    ]
    return Group(
        marked, Text(), head, summary, *(Text(note, "italic") for note in why.notes), *lines
    )


def _lines(why: Explanation) -> Iterator[tuple[str, int | None]]:
    """The lines of the ledger, with the class of each."""
    against, towards = (truncate(sanitize_line(name), _BAR) for name in bar_heads(why))
    listed = rows(why)
    names = [truncate(sanitize_line(row.name), _NAME) for row in listed]
    width = max(map(len, ["token", *names]))
    if listed:
        yield "", None
        yield (
            f"  {'token':{width}} {'vote':>8}  {against:>{_BAR}}│{towards:{_BAR}}  attends to".rstrip(),
            None,
        )
    for name, row in zip(names, listed, strict=True):
        size = round(abs(row.bar) * _BAR)
        left, right = ("█" * size, "") if row.bar < 0 else ("", "█" * size)
        beside = truncate(sanitize_line(row.beside), _BESIDE)
        yield (
            f"  {name:{width}} {row.part:>+8.3f}  {left:>{_BAR}}│{right:{_BAR}}  {beside}".rstrip(),
            row.side,
        )


def _look(side: int, why: Explanation, *, strong: bool) -> str:
    """The look of a class; the second of two is reversed, so that colour is not the only
    difference."""
    place = int(place_of_class(side, len(why.model.classes)))
    return f"{_LOOKS[place % len(_LOOKS)]}{' reverse' * (place % 2)}{' bold underline' * strong}"


def _color(side: int | None, why: Explanation) -> str:
    return (
        ""
        if side is None
        else _LOOKS[int(place_of_class(side, len(why.model.classes))) % len(_LOOKS)]
    )
