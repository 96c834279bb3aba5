"""HTML of the cards by which objects show themselves in a notebook."""

from collections.abc import Sequence

from hardmax._format import escape_html, truncate

# HTML takes its colours from the notebook, light or dark: text in `currentColor`, nothing behind it.
_CARD = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit"
_CELL = "padding:0 .7em 0 0;text-align:right;border:0;background:none;white-space:nowrap"
LONGEST_CELL = 24  # characters


def html_card(facts: str, *parts: str) -> str:
    """A card: a line of facts, `Kind(facts)` as in a `repr`, with parts that are HTML already below it."""
    kind, _, rest = facts.partition("(")
    head = f"<div><strong>{escape_html(kind)}</strong> {escape_html(rest.removesuffix(')'))}</div>"
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def html_note(text: str) -> str:
    """A line in small print; nothing for an empty text."""
    return f'<div style="font-size:11px;opacity:.75">{escape_html(text)}</div>' if text else ""


def html_table(rows: Sequence[Sequence[object]]) -> str:
    """A table without heads, with long cells cut."""
    cells = (
        "".join(f'<td style="{_CELL}">{escape_html(truncate(str(cell), LONGEST_CELL))}</td>' for cell in row)
        for row in rows
    )
    return f'<table style="border-collapse:collapse">{"".join(f"<tr>{row}</tr>" for row in cells)}</table>'


def html_row(pictures: Sequence[tuple[str, str]]) -> str:
    """Pictures side by side, each under its title, in as many rows as it takes."""
    cells = (f'<div style="margin:2px 8px 2px 0">{html_note(title)}{picture}</div>' for title, picture in pictures)
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>'
