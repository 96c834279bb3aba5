"""Text from elsewhere (texts, labels, names of files and columns) made harmless for terminals, HTML, figures, JSON.

A terminal obeys control characters: ESC moves the cursor, sets titles, writes to the clipboard. Marks of direction
(U+202E) make a text read as what it is not, tags and the like are not seen at all, and lone surrogates cannot be
printed. All of these are shown as escapes. The joiners (U+200C, U+200D), which many scripts are spelt with, stay.
"""

import html
import json
import re
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


def harmless_line(text: object) -> str:
    r"""The text in one line, in which nothing is left that a terminal would obey.

    >>> harmless_line("a\x1b[31mb\n\u202ec")
    'a\\x1b[31mb\\n\\u202ec'
    """
    return _HARMFUL.sub(_escaped, str(text))


def harmless_text(text: str) -> str:
    r"""The same for a text of several lines: ends of lines and tabs stay.

    >>> harmless_text("a\x1b[31m\nb\r\n")
    'a\\x1b[31m\nb\n'
    """
    lines = text.replace("\r\n", "\n")
    return _HARMFUL.sub(lambda found: found[0] if found[0] in _LAYOUT else _escaped(found), lines)


def harmless_html(text: object) -> str:
    r"""The text as HTML shows it, also within an attribute.

    >>> harmless_html("<b>\x00\u202e&")
    '&lt;b&gt;\\x00\\u202e&amp;'
    """
    return html.escape(harmless_text(str(text)))


def harmless_label(text: object) -> str:
    r"""The text in one line as a figure shows it: dollars are no formula.

    >>> harmless_label("$5\x1b")
    '\\$5\\x1b'
    """
    return harmless_line(text).replace("$", r"\$")


def harmless_json(document: Any, *, indent: int | None = None, encoding: str = "utf-8") -> str:
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
