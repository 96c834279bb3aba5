"""One page that runs anywhere: drag tokens, type a review; everything is computed by the page itself.

A page is one HTML file: the modules in `js/`, put into one script, the style sheet, and the data to begin with. It
loads nothing, and its content security policy allows this one script alone.
"""

import base64
import gzip
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from hardmax import __version__
from hardmax._format import escape_html

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


def render(data: dict[str, Any], *, title: str = "hardmax", static: str = "") -> str:
    """The page as HTML.

    Parameters
    ----------
    data : dict
        What to begin with, plain data: `room`, `cloud`, `models`, `text`; see `js/main.js`.
    title : str, default "hardmax"
        Title of the document.
    static : str, optional
        HTML that is shown where scripts do not run.

    Returns
    -------
    str
        A whole document.
    """
    script = f"{bundle()}\nhardmaxBundle().startPage(hardmaxBundle);\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # In a script, `</script>` and `<!--` would end or change it; escaped, the text is the same JSON.
    given = json.dumps({"version": __version__} | data, allow_nan=False).replace("<", "\\u003c")
    parts = {
        "title": escape_html(title),
        "policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        "style": read("explanation.css") + read("page.css"),
        "static": static,
        "data": given,
        "script": script,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], read("page.html"))


@cache
def bundle() -> str:
    """All modules in one function, so that the page, the worker and the widget run the same text."""
    order: list[str] = []

    def add(name: str) -> None:
        for imported in _IMPORT.findall(read(f"js/{name}")):
            if imported not in order:
                add(imported)
        order.append(name)

    add("main.js")
    modules = [re.sub(r"^export ", "", _IMPORT.sub("", read(f"js/{name}")), flags=re.MULTILINE) for name in order]
    exports = "startPage, startWorker, renderWidget"
    return f'function hardmaxBundle() {{\n"use strict";\n{"".join(modules)}return {{ {exports} }};\n}}'


def widget_module() -> str:
    """The same as an ES module for anywidget."""
    return f"{bundle()}\nexport default {{ render: hardmaxBundle().renderWidget(hardmaxBundle) }};\n"


def pack_model(name: str, files: dict[str, bytes]) -> dict[str, str]:
    """A model for `data["models"]`: its files in one gzip stream, in base64.

    The stream is the length of a header (four bytes, little-endian), the header (JSON: `name`, and `files`, pairs of
    a name and a size), and the files.
    """
    header = json.dumps({"name": name, "files": [[file, len(content)] for file, content in files.items()]}).encode()
    packed = gzip.compress(len(header).to_bytes(4, "little") + header + b"".join(files.values()), 9, mtime=0)
    return {"name": name, "data": base64.b64encode(packed).decode()}


@cache
def read(name: str) -> str:
    """A file of this folder, such as "explanation.css", which notebooks use, too."""
    return (_HERE / name).read_text(encoding="utf-8")
