"""Text made safe to show: escaping, shortening, counting in words.

Text from elsewhere (texts, labels, names of files and columns) made harmless for terminals, HTML, figures, JSON.

A terminal obeys control characters: ESC moves the cursor, sets titles, writes to the clipboard. Marks of direction
(U+202E) make a text read as what it is not, tags and the like are not seen at all, and lone surrogates cannot be
printed. All of these are shown as escapes. The joiners (U+200C, U+200D), which many scripts are spelt with, stay.

HTML of the cards by which objects show themselves in a notebook. Whatever text comes in is escaped.

Colours are those of the notebook, light or dark: text in `currentColor`, nothing behind it.

Words for numbers, and words that several rooms must spell alike.
"""

import html
import json
import math
import re
from collections.abc import Sequence
from typing import Any

_HARMFUL = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # controls
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # not seen
    "\ud800-\udfff"  # surrogates
    "]"
)
_LAYOUT = "\n\t"


def sanitize_line(text: object) -> str:
    r"""The text in one line, in which nothing is left that a terminal would obey.

    >>> sanitize_line("a\x1b[31mb\n\u202ec")
    'a\\x1b[31mb\\n\\u202ec'
    """
    return _HARMFUL.sub(_escaped, str(text))


def sanitize_text(text: str) -> str:
    r"""The same for a text of several lines: ends of lines and tabs stay.

    >>> harmless_text("a\x1b[31m\nb\r\n")
    'a\\x1b[31m\nb\n'
    """
    lines = text.replace("\r\n", "\n")
    return _HARMFUL.sub(lambda found: found[0] if found[0] in _LAYOUT else _escaped(found), lines)


def escape_html(text: object) -> str:
    r"""The text as HTML shows it, also within an attribute.

    >>> escape_html("<b>\x00\u202e&")
    '&lt;b&gt;\\x00\\u202e&amp;'
    """
    return html.escape(sanitize_text(str(text)))


def escape_mathtext(text: object) -> str:
    r"""The text in one line as a figure shows it: dollars are no formula.

    >>> escape_mathtext("$5\x1b")
    '\\$5\\x1b'
    """
    return sanitize_line(text).replace("$", r"\$")


def escape_json(document: Any, *, indent: int | None = None, encoding: str = "utf-8") -> str:
    r"""Strict JSON (no nan, no infinity) that says exactly what the document says; what is harmful, or not in the
    encoding, is escaped as JSON does.

    >>> harmless_json({"text": "é\x9b\ud800"})
    '{"text": "é\\u009b\\ud800"}'
    """
    written = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    written = _HARMFUL.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], written)
    try:
        written.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(document, allow_nan=False, indent=indent)
    return written


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


# So much of a number or a word is shown in a cell of a table.
LONGEST_CELL = 24
_CARD = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit"
_NOTE = "font-size:11px;opacity:.75"
_CELL = "padding:0 .7em 0 0;text-align:right;border:0;background:none;white-space:nowrap"


def html_card(facts: str, *parts: str) -> str:
    """A card: a line of facts, `Kind(what is known of it)` as in a `repr`, and below it parts that are HTML already.

    >>> card("Run(3 < 4)")[-46:]
    '<div><strong>Run</strong> 3 &lt; 4</div></div>'
    """
    kind, _, rest = facts.partition("(")
    told = f"<div><strong>{escape_html(kind)}</strong> {escape_html(rest.removesuffix(')'))}</div>"
    return f'<div style="{_CARD}">{told}{"".join(parts)}</div>'


def html_note(text: str) -> str:
    """A line in small print; nothing for an empty text."""
    return f'<div style="{_NOTE}">{escape_html(text)}</div>' if text else ""


def html_table(rows: Sequence[Sequence[object]]) -> str:
    """A table without heads; what is too long for a cell is cut."""
    lines = ("".join(f'<td style="{_CELL}">{escape_html(_cut(cell))}</td>' for cell in row) for row in rows)
    return f'<table style="border-collapse:collapse">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'


def html_row(pictures: Sequence[tuple[str, str]]) -> str:
    """Pictures, each under its title, in as many rows as it takes."""
    cells = (f'<div style="margin:2px 8px 2px 0">{html_note(title)}{picture}</div>' for title, picture in pictures)
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>'


def _cut(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


EXTRA_TOKEN = "(extra token)"  # the token that a model adds to every text; no word can look like this


def pluralize(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "token"), counted(1000, "token")
    ('1 token', '1,000 tokens')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def format_layers(layers: float) -> str:
    """How many layers, for people.

    >>> depth(8), depth(math.inf)
    ('8 layers', 'infinitely many layers')
    """
    return "infinitely many layers" if math.isinf(layers) else pluralize(int(layers), "layer")


def layers_to_json(layers: float) -> int | str:
    """How many layers, for JSON, which has no infinity: "inf".

    >>> plain_depth(8), plain_depth(math.inf)
    (8, 'inf')
    """
    return "inf" if math.isinf(layers) else int(layers)


def format_probability(probability: float) -> str:
    """A probability for people. It never claims certainty, even where floats have rounded to it.

    >>> chance(0.5), chance(0.9994), chance(0.9996), chance(1.0), chance(0.0004)
    ('50.0 %', '99.9 %', '> 99.9 %', '> 99.9 %', '< 0.1 %')
    """
    shown = f"{100 * probability:.1f} %"
    return {"100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %"}.get(shown, shown)


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity: both are null."""
    return number if math.isfinite(number) else None
