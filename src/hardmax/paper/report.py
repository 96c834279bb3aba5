"""One page about all that was made: every picture with its caption, what the numbers say, and every difference."""

from collections.abc import Iterator, Sequence
from typing import Any

from hardmax._format import escape_html, pluralize
from hardmax.paper.differences import DIFFERENCES
from hardmax.paper.reproducing import Made

NAME = "report.html"
_POLICY = "default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'"
_MOST_ROWS = 40  # of a table, on the page
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.55 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem}
h1{line-height:1.2}h2{margin-top:3rem;border-top:1px solid #8886;padding-top:1rem}
nav ul{columns:16rem;padding-left:1.2rem}
figure{margin:1rem 0}figure img{max-width:100%;height:auto;background:#fff;border-radius:4px}
figcaption,.files{font-size:.9rem;opacity:.85}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;margin:1rem 0}
th,td{padding:.15rem .8rem .15rem 0;text-align:right;font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}th{border-bottom:1px solid #8888}
dt{font-weight:600;margin-top:.7rem}dd{margin:0}
@media print{h2,figure,table{break-inside:avoid}}
"""


def write_report(made: Sequence[Made], facts: dict[str, Any]) -> str:
    """The page, which loads nothing but the pictures beside it. `facts` are what it was made with."""
    contents = "".join(f'<li><a href="#{one.piece.name}">{_text(one.piece.title)}</a></li>' for one in made)
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    return "".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>The paper, reproduced</title><style>{_STYLE}</style></head><body><main>",
            "<h1>The paper, reproduced</h1>",
            "<p>Alcalde, Fantuzzi and Zuazua, <cite>Clustering in pure-attention hardmax transformers and its role in ",
            "sentiment analysis</cite>: its figures and its table made again, beside the authors’ numbers where they ",
            "were published, and what exact arithmetic adds to what the paper leaves open.</p>",
            f"<p>{pluralize(len(made), 'piece')}, made with {_text(told)}.</p>",
            f"<nav><ul>{contents}",
            '<li><a href="#differences">What is different, and why</a></li></ul></nav>',
            *(_section(one) for one in made),
            '<section id="differences"><h2>What is different, and why</h2><dl>',
            *(f"<dt>{_text(what)}</dt><dd>{_text(how)}</dd>" for what, how in DIFFERENCES),
            "</dl></section></main></body></html>\n",
        ]
    )


def _section(made: Made) -> str:
    return "".join([f'<section id="{made.piece.name}"><h2>{_text(made.piece.title)}</h2>', *_parts(made), "</section>"])


def _parts(made: Made) -> Iterator[str]:
    piece = made.piece
    for number, picture in enumerate(made.pictures):
        caption = f"<figcaption>{_text(piece.caption)}</figcaption>" if number == len(made.pictures) - 1 else ""
        alt = _text(piece.title) + (f", part {number + 1}" if len(made.pictures) > 1 else "")
        yield f'<figure><img src="{picture}" alt="{alt}" loading="lazy">{caption}</figure>'
    if made.animation:
        yield f'<figure><img src="{made.animation}" alt="{_text(piece.title)}, moving" loading="lazy"></figure>'
    if piece.remark is not None:
        yield f"<p>{_text(piece.remark(made.numbers))}</p>"
    if piece.table is not None:
        yield _table(piece.table(made.numbers))
    files = [made.document, *([made.table] if made.table else []), *(p.replace(".png", ".pdf") for p in made.pictures)]
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in files)
    yield f'<p class="files">Files: {links}. Computed in {made.seconds:,.1f} s.</p>'


def _table(rows: Sequence[Sequence[Any]]) -> str:
    header, *body = rows
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in header)
    lines = ("".join(f"<td>{_text(_number(cell))}</td>" for cell in row) for row in body[:_MOST_ROWS])
    left = len(body) - _MOST_ROWS
    more = f'<p class="files">… and {pluralize(left, "row")} more in the file.</p>' if left > 0 else ""
    table = (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"
    )
    return f'<div class="wide">{table}</div>{more}'


def _number(cell: Any) -> Any:
    return f"{cell:,.4g}" if isinstance(cell, float) else "" if cell is None else cell


def _text(value: Any) -> str:
    return escape_html(str(value))
