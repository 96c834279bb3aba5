"""Explanations as HTML: in a notebook, as a page that computes (`hardmax.page`), and many in a
report without scripts.

Nothing is loaded, and nothing is shown by colour alone. The template is `page.html`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hardmax._common.files import write_whole
from hardmax._common.format import format_probability, pluralize, sanitize_text, truncate
from hardmax._common.validation import InputError, check_path, shorten
from hardmax.figures.palette import CYCLE, place_of_class
from hardmax.page import pack_model, read, style, write_page
from hardmax.text import view
from hardmax.text.explain import LENGTHS, Explanation
from hardmax.text.storage import deciding_files
from hardmax.text.text_model import TextModel

MOST_ROWS = 40
_MOST_CLASSES = 6
_LONGEST_NAME = 80  # characters of a token or a class
_STRENGTHS = 4  # shades of a mark: the larger the vote, the darker


def fragment(why: Explanation) -> str:
    """An explanation as an element, for a notebook."""
    return f'<div class="hardmax"><style>{read("explanation.css")}</style>{macros().content(why, "p")}</div>'


def write_explanation(why: Explanation, path: str | Path) -> None:
    """Write a page that computes; without scripts, it shows the explanation as it is now."""
    data = {"room": "reviews", "text": why.text, "models": [pack(why.model)]}
    static = f'<div class="hardmax">{macros().content(why, "h1")}{macros().footer(why)}</div>'
    write_page(path, data, title=f"{why.answer}: {opening(why.text)}", static=static)


def pack(model: TextModel) -> dict[str, str]:
    """A model as a page takes it."""
    files = deciding_files(model, errors="replace")
    if lengths := model.metrics.get(LENGTHS):
        files["metrics.json"] = json.dumps({LENGTHS: lengths}).encode()
    return pack_model(model.name or "model", files)


def write_report(explanations: Iterable[Explanation], path: str | Path) -> None:
    """Write explanations, one below the other and with an index, to a `.html` file, whole or not at
    all.

    Parameters
    ----------
    explanations : iterable of Explanation
        What `model.explain(text)` gives.
    path : str or Path
        The file to write.

    Examples
    --------
    >>> from hardmax.text import load_model, write_report
    >>> model = load_model("sentiment-en")
    >>> write_report([model.explain(text) for text in ("A great film.", "Awful.")], getfixture("tmp_path") / "two.html")
    """
    path = check_path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` has the suffix {path.suffix!r}: expected .html.")
    listed = list(explanations) if isinstance(explanations, Iterable) else []
    if not listed or not all(isinstance(each, Explanation) for each in listed):
        wish = "a list of explanations, such as [model.explain(text)]"
        raise InputError(f"`explanations` must be {wish}, not {shorten(explanations)}.")
    labels = Counter(short_name(why.label) if why.decided else "undecided" for why in listed)
    body = macros().report(listed, labels.most_common())
    write_whole(path, document(f"{pluralize(len(listed), 'text')} explained", body).encode())


def document(title: str, body: str) -> str:
    """A whole document round a body that is HTML already."""
    return str(macros().document(title, body, style())) + "\n"


def opening(text: str, most: int = 60) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def short_name(name: object) -> str:
    """A token or the name of a class, cut if it is very long."""
    return truncate(str(name), _LONGEST_NAME)


@cache
def macros() -> Any:
    """The macros of the template; every value is made safe to show, and escaped."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: sanitize_text(value) if type(value) is str else value,
    )
    environment.filters |= {"short": short_name, "probability": format_probability}
    environment.globals |= {
        "bar_heads": view.bar_heads,
        "class_of": _class_of,
        "classes": _classes,
        "opening": opening,
        "sentence": view.sentence,
        "rows": lambda why: view.rows(why, MOST_ROWS),
        "marked": _marked,
        "shades_of": _shades,
    }
    return environment.get_template("page.html").module


def _class_of(side: int, why: Explanation) -> str:
    """The CSS class of a class."""
    return f"c{place_of_class(side, len(why.model.classes)) % (2 * len(CYCLE))}"


def _classes(why: Explanation) -> tuple[list[tuple[int, Any, float]], int, float]:
    """Number, name and probability of the most probable classes; how many others there are, and how
    probable."""
    listed = [(number, name, p) for number, (name, p) in enumerate(why.probabilities.items())]
    if len(listed) > 2:
        listed.sort(key=lambda each: -each[2])
    left = listed[_MOST_CLASSES:]
    return listed[:_MOST_CLASSES], len(left), sum(p for _, _, p in left)


def _marked(why: Explanation) -> Iterator[tuple[view.Piece, str]]:
    """The pieces of the text, each with the modifier that it attends to, if any."""
    modifiers = {(link.word, link.span[0]): link.modifier for link in why.links}
    at = 0
    for piece in view.pieces(why):
        yield piece, modifiers.get((piece.entry.word, at), "") if piece.entry else ""
        at += len(piece.text)


def _shades(why: Explanation) -> dict[str, str]:
    """The CSS classes of the marks of each active token: the larger its vote, the darker."""
    largest = max((abs(entry.vote) for entry in why.active), default=0.0) or 1.0
    return {
        entry.word: f"{_class_of(entry.side, why)} s{min(int(_STRENGTHS * abs(entry.vote) / largest), _STRENGTHS - 1)}"
        f"{' leads' if entry.leads else ''}"
        for entry in why.active
    }
