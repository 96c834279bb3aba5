"""An explanation as plain text for a terminal, and as HTML, in which nothing of the text is left unescaped."""

from typing import NamedTuple

from hardmax.figures.palette import AGAINST, FOR
from hardmax.foreign import harmless_html, harmless_line
from hardmax.text.explain.account import Account, Share, Vote
from hardmax.text.explain.excerpt import Piece, pieces
from hardmax.wording import EXTRA, chance, counted

MOST_ROWS, MOST_ROWS_OF_A_PAGE = 20, 200
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# A solid or dashed line says the same as the colour, and a star the same as bold letters.
_STYLE = f"""
.hardmax{{font-family:system-ui,sans-serif}}
.hardmax-for{{background:{FOR}33;border-bottom:2px solid {FOR};color:inherit}}
.hardmax-against{{background:{AGAINST}33;border-bottom:2px dashed {AGAINST};color:inherit}}
.hardmax-leads{{font-weight:700}}.hardmax-leads::after{{content:"\\2605";font-size:.7em;vertical-align:super}}
.hardmax-gap{{opacity:.6}}
.hardmax-text{{white-space:pre-wrap;max-width:48em;line-height:1.6}}
.hardmax table{{border-collapse:collapse;margin:0 0 1em}}.hardmax td,.hardmax th{{padding:.1em .8em;text-align:right}}
.hardmax td:first-child,.hardmax th:first-child{{text-align:left}}
"""


class Row(NamedTuple):
    """A line of a ledger: what it is about, what is told of it, and what it adds."""

    what: str
    told: str
    part: float


class Table(NamedTuple):
    """A ledger: what its columns are called, and its lines."""

    what: str
    told: str
    rows: list[Row]


def plain(account: Account) -> str:
    """Label and probability, the words that count, the leaders with their shares, and how both add up."""
    head = f"{harmless_line(account.label)}  {chance(account.probability)}"
    tables = [_lines(table, harmless_line(account.towards)) for table in _tables(account, MOST_ROWS)]
    return "\n".join([head, *_unknown(account), *(line for lines in tables for line in lines)])


def fragment(account: Account) -> str:
    """The text with the words that count marked (of a long one, what is around leaders), and both ledgers as tables."""
    head = f"<p><strong>{harmless_html(account.label)}</strong> {harmless_html(chance(account.probability))}</p>"
    notes = "".join(f"<p>{harmless_html(line)}</p>" for line in _unknown(account))
    text = f'<p class="hardmax-text">{"".join(map(_marked, pieces(account)))}</p>'
    tables = "".join(_html(table, account.towards) for table in _tables(account, MOST_ROWS_OF_A_PAGE))
    return f'<div class="hardmax"><style>{_STYLE}</style>{head}{notes}{text}{tables}</div>'


def page(account: Account) -> str:
    """A page of its own, which loads nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{harmless_html(account.label)}</title></head><body>{fragment(account)}</body></html>\n"
    )


def _tables(account: Account, most: int) -> list[Table]:
    """Both ledgers; that by word only where there are words."""
    ends = [Row("bias", "", account.bias), Row("logit", "", account.logit)]
    by_leader = Table("leaders", "mass", [*_leaders(account), *ends])
    if not account.known:
        return [by_leader]
    return [Table("words that count", "follows", [*_votes(account, most), *ends]), by_leader]


def _votes(account: Account, most: int) -> list[Row]:
    """The words that count, at most so many, and what the rest adds."""
    shown, left = account.counting[:most], account.counting[most:]
    rows = [Row(_named(vote), _followed(vote), vote.vote) for vote in shown]
    if left:
        rows.append(Row(f"… and {len(left):,} more", "", sum(vote.vote for vote in left)))
    if len(account.counting) < len(account.ledger):
        told = (f"{_percent(account.neutral)} of the words", "neutral leader") if _neutral(account) else (EXTRA, "")
        rows.append(Row(*told, account.rest))
    return rows


def _leaders(account: Account) -> list[Row]:
    """The leaders, the neutral one apart, and all other words together."""
    leaders, known = account.leaders, {share.word for share in account.leaders}
    rows = [Row(_named(share), _percent(share.mass), share.contribution) for share in leaders]
    others = [share for share in account.ledger if share.word not in known]
    for extra in _neutral(account):
        others.remove(extra)
        rows.append(Row("neutral leader", _percent(extra.mass), extra.contribution))
    if others:
        mass, part = sum(share.mass for share in others), sum(share.contribution for share in others)
        rows.append(Row(f"{counted(len(others), 'other word')}", _percent(mass), part))
    return rows


def _neutral(account: Account) -> list[Share]:
    """The neutral leader, where there is one and it leads."""
    return [share for share in account.ledger if account.has_neutral and share.leads and share.word == EXTRA]


def _lines(table: Table, towards: str) -> list[str]:
    rows = [(harmless_line(what), harmless_line(told), f"{part:+.3f}") for what, told, part in table.rows]
    first = max(len(table.what), *(len(what) for what, _, _ in rows))
    second = max(7, *(len(told) for _, told, _ in rows))
    title = f"  {table.what:{first}}  {table.told:>{second}}  towards {towards}"
    return [title, *(f"  {what:{first}}  {told:>{second}}  {part:>9}" for what, told, part in rows)]


def _html(table: Table, towards: object) -> str:
    rows = "".join(
        f"<tr><td>{harmless_html(what)}</td><td>{harmless_html(told)}</td><td>{part:+.3f}</td></tr>"
        for what, told, part in table.rows
    )
    title = f"<tr><th>{table.what}</th><th>{table.told}</th><th>towards {harmless_html(towards)}</th></tr>"
    return f"<table>{title}{rows}</table>"


def _named(word: Share | Vote) -> str:
    return f"{word.word} ×{word.count}" if word.count > 1 else word.word


def _followed(vote: Vote) -> str:
    return "leads" if vote.leader == vote.word else vote.leader or "nobody alone"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _unknown(account: Account) -> list[str]:
    return [] if account.known else ["The model knows no word of this text: the answer says nothing about it."]


def _marked(piece: Piece) -> str:
    """A piece of the text, escaped, in <mark> if it counts."""
    text = harmless_html(piece.text)
    if piece.side == "left out":
        return f'\n<em class="hardmax-gap">{text}</em>\n'
    leads = " hardmax-leads" if piece.leads else ""
    return f'<mark class="hardmax-{piece.side}{leads}">{text}</mark>' if piece.side else text
