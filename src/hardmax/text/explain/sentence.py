"""An explanation in one sentence: how many words follow whom."""

from collections import Counter
from typing import NamedTuple

from hardmax._format import EXTRA_TOKEN, pluralize
from hardmax.text.explain.account import Account

MOST_LEADERS = 4


class Bit(NamedTuple):
    """Part of a sentence: our own words, or a leader with the number of the class for which it speaks."""

    text: str
    side: int | None = None


def sentence(account: Account) -> list[Bit]:
    """“11 words follow well worth, 3 follow a mess; 96 say nothing.” Undecided where no token is active.

    Words are counted once, however often they are said; a leader is not counted among those that follow it.
    """
    silent = account.known - len(account.counting)
    if not account.counting:
        return [Bit("Undecided: no known word speaks.")]
    clauses = [*_following(account), *_others(account)]
    first, *rest = [bit for clause in clauses for bit in (Bit(", "), *clause)][1:]
    return [
        Bit(first.text[0].upper() + first.text[1:]),
        *rest,
        Bit(f"; {silent:,} {'says' if silent == 1 else 'say'} nothing." if silent else "."),
    ]


def _following(account: Account) -> list[list[Bit]]:
    """For each of the first leaders, how many follow it."""
    side = dict(zip(account.words, account.sides.tolist(), strict=True))
    followers = Counter(vote.leader for vote in account.counting if vote.leader != vote.word)
    return [
        [
            Bit(f"{_so_many(followers[leader.word], is_first=not n)} "),
            Bit("the extra token" if leader.word == EXTRA_TOKEN else leader.word, side[leader.word]),
        ]
        for n, leader in enumerate(account.leaders[:MOST_LEADERS])
    ]


def _others(account: Account) -> list[list[Bit]]:
    """Those who follow further leaders, and those who follow nobody alone."""
    leaders = [leader.word for leader in account.leaders]
    further = set(leaders[MOST_LEADERS:])
    clauses = []
    if further:
        number = sum(vote.leader in further and vote.leader != vote.word for vote in account.counting)
        clauses.append([Bit(f"{_so_many(number)} {pluralize(len(further), 'other leader')}")])
    alone = sum(vote.leader is None and vote.word not in leaders for vote in account.counting)
    if alone:
        clauses.append([Bit(f"{_so_many(alone, is_first=not leaders)} nobody alone")])
    return clauses


def _so_many(number: int, *, is_first: bool = False) -> str:
    """So many follow; the first time it is said who.

    >>> _so_many(1, is_first=True), _so_many(3), _so_many(0)
    ('1 word follows', '3 follow', 'none follow')
    """
    noun = " word" if number == 1 else " words"
    many = f"{number:,}" if number else "no" if is_first else "none"
    return f"{many}{noun if is_first else ''} {'follows' if number == 1 else 'follow'}"
