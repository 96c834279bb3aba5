"""What an explanation shows, in a terminal and on a page: the marked text, a sentence, and both ledgers with bars."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from hardmax._format import pluralize, sanitize_line, sanitize_text, truncate
from hardmax.figures.palette import place_of_class
from hardmax.text._format import EXTRA_TOKEN
from hardmax.text.explain import Explanation, LedgerEntry

if TYPE_CHECKING:
    from rich.console import Group

WHOLE = 20_000  # characters: no longer text is shown whole
MOST_ROWS = 20
_MOST_NAMED, _MOST_LEADERS = 4, 10
_NAME, _BAR = 26, 10  # columns of a terminal for a token, and for half a bar
# How tokens look on a terminal, by the place of their class in the cycle of colours of pages and figures.
_LOOKS = ("blue", "red", "green", "yellow", "magenta", "cyan")


def leaders(why: Explanation) -> tuple[LedgerEntry, ...]:
    """The leaders to name: none without layers, since nobody follows them."""
    return why.leaders if why.model.layers else ()


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
        found.append(Piece(f"… {len(why.text) - len(shown):,} characters left out …", kind="left out"))
    return [piece for piece in found if piece.text]


def _marks(why: Explanation, size: int) -> list[tuple[int, int, LedgerEntry]]:
    """The active tokens that begin in the first `size` characters, in order, without overlaps."""
    taken, marks = bytearray(size), []
    for entry in sorted(why.active, key=lambda entry: (not entry.leads, -entry.leads * entry.mass, -abs(entry.vote))):
        for start, end in entry.places[: np.searchsorted(entry.places[:, 0], size)].tolist():
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (min(end, size) - start)
                marks.append((start, end, entry))
    return sorted(marks, key=lambda mark: mark[:2])


# ---------------------------------------------------------------- a sentence


class Bit(NamedTuple):
    """Part of a sentence: our own words, or a token with the number of the class that it counts towards."""

    text: str
    side: int | None = None


def sentence(why: Explanation) -> list[Bit]:
    """Which tokens lead, how many follow them, and how many have no effect; or why the text is undecided."""
    if not why.decided:
        reason = why.undecided_because
        return [Bit(f"{reason[0].upper()}{reason[1:]}.")]
    followers = Counter(entry.leader for entry in why.active if entry.leader != entry.word)
    named = leaders(why) or why.active
    others, alone = named[_MOST_NAMED:], followers[None] if leaders(why) else 0
    bits = [Bit("Leaders: " if leaders(why) else "Largest votes: ")]
    for n, entry in enumerate(named[:_MOST_NAMED]):
        name = "the extra token" if entry.word == EXTRA_TOKEN else entry.word
        number = followers[entry.word]
        many = f", {pluralize(number, 'follower')}" if number else ""
        bits += [Bit(", " if n else ""), Bit(name, entry.side), Bit(f" ({why.model.classes[entry.side]}{many})")]
    bits.append(Bit(f" and {len(others):,} more." if others else "."))
    inactive = why.known - len(why.active)
    if alone:
        bits.append(Bit(f" {pluralize(alone, 'token')} {'has' if alone == 1 else 'have'} no single leader."))
    if inactive:
        bits.append(Bit(f" {pluralize(inactive, 'known token')} {'has' if inactive == 1 else 'have'} no effect."))
    return bits


# ---------------------------------------------------------------- the ledgers


class Row(NamedTuple):
    """A line of a ledger: what it is about, what it adds to the logit, and what else is known of it."""

    name: str
    part: float
    beside: str = ""
    side: int | None = None
    leads: bool = False
    bar: float = 0.0
    """Its share of the largest vote, from -1 to 1, if it is a token."""


class Table(NamedTuple):
    """A ledger: the heads of its columns, and its lines, of which the last is the total."""

    title: str
    part: str
    beside: str
    rows: list[Row]


def tables(why: Explanation, most: int = MOST_ROWS) -> list[Table]:
    """Both ledgers: votes of the active tokens, and masses of the leaders, if there are any."""
    total = [Row("bias", why.bias), Row("logit", why.logit)]
    beside = "leader" if leaders(why) else ""
    found = [Table("active tokens", "vote", beside, [*_votes(why, most), *total])] if why.active else []
    return [*found, Table("leaders", "adds", "mass", [*_masses(why), *total])] if leaders(why) else found


def bar_heads(why: Explanation) -> tuple[str, str]:
    """The classes that votes to the left and to the right count towards."""
    return (str(why.model.classes[0]) if len(why.model.classes) == 2 else "other classes"), str(why.towards)


def _votes(why: Explanation, most: int) -> Iterator[Row]:
    """The active tokens, and in a line each what those left out and the inactive ones add."""
    shown, left = why.active[:most], why.active[most:]
    largest = max((abs(entry.vote) for entry in shown), default=0.0) or 1.0
    gather = bool(leaders(why))
    for entry in shown:
        leader = "" if not gather else "leads" if entry.leads else entry.leader or "several"
        yield Row(_named(entry), entry.vote, leader, entry.side, entry.leads and bool(leader), entry.vote / largest)
    if left:
        yield Row(f"… and {len(left):,} more", sum(entry.vote for entry in left))
    if why.known > len(why.active) or why.rest:
        number = why.known - len(why.active)
        yield Row(pluralize(number, "inactive token") if number else "extra token", why.rest)


def _masses(why: Explanation) -> Iterator[Row]:
    """The leaders, the neutral one apart, and all other tokens together."""
    shown, left = leaders(why)[:_MOST_LEADERS], leaders(why)[_MOST_LEADERS:]
    for entry in shown:
        yield Row(_named(entry), entry.contribution, percent(entry.mass), entry.side, leads=True)
    leading = {entry.word for entry in leaders(why)}
    neutral = [entry for entry in why.ledger if entry.leads and entry.word not in leading]
    rest = [entry for entry in why.ledger if not entry.leads and entry.word not in leading]
    groups = ((f"… and {len(left):,} more", left), ("neutral leader", neutral), (pluralize(len(rest), "other"), rest))
    for name, entries in groups:
        if entries:
            yield Row(name, sum(e.contribution for e in entries), percent(sum(e.mass for e in entries)))


def percent(share: float) -> str:
    """A share, for people."""
    return f"{100 * share:.1f} %"


def _named(entry: LedgerEntry) -> str:
    return f"{entry.word} ×{entry.count}" if entry.count > 1 else entry.word


# ---------------------------------------------------------------- in a terminal


def plain(why: Explanation) -> str:
    """The answer, a sentence, notes, and both ledgers with bars."""
    summary = "".join(sanitize_line(bit.text) for bit in sentence(why))
    return "\n".join([sanitize_line(why.answer), summary, *why.notes, *(line for line, _ in _lines(why))])


def colored(why: Explanation) -> "Group":
    """The marked text, and the same in the colours of the classes."""
    from rich.console import Group
    from rich.text import Text

    marked, summary = Text(), Text()
    for text, entry, kind in pieces(why):
        if kind:
            marked.append(f"\n{text}\n", "dim")
        else:
            marked.append(sanitize_text(text), "" if entry is None else _look(entry.side, why, strong=entry.leads))
    for text, side in sentence(why):
        summary.append(sanitize_line(text), "" if side is None else _look(side, why, strong=True))
    head = Text(sanitize_line(why.answer), "bold")
    lines = [Text(line, _color(side, why), no_wrap=True, overflow="crop") for line, side in _lines(why)]
    return Group(marked, Text(), head, summary, *(Text(note, "italic") for note in why.notes), *lines)


def _lines(why: Explanation) -> Iterator[tuple[str, int | None]]:
    """The lines of both ledgers, with the class of each."""
    against, towards = (truncate(sanitize_line(name), _BAR) for name in bar_heads(why))
    for table in tables(why):
        names = [truncate(sanitize_line(row.name), _NAME) for row in table.rows]
        width, has_bars = max(len(table.title), *map(len, names)), table.part == "vote"
        head = f"{against:>{_BAR}}│{towards:{_BAR}}  " if has_bars else ""
        yield "", None
        yield f"  {table.title:{width}} {table.part:>8}  {head}{table.beside}".rstrip(), None
        for name, row in zip(names, table.rows, strict=True):
            size = round(abs(row.bar) * _BAR)
            left, right = ("█" * size, "") if row.bar < 0 else ("", "█" * size)
            bar = f"{left:>{_BAR}}│{right:{_BAR}}  " if has_bars else ""
            beside = truncate(sanitize_line(row.beside), _NAME - 10)
            yield f"  {name:{width}} {row.part:>+8.3f}  {bar}{beside}".rstrip(), row.side


def _look(side: int, why: Explanation, *, strong: bool) -> str:
    """The look of a class; the second of two is reversed, so that colour is not the only difference."""
    place = int(place_of_class(side, len(why.model.classes)))
    return f"{_LOOKS[place % len(_LOOKS)]}{' reverse' * (place % 2)}{' bold underline' * strong}"


def _color(side: int | None, why: Explanation) -> str:
    return "" if side is None else _LOOKS[int(place_of_class(side, len(why.model.classes))) % len(_LOOKS)]
