"""HTML of the cards by which objects show themselves in a notebook. Whatever text comes in is escaped.

Colours are those of the notebook, light or dark: text in `currentColor`, nothing behind it.
"""

from collections.abc import Sequence

from hardmax.foreign import harmless_html

# So much of a number or a word is shown in a cell of a table.
LONGEST_CELL = 24
_CARD = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit"
_NOTE = "font-size:11px;opacity:.75"
_CELL = "padding:0 .7em 0 0;text-align:right;border:0;background:none;white-space:nowrap"


def card(facts: str, *parts: str) -> str:
    """A card: a line of facts, `Kind(what is known of it)` as in a `repr`, and below it parts that are HTML already.

    >>> card("Run(3 < 4)")[-46:]
    '<div><strong>Run</strong> 3 &lt; 4</div></div>'
    """
    kind, _, rest = facts.partition("(")
    told = f"<div><strong>{harmless_html(kind)}</strong> {harmless_html(rest.removesuffix(')'))}</div>"
    return f'<div style="{_CARD}">{told}{"".join(parts)}</div>'


def note(text: str) -> str:
    """A line in small print; nothing for an empty text."""
    return f'<div style="{_NOTE}">{harmless_html(text)}</div>' if text else ""


def table(rows: Sequence[Sequence[object]]) -> str:
    """A table without heads; what is too long for a cell is cut."""
    lines = ("".join(f'<td style="{_CELL}">{harmless_html(_cut(cell))}</td>' for cell in row) for row in rows)
    return f'<table style="border-collapse:collapse">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'


def side_by_side(pictures: Sequence[tuple[str, str]]) -> str:
    """Pictures, each under its title, in as many rows as it takes."""
    cells = (f'<div style="margin:2px 8px 2px 0">{note(title)}{picture}</div>' for title, picture in pictures)
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>'


def _cut(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
