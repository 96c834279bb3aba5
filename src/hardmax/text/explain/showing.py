"""An explanation as plain text for a terminal, and as HTML, in which nothing of the text is left unescaped."""

from hardmax.foreign import harmless_html, harmless_line
from hardmax.text.explain.account import Account, Share
from hardmax.text.explain.excerpt import Piece, pieces
from hardmax.wording import chance, counted

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# Okabe–Ito; a solid or dashed line says the same as the colour.
_STYLE = """
.hardmax{font-family:system-ui,sans-serif}
.hardmax-for{background:#0072b233;border-bottom:2px solid #0072b2;color:inherit}
.hardmax-against{background:#d55e0033;border-bottom:2px dashed #d55e00;color:inherit}
.hardmax-gap{opacity:.6}
.hardmax-text{white-space:pre-wrap;max-width:48em;line-height:1.6}
.hardmax table{border-collapse:collapse}.hardmax td,.hardmax th{padding:.1em .8em;text-align:right}
.hardmax td:first-child,.hardmax th:first-child{text-align:left}
"""


def plain(account: Account) -> str:
    """Label and probability, the leaders with their shares, and how the logit adds up."""
    rows = [(harmless_line(word), mass, f"{part:+.3f}") for word, mass, part in _rows(account)]
    width = max(len(word) for word, _, _ in rows)
    head = f"{harmless_line(account.label)}  {chance(account.probability)}"
    lines = [f"  {word:{width}}  {mass:>7}  {part:>9}" for word, mass, part in rows]
    title = f"  {'leaders':{width}}  {'mass':>7}  towards {harmless_line(account.towards)}"
    return "\n".join([head, *_unknown(account), title, *lines])


def fragment(account: Account) -> str:
    """The text with its leaders marked (of a long one, what is around them), and the account as a table."""
    head = f"<p><strong>{harmless_html(account.label)}</strong> {harmless_html(chance(account.probability))}</p>"
    notes = "".join(f"<p>{harmless_html(line)}</p>" for line in _unknown(account))
    rows = "".join(
        f"<tr><td>{harmless_html(word)}</td><td>{mass}</td><td>{part:+.3f}</td></tr>"
        for word, mass, part in _rows(account)
    )
    title = f"<tr><th>leaders</th><th>mass</th><th>towards {harmless_html(account.towards)}</th></tr>"
    text = f'<p class="hardmax-text">{"".join(map(_marked, pieces(account)))}</p>'
    return f'<div class="hardmax"><style>{_STYLE}</style>{head}{notes}{text}<table>{title}{rows}</table></div>'


def page(account: Account) -> str:
    """A page of its own, which loads nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{harmless_html(account.label)}</title></head><body>{fragment(account)}</body></html>\n"
    )


def _rows(account: Account) -> list[tuple[str, str, float]]:
    """(what, mass, contribution): the leaders, all other words together, the bias, the logit."""
    leaders = account.leaders
    others = [share for share in account.ledger if not share.leads]
    rows = [(_named(share), _percent(share.mass), share.contribution) for share in leaders]
    if others:
        mass, part = sum(share.mass for share in others), sum(share.contribution for share in others)
        rows.append((f"{counted(len(others), 'other word')}", _percent(mass), part))
    return [*rows, ("bias", "", account.bias), ("logit", "", account.logit)]


def _named(share: Share) -> str:
    return f"{share.word} ×{share.count}" if share.count > 1 else share.word


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _unknown(account: Account) -> list[str]:
    return [] if account.known else ["The model knows no word of this text: the answer says nothing about it."]


def _marked(piece: Piece) -> str:
    """A piece of the text, escaped, in <mark> if it leads."""
    text = harmless_html(piece.text)
    if piece.side == "left out":
        return f'\n<em class="hardmax-gap">{text}</em>\n'
    return f'<mark class="hardmax-{piece.side}">{text}</mark>' if piece.side else text
