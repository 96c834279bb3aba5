"""Explanations as HTML: in a notebook, and as a page that computes (`hardmax.page`).

Nothing is loaded, and nothing is shown by colour alone. The template is `page.html`.
"""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax._common.format import format_probability, sanitize_text, truncate
from hardmax.figures.palette import CYCLE, place_of_class
from hardmax.page import pack_model, read, style, write_page
from hardmax.text import view
from hardmax.text._analysis import LENGTHS
from hardmax.text.storage import deciding_files, digest

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation
    from hardmax.text.text_model import TextModel

MOST_ROWS = 40
_MOST_CLASSES = 6
_LONGEST_NAME = 80  # characters of a token or a class
_STRENGTHS = 4  # shades of a mark: the larger the vote, the darker


def fragment(why: "Explanation") -> str:
    """An explanation as an element, for a notebook."""
    content = macros().content(why, "p")
    return f'<div class="hardmax"><style>{read("explanation.css")}</style>{content}</div>'


def write_explanation(why: "Explanation", path: str | Path) -> None:
    """Write a page that computes; without scripts, it shows the explanation as it is now."""
    data = {"room": "reviews", "text": why.text, "models": [pack(why.model)]}
    static = f'<div class="hardmax">{macros().content(why, "h1")}{macros().footer(why)}</div>'
    write_page(path, data, title=f"{why.answer}: {opening(why.text)}", static=static)


def pack(model: "TextModel") -> dict[str, str]:
    """A model as a page takes it."""
    files = deciding_files(model, errors="replace")
    if lengths := model.metrics.get(LENGTHS):
        files["metrics.json"] = json.dumps({LENGTHS: lengths}).encode()
    return pack_model(model.name or "model", files)


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
        "css_class": _css_class,
        "css_of_marks": _css_of_marks,
        "digest": digest,
        "most_rows": MOST_ROWS,
        "opening": opening,
        "shown_classes": _shown_classes,
        "view": view,
    }
    return environment.get_template("page.html").module


def _css_class(class_index: int, why: "Explanation") -> str:
    return f"c{place_of_class(class_index, len(why.model.classes)) % (2 * len(CYCLE))}"


def _css_of_marks(why: "Explanation") -> dict[str, str]:
    """The CSS classes of each active token in the text: the larger its vote, the darker."""
    css = {}
    for entry in why.active:
        share = abs(entry.vote) / (abs(why.active[0].vote) or 1.0)
        strength = min(int(_STRENGTHS * share), _STRENGTHS - 1)
        css_class = _css_class(entry.class_index, why)
        css[entry.word] = f"{css_class} s{strength}{' leads' * entry.leads}"
    return css


def _shown_classes(why: "Explanation") -> tuple[list[tuple[int, Any, float]], int, float]:
    """Index, name and probability of the most probable classes; how many others there are, and how
    probable."""
    listed = [(index, name, p) for index, (name, p) in enumerate(why.probabilities.items())]
    if len(listed) > 2:
        listed.sort(key=lambda shown: -shown[2])
    left_out = [p for _, _, p in listed[_MOST_CLASSES:]]
    return listed[:_MOST_CLASSES], len(left_out), sum(left_out)
