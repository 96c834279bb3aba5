"""An explanation as HTML, in which nothing of the text is left unescaped: in a notebook, and as a page of its own.

A page loads nothing and runs nothing, works with the keyboard, on a phone, in the dark and on paper, and is smaller
than 200 KB. Whatever colour says is also said by a line, a shape or a word.
"""

from hardmax._format import escape_html, pluralize, sanitize_line, truncate
from hardmax.figures.palette import CYCLE, place_of_class
from hardmax.figures.text_svg import text_svg
from hardmax.text.explain.account import Account
from hardmax.text.explain.excerpt import WHOLE, Piece, pieces
from hardmax.text.explain.ledgers import Table, ledgers_of, unknown
from hardmax.text.explain.picture import scene_of
from hardmax.text.explain.sentence import Bit, sentence
from hardmax.text.wording import format_layers, format_probability

MOST_ROWS = 200
MOST_CLASSES = 6
LONGEST_NAME = 80  # characters of a word or a class
_LARGEST_TEXT = 130_000  # bytes of HTML: a text that takes more is cut further
_STRENGTHS = (12, 20, 28, 38)  # how much colour words have, in percent: the more they add, the more
_LINES = ("solid", "dashed", "dotted", "double")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CLASSES = "".join(
    f".hardmax .c{n}{{--hardmax-color:{CYCLE[n % len(CYCLE)]};--hardmax-line:{_LINES[n % len(_LINES)]}}}"
    for n in range(len(CYCLE) * 2)
)
_DEPTHS = "".join(f".hardmax .s{n}{{--hardmax-depth:{percent}%}}" for n, percent in enumerate(_STRENGTHS))
STYLE = f"""
.hardmax{{--hardmax-ground:var(--jp-layout-color0,Canvas);font-family:system-ui,sans-serif;line-height:1.5;
container-type:inline-size}}
{_CLASSES}
{_DEPTHS}
.hardmax-verdict{{font-size:1.5em;font-weight:400;margin:.2em 0 .1em}}
.hardmax-told{{font-size:1.1em;margin:.3em 0 .8em;max-width:44em}}
.hardmax-told b,.hardmax th i{{border-bottom:2px var(--hardmax-line) var(--hardmax-color);font-style:normal}}
.hardmax-bar{{display:flex;height:.55em;max-width:26em;gap:2px}}
.hardmax-bar i{{background:var(--hardmax-color);border-radius:2px;min-width:1px}}
.hardmax ul.hardmax-classes{{list-style:none;display:flex;flex-wrap:wrap;gap:.1em 1.2em;margin:.3em 0 1em;padding:0}}
.hardmax-classes i{{display:inline-block;width:1.1em;margin-inline-end:.4em;vertical-align:.2em;
border-bottom:3px var(--hardmax-line) var(--hardmax-color)}}
.hardmax-parts{{display:grid;gap:1.6em 2.4em;align-items:start}}
@container (min-width:46em){{.hardmax-parts{{grid-template:auto 1fr/minmax(0,1fr) minmax(0,1fr)}}
.hardmax-parts aside{{grid-area:1/2/3/3;position:sticky;top:1em}}}}
.hardmax-text{{white-space:pre-wrap;overflow-wrap:anywhere;max-width:46em;line-height:1.75;margin:0;
unicode-bidi:plaintext;text-align:start}}
.hardmax mark{{background:transparent;color:inherit;border-bottom:2px var(--hardmax-line) var(--hardmax-color);
border-radius:2px 2px 0 0;padding:.08em .1em 0;
background:color-mix(in srgb,var(--hardmax-color) var(--hardmax-depth),transparent)}}
.hardmax .leads{{font-weight:700}}
.hardmax .leads::after{{content:"\\2605";content:"\\2605" / "";font-size:.7em;vertical-align:super}}
.hardmax-gap{{display:block;font-size:.85em;opacity:.75;margin:.6em 0}}
.hardmax figure{{margin:0;max-width:36em}}
.hardmax figcaption,.hardmax-note{{font-size:.82em;opacity:.8;margin:.5em 0;overflow-wrap:anywhere}}
.hardmax-picture{{display:block;width:100%;height:auto;border-radius:6px}}
.hardmax-picture text{{font-size:13.5px;text-anchor:middle;fill:currentColor;stroke:var(--hardmax-ground);
stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}
.hardmax-picture .strong,.hardmax-picture .class{{font-weight:700}}
.hardmax-picture .class{{stroke-opacity:0}}
.hardmax-picture .border{{stroke-width:1.4}}
.hardmax-picture .join{{stroke-width:.7;stroke-opacity:.45}}
.hardmax-picture .word,.hardmax-picture .leader{{stroke:var(--hardmax-ground);stroke-width:.9}}
.hardmax-picture .extra{{fill:var(--hardmax-ground)}}
.hardmax-scroll{{width:fit-content;max-width:100%;max-height:30em;overflow:auto}}
.hardmax aside .hardmax-scroll{{margin-top:1.4em}}
.hardmax table{{border-collapse:collapse;margin:0;font-size:.92em;font-variant-numeric:tabular-nums}}
.hardmax caption{{text-align:start;font-weight:700;padding:.2em 0}}
.hardmax td,.hardmax th{{padding:.16em 1.2em .16em 0;text-align:end;font-weight:400;border:0;background:none;
vertical-align:baseline}}
.hardmax td:last-child,.hardmax th:last-child{{padding-inline-end:.4em}}
.hardmax tr>:nth-child(-n+2){{text-align:start;overflow-wrap:anywhere}}
.hardmax thead th{{position:sticky;top:0;background:var(--hardmax-ground);box-shadow:inset 0 -1px;font-size:.88em}}
.hardmax tbody tr:nth-child(even){{background:color-mix(in srgb,currentColor 4%,transparent)}}
.hardmax tbody tr:last-child>*{{position:sticky;bottom:0;background:var(--hardmax-ground);
box-shadow:inset 0 1px;font-weight:700}}
.hardmax :focus-visible{{outline:3px solid #56B4E9;outline-offset:2px}}
@media print{{.hardmax-scroll{{max-height:none;overflow:visible}}.hardmax figure,.hardmax tr{{break-inside:avoid}}
.hardmax *{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}}}
"""
PAGE_STYLE = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1b1b1b;--link:#004f7c}
@media (prefers-color-scheme:dark){:root{--ground:#15171b;--ink:#e9e9e9;--link:#8fd0f5}}
@media print{:root{color-scheme:light;--ground:#fff;--ink:#000}body{padding:0!important}}
body{margin:0;padding:1.4em clamp(1em,4vw,3em) 2.5em;background:var(--ground);color:var(--ink)}
body .hardmax{--hardmax-ground:var(--ground)}
main{max-width:78rem;margin:0 auto}
a{color:var(--link)}
article{border-top:1px solid color-mix(in srgb,currentColor 30%,transparent);margin-top:2.2em;padding-top:1em;
scroll-margin-top:1em}
.hardmax .hardmax-index{width:100%}
.hardmax .hardmax-index td,.hardmax .hardmax-index th{text-align:start;white-space:nowrap}
.hardmax .hardmax-index tbody tr:last-child>*{position:static;box-shadow:none;background:none;font-weight:400}
.hardmax .hardmax-index .hardmax-opening{white-space:normal;overflow-wrap:anywhere;width:99%}
@media (max-width:40em){.hardmax-opening a{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;
overflow:hidden}}
@media print{article{break-before:page;border:0}}
"""


def fragment(account: Account) -> str:
    """The text with the words that count marked (of a long one, what is around leaders), the picture, both ledgers."""
    return f'<div class="hardmax"><style>{STYLE}</style>{content(account, "p")}</div>'


def page(account: Account) -> str:
    """A page of its own."""
    head = f"{account.answer}: {opening(account.text)}"
    return document(head, f'<main class="hardmax">{content(account, "h1")}{footer(account)}</main>')


def document(title: str, body: str) -> str:
    """A whole document, which may load nothing and run nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape_html(title)}</title><style>{STYLE}{PAGE_STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def content(account: Account, heading: str) -> str:
    """What is said of a text, under a heading of that kind."""
    label, probability = short_name(account.label), f" {format_probability(account.probability)}"
    if not account.decided:
        label, probability = "undecided", ""
    verdict = f"<strong><bdi>{escape_html(label)}</bdi></strong>{escape_html(probability)}"
    head = f'<{heading} class="hardmax-verdict">{verdict}</{heading}>'
    notes = "".join(f"<p>{escape_html(line)}</p>" for line in unknown(account))
    *by_word, by_leader = (_table(table, account) for table in ledgers_of(account, MOST_ROWS))
    text = f'<div class="hardmax-text" dir="auto" lang="">{_text(account)}</div>'
    beside = f"<aside>{_picture(account) if account.known else ''}{by_leader}</aside>"
    parts = f'<div class="hardmax-parts">{text}{beside}{"".join(by_word)}</div>'
    return f"{head}{notes}{_told(account)}{_classes(account)}{parts}"


def opening(text: str, most: int = 60) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def footer(account: Account) -> str:
    """Which model it was, and how it walks."""
    facts = [
        f"{pluralize(account.known, 'known word')}",
        format_layers(account.layers),
        f"alpha {account.dynamics.alpha}",
        f"model {account.model_hash} (SHA-256)",
    ]
    return f'<p class="hardmax-note">{escape_html(" · ".join(facts))}</p>'


# ---------------------------------------------------------------- parts


def _told(account: Account) -> str:
    bits = "".join(_bit(bit, account) for bit in sentence(account))
    return f'<p class="hardmax-told">{bits}</p>' if bits else ""


def _bit(bit: Bit, account: Account) -> str:
    if bit.side is None:
        return escape_html(bit.text)
    return f'<b class="{_class_of(bit.side, account)}"><bdi>{escape_html(short_name(bit.text))}</bdi></b>'


def _classes(account: Account) -> str:
    """How probable the classes are, and how each is marked; of many, the most probable."""
    listed = sorted(enumerate(account.probabilities.items()), key=lambda each: -each[1][1])
    if len(listed) == 2:
        listed.sort()  # the first stays on the left
    listed, left = listed[:MOST_CLASSES], listed[MOST_CLASSES:]
    bar = "".join(f'<i class="{_class_of(c, account)}" style="flex:{p:.4f}"></i>' for c, (_, p) in listed)
    rest = f'<i style="flex:{sum(p for _, (_, p) in left):.4f}"></i>' if left else ""
    items = "".join(
        f'<li class="{_class_of(c, account)}"><i></i><bdi>{escape_html(short_name(name))}</bdi> '
        f"{escape_html(format_probability(p))}</li>"
        for c, (name, p) in listed
    )
    more = f"<li>and {'1 other class' if len(left) == 1 else f'{len(left):,} other classes'}</li>" if left else ""
    return (
        f'<div class="hardmax-bar" aria-hidden="true">{bar}{rest}</div><ul class="hardmax-classes">{items}{more}</ul>'
    )


def _text(account: Account) -> str:
    """The text, as much of it as a page has room for."""
    leaders = {leader.word for leader in account.leaders}
    largest = max((abs(vote.vote) for vote in account.counting), default=0.0) or 1.0
    tags = {
        vote.word: f'<mark class="{_class_of(vote.side, account)} s{_strength(vote.vote / largest)}'
        f'{" leads" if vote.word in leaders else ""}">'
        for vote in account.counting
    }
    shown, most = "", WHOLE
    while most >= WHOLE // 100:
        shown = "".join([_marked(piece, tags) for piece in pieces(account, most)])
        if len(shown.encode()) <= _LARGEST_TEXT:
            break
        most //= 3
    return shown


def _marked(piece: Piece, tags: dict[str, str]) -> str:
    """A piece of the text, escaped, in <mark> if it counts."""
    text = escape_html(piece.text)
    if piece.vote is not None:
        return f"{tags[piece.vote.word]}{text}</mark>"
    return f'<em class="hardmax-gap">{text}</em>' if piece.side == "left out" else text


def _strength(share: float) -> int:
    return min(int(len(_STRENGTHS) * abs(share)), len(_STRENGTHS) - 1)


def _picture(account: Account) -> str:
    scene = scene_of(account)
    window = scene.window()
    haze = f"words that say nothing ({len(scene.crowd):,}) are a grey blur" if scene.crowd else ""
    told = [
        "Words that count where they start, in the colour and shape of the class for which their leader speaks; lines "
        "lead to where they end",
        "★ a leader",
        "▲ the mean of all words after the last layer: its side of the line is the answer",
        haze,
        scene.remark,
        "" if window.aspect == window.drawn_aspect else "the axes have scales of their own",
    ]
    caption = escape_html("; ".join(part for part in told if part) + ".")
    alone = (
        f"The words of the text in the plane, and their mean on the side of {sanitize_line(short_name(account.label))}."
    )
    return f"<figure>{text_svg(scene, alone)}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table, account: Account) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_name(row.what, row.side, account)}</th>'
        f"<td>{_isolated(row.told)}</td><td>{row.part:+.3f}</td></tr>"
        for row in table.rows
    )
    towards = f"towards <bdi>{escape_html(short_name(account.towards))}</bdi>"
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("word", table.told, towards))
    label = f'role="region" aria-label="{table.what}" tabindex="0"'
    return (
        f'<div class="hardmax-scroll" {label}><table><caption>{table.what}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _name(what: str, side: int | None, account: Account) -> str:
    shown = _isolated(what)
    return shown if side is None else f'<i class="{_class_of(side, account)}">{shown}</i>'


def _isolated(text: str) -> str:
    return f"<bdi>{escape_html(short_name(text))}</bdi>" if text else ""


def _class_of(side: int, account: Account) -> str:
    """The look of a class."""
    return f"c{place_of_class(side, len(account.model.classes)) % (2 * len(CYCLE))}"


def short_name(name: object) -> str:
    """A word or the name of a class, cut if it is very long."""
    return truncate(str(name), LONGEST_NAME)
