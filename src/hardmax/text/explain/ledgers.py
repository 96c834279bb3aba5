"""Both ledgers of an explanation as tables of a few lines, for a terminal and for a page."""

from typing import NamedTuple

from hardmax._format import EXTRA_TOKEN, pluralize
from hardmax.text.explain.account import Account, Share, Vote


class Row(NamedTuple):
    """A line of a ledger: what it is about, what is told of it, what it adds, and for which class, where that is
    plain."""

    what: str
    told: str
    part: float
    side: int | None = None
    leads: bool = False


class Table(NamedTuple):
    """A ledger: what its columns are called, and its lines."""

    what: str
    told: str
    rows: list[Row]


def ledgers_of(account: Account, most: int) -> list[Table]:
    """Both ledgers, of the one by word at most so many words; that by word only where there are words."""
    ends = [Row("bias", "", account.bias), Row("logit", "", account.logit)]
    by_leader = Table("leaders", "mass", [*_leaders(account), *ends])
    if not account.known:
        return [by_leader]
    return [Table("words that count", "follows", [*_votes(account, most), *ends]), by_leader]


def unknown(account: Account) -> list[str]:
    """What a reader must be told of a text of which the model knows nothing."""
    return [] if account.known else ["The model knows no word of this text."]


def percent(share: float) -> str:
    """A share, for people."""
    return f"{100 * share:.1f} %"


def _votes(account: Account, most: int) -> list[Row]:
    """The words that count, at most so many, and what the rest adds."""
    shown, left = account.counting[:most], account.counting[most:]
    rows = [Row(_named(vote), _followed(vote), vote.vote, vote.side, vote.leader == vote.word) for vote in shown]
    if left:
        rows.append(Row(f"… and {len(left):,} more", "", sum(vote.vote for vote in left)))
    if len(account.counting) < len(account.ledger):
        told = (
            (f"{percent(account.neutral)} of the words", "neutral leader") if _neutral(account) else (EXTRA_TOKEN, "")
        )
        rows.append(Row(*told, account.rest))
    return rows


def _leaders(account: Account) -> list[Row]:
    """The leaders, the neutral one apart, and all other words together."""
    leaders, known = account.leaders, {share.word for share in account.leaders}
    side = dict(zip(account.words, account.sides.tolist(), strict=True))
    rows = [
        Row(_named(share), percent(share.mass), share.contribution, side[share.word], leads=True) for share in leaders
    ]
    others = [share for share in account.ledger if share.word not in known]
    for extra in _neutral(account):
        others.remove(extra)
        rows.append(Row("neutral leader", percent(extra.mass), extra.contribution))
    if others:
        mass, part = sum(share.mass for share in others), sum(share.contribution for share in others)
        rows.append(Row(f"{pluralize(len(others), 'other word')}", percent(mass), part))
    return rows


def _neutral(account: Account) -> list[Share]:
    """The neutral leader, where there is one and it leads."""
    return [share for share in account.ledger if account.has_neutral and share.leads and share.word == EXTRA_TOKEN]


def _named(word: Share | Vote) -> str:
    return f"{word.word} ×{word.count}" if word.count > 1 else word.word


def _followed(vote: Vote) -> str:
    return "leads" if vote.leader == vote.word else vote.leader or "nobody"
