"""What an explanation shows, in a terminal and on a page: the marked text, a sentence, and the
ledger with bars."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hardmax._common.format import sanitize_line, truncate

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation, LedgerEntry, Link

WHOLE = 20_000  # characters: no longer text is shown whole
MOST_ROWS = 10
SIZEABLE = 0.1  # of the largest vote: modifiers that change a vote by more are shown in the text
_MOST_NAMED = 4
_NAME, _BAR, _BESIDE = 26, 10, 30  # columns for a token, half a bar, and what it attends to
_ROOM = 44  # columns for a token and what it attends to, so that a line has 80


class Piece(NamedTuple):
    """Some characters of the text, of one active token or of none, or of a sentence about it."""

    text: str
    entry: "LedgerEntry | None" = None
    link: "Link | None" = None
    """What the token attends to here, if that changes its vote by much."""
    is_gap: bool = False
    """Whether it says how much of the text is left out."""


def pieces(why: "Explanation") -> list[Piece]:
    """The text, active tokens apart; where they overlap, leaders come first, then larger votes.

    Of a text of more than `WHOLE` characters the beginning is there.
    """
    shown, end_of_last = why.text[:WHOLE], 0
    links = why.links[: bisect_left(why.links, len(shown), key=lambda link: link.span[0])]
    own = {entry.word: entry.weight for entry in why.active}
    least = SIZEABLE * abs(why.active[0].vote) if why.active else 0.0
    link_at = {
        (link.word, link.span[0]): link
        for link in links
        if abs((link.factor - 1) * own.get(link.word, 0.0) + link.shift) > least
    }
    parts = []
    for start, end, entry in _marks(why, len(shown)):
        link = link_at.get((entry.word, start))
        parts += [Piece(shown[end_of_last:start]), Piece(shown[start:end], entry, link)]
        end_of_last = end
    parts.append(Piece(shown[end_of_last:]))
    left_out = len(why.text) - len(shown)
    if left_out:
        parts.append(Piece(f"… {left_out:,} characters left out …", is_gap=True))
    return [piece for piece in parts if piece.text]


def told(entry: "LedgerEntry") -> str:
    """What a token says; and what it attends to, and what it would say without."""
    vote = f"{truncate(entry.word, _BESIDE)}: vote {entry.vote:+.3f}"
    beside = LedgerRow("", 0.0, entry).beside
    return f"{vote} {truncate(beside, 2 * _BESIDE)}" if beside else vote


def _marks(why: "Explanation", size: int) -> "list[tuple[int, int, LedgerEntry]]":
    """The active tokens that begin in the first `size` characters, in order, without overlaps."""
    taken, marks = bytearray(size), []
    for entry in sorted(why.active, key=lambda entry: not entry.leads):
        for start, end in entry.spans:
            if start < size and taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (min(end, size) - start)
                marks.append((start, end, entry))
    return sorted(marks, key=lambda mark: mark[:2])


def sentence(why: "Explanation") -> list[Piece]:
    """The strongest votes for the label and against it, and what they attend to; or why the text
    is undecided."""
    if not why.decided:
        reason = why.undecided_because
        return [Piece(f"{reason[0].upper()}{reason[1:]}.")]
    sides: dict[str, list[LedgerEntry]] = {"Because of": [], "Against": []}
    label = why.model.classes.index(why.label)
    for entry in why.active:
        sides["Because of" if entry.class_index == label else "Against"].append(entry)
    parts = []
    for name, entries in sides.items():
        unnamed = len(entries) - _MOST_NAMED
        for number, entry in enumerate(entries[:_MOST_NAMED]):
            before = ", " if number else f"{name}: "
            parts += [Piece(before), Piece(with_modifiers(entry), entry)]
        parts.append(Piece(f" and {unnamed:,} more. " if unnamed > 0 else ". " * bool(entries)))
    return parts


def gathers(why: "Explanation") -> bool:
    """Whether tokens move towards their leaders, which are shown then."""
    return why.model.rule.alpha != "0"


def with_modifiers(entry: "LedgerEntry") -> str:
    """A token and the words that modify it."""
    return f"{entry.word} ← {', '.join(entry.modifiers)}" if entry.modifiers else entry.word


class LedgerRow(NamedTuple):
    """A line of the ledger: what it is about, and what it adds to the logit."""

    name: str
    vote: float
    entry: "LedgerEntry | None" = None
    """The token, if it is about one."""
    bar: float = 0.0
    """Its share of the largest vote, from -1 to 1."""

    @property
    def beside(self) -> str:
        """The words that modify the token, and what its vote would be without them."""
        if self.entry is None or not self.entry.modifiers:
            return ""
        return f"← {', '.join(self.entry.modifiers)}, else {self.entry.weight:+.3f}"


def rows(why: "Explanation", most: int = MOST_ROWS) -> list[LedgerRow]:
    """The active tokens, the bias and the logit; those that are left out in one line. They add
    up."""
    if not why.active:
        return []
    largest, left_out = abs(why.active[0].vote) or 1.0, why.active[most:]
    listed = []
    for entry in why.active[:most]:
        name = f"{entry.word} ×{entry.count}" if entry.count > 1 else entry.word
        listed.append(LedgerRow(name, entry.vote, entry, entry.vote / largest))
    if left_out:
        rest = sum(entry.vote for entry in left_out)
        name = f"{len(left_out):,} more, each ≤ {abs(left_out[0].vote):.3f}"
        listed.append(LedgerRow(name, rest))
    return [*listed, LedgerRow("bias", why.bias), LedgerRow("logit", why.logit)]


def bar_heads(why: "Explanation") -> tuple[str, str]:
    """The classes that votes to the left and to the right count towards."""
    classes = why.model.classes
    against = classes[0] if len(classes) == 2 else "other classes"
    return str(against), str(why.positive_class)


# ---------------------------------------------------------------- in a terminal


def plain(why: "Explanation") -> str:
    """The answer, a sentence, notes, and the ledger with bars."""
    summary = "".join(sanitize_line(part.text) for part in sentence(why)).rstrip()
    return "\n".join([sanitize_line(why.answer), summary, *why.notes, *_lines(why)])


def _lines(why: "Explanation") -> Iterator[str]:
    """The lines of the ledger."""
    listed = rows(why)
    if not listed:
        return
    against, positive = (truncate(sanitize_line(name), _BAR) for name in bar_heads(why))
    names = [truncate(sanitize_line(row.name), _NAME) for row in listed]
    width = max(map(len, ["token", *names]))
    heads = f"{against:>{_BAR}}│{positive:{_BAR}}"
    yield ""
    yield f"  {'token':{width}} {'vote':>8}  {heads}  attends to"
    for name, row in zip(names, listed, strict=True):
        bar = "█" * round(abs(row.bar) * _BAR)
        bars = f"{bar:>{_BAR}}│{'':{_BAR}}" if row.bar < 0 else f"{'':{_BAR}}│{bar:{_BAR}}"
        beside = truncate(sanitize_line(row.beside), _ROOM - width)
        yield f"  {name:{width}} {row.vote:>+8.3f}  {bars}  {beside}".rstrip()
