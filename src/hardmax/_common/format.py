"""Text made safe to show (terminal, HTML, figures, JSON), and words for numbers."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

# A terminal obeys control characters: ESC moves the cursor, sets titles, writes to the clipboard.
# Direction marks (U+202E) make a text read as what it is not, tags and the like are invisible, and
# lone surrogates cannot be printed. All of these are shown as escapes. The joiners (U+200C,
# U+200D), which many scripts are spelt with, stay.
_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # controls
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # invisible
    "\ud800-\udfff"  # surrogates
    "]"
)
LONGEST_LINE = 1000  # characters of an error
_UNSAFE_IN_LINES = re.compile(rf"(?![\n\t]){_UNSAFE.pattern}")


def truncate(text: object, width: int) -> str:
    """The text, cut to at most `width` characters, with an ellipsis."""
    text = str(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def shorten_middle(text: str, width: int) -> str:
    """The beginning and the end of a text, about as many characters of each, with an ellipsis.

    >>> shorten_middle("`a very long name` does not exist.", 15)
    '`a very… exist.'
    """
    half = width // 2
    return text if len(text) <= width else f"{text[:half]}…{text[len(text) - (width - 1 - half) :]}"


def sanitize_line(text: object) -> str:
    r"""The text in one line, with nothing left that a terminal would obey.

    >>> sanitize_line("a\x1b[31mb\n\u202ec")
    'a\\x1b[31mb\\n\\u202ec'
    """
    return _UNSAFE.sub(_escape, str(text))


def sanitize_text(text: str) -> str:
    """The same for several lines: line ends and tabs stay."""
    return _UNSAFE_IN_LINES.sub(_escape, text.replace("\r\n", "\n"))


def escape_html(text: object) -> str:
    """The text as HTML, also within an attribute."""
    return html.escape(sanitize_text(str(text)))


def escape_json(document: Any, *, indent: int | None = None, encoding: str = "utf-8") -> str:
    """The document as strict JSON (no nan, no infinity); unsafe characters, and those not in the
    encoding, escaped."""
    written = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    written = _UNSAFE.sub(
        lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], written
    )
    try:
        written.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(document, allow_nan=False, indent=indent)
    return written


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def first_few(texts: Iterable[str], most: int) -> str:
    """The first of some texts, and whether there are more.

    >>> first_few("abc", 2)
    'a, b, …'
    """
    first = list(islice(texts, most + 1))
    return ", ".join([*first[:most], *["…"] * (len(first) > most)])


def abridge(texts: Sequence[str], most: int) -> str:
    """The texts, of more than so many the first and the last ones.

    >>> abridge("abcde", 3)
    'a, b, …, e'
    """
    shown = texts if len(texts) <= most else [*texts[: most - 1], "…", texts[-1]]
    return ", ".join(shown)


def pluralize(number: int, noun: str) -> str:
    """A number with its noun: 1 token, 1,000 tokens."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def format_exact(number: Any) -> str:
    """An exact number if it is short, else a float.

    >>> from fractions import Fraction
    >>> format_exact(Fraction(1, 3)), format_exact(Fraction(1, 3**99))
    ('1/3', 'about 5.820976e-48')
    """
    written = str(number)
    return written if len(written) <= 20 else f"about {float(number):.7g}"


def format_probability(probability: float) -> str:
    """A probability for people, which never claims certainty, even where floats have rounded to it.

    >>> format_probability(0.5), format_probability(0.9996), format_probability(0.0004)
    ('50.0 %', '> 99.9 %', '< 0.1 %')
    """
    shown = f"{100 * probability:.1f} %"
    return {"100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %"}.get(shown, shown)
