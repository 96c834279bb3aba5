"""One page that runs anywhere: drag tokens, type a text; everything is computed by the page
itself.

A page is one HTML file: the modules in `js/`, put into one script, the style sheet, and the data to
begin with. It loads nothing, and its content security policy allows no other script."""

import base64
import gzip
import hashlib
import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax import __version__
from hardmax._common.files import write_whole
from hardmax._common.format import escape_html
from hardmax._common.validation import InputError, check_path, shorten

if TYPE_CHECKING:
    from hardmax._tokens.points import Points
    from hardmax.dynamics import Dynamics

# As in js/cloud.js.
MOST_TOKENS, MOST_DIMENSIONS, LARGEST = 2_000, 16, 1e9
# Steps are exact, and the float 1e-3 is more than 1/1000; the last in characters.
SMALLEST_STEP, LARGEST_STEP, LONGEST_STEP = Fraction(1, 1000), 1000, 40
# Packed, the script is a third of its size. The policy allows this one and what it unpacks, by
# their hashes.
_LOADER = """
(async () => {
    const packed = atob(document.getElementById("hm-code").textContent);
    const bytes = Uint8Array.from(packed, (mark) => mark.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
})();
"""
_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


def write_page(path: str | Path, data: dict[str, Any], **options: str) -> None:
    """Write the page to a `.html` file, whole or not at all; the options are those of `render`."""
    path = check_path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` has the suffix {path.suffix!r}: expected .html.")
    write_whole(path, render(data, **options).encode())


def read_data(tokens: Any, dynamics: "Dynamics") -> dict[str, Any]:
    """One cloud under one layer, for `data["cloud"]`."""
    from hardmax._layer.rules import check_dimension
    from hardmax._tokens.batches import read_one
    from hardmax._tokens.points import merge

    cloud = read_one(tokens)
    check_dimension(dynamics, cloud.tokens.shape[1])
    return cloud_data(merge(cloud), dynamics)


def cloud_data(points: "Points", dynamics: "Dynamics") -> dict[str, Any]:
    """A cloud for `data["cloud"]`, exactly: a float is the JSON number that reads as it, all else
    is a fraction."""
    # A token that was given a multiplicity is as many tokens.
    count, width = max(points.tokens, int(points.multiplicities.sum())), points.dimension
    if count > MOST_TOKENS or width > MOST_DIMENSIONS:
        most = f"{MOST_TOKENS:,} tokens of up to {MOST_DIMENSIONS} dimensions"
        raise InputError(
            f"The page takes up to {most}, not {count:,} of {width}: choose some of them."
        )
    largest = abs(points.floats).max()
    if largest > LARGEST:
        most = f"numbers of up to {LARGEST:g}"
        raise InputError(f"`tokens`: the page takes {most}, not {largest:g}: choose a unit.")
    repeated = [
        point for point, times in enumerate(points.multiplicities.tolist()) for _ in range(times)
    ]
    rows = points.coordinates[points.of_token if count == points.tokens else repeated].tolist()
    tokens = [[value if isinstance(value, float) else str(value) for value in row] for row in rows]
    return {"tokens": tokens, **dynamics_data(dynamics)}


def dynamics_data(dynamics: "Dynamics") -> dict[str, Any]:
    """The layer as the page takes it; it would show another step than one that it refuses."""
    from hardmax._layer.rules import check_known

    check_known(dynamics, "the page")
    blocks = dynamics.heads, dynamics.normalise, dynamics.feed_forward
    is_block = any(part is not None for part in blocks)
    if is_block or not isinstance(dynamics.mask, str | None):
        wish = "without `heads`, `normalise` and `feed_forward`, and with no `mask` but 'causal'"
        raise InputError(f"The page shows layers {wish}.")
    alpha = str(dynamics.alpha)
    if isinstance(dynamics.alpha, tuple):
        raise InputError("The page shows layers of one step: `alpha` has several.")
    if not SMALLEST_STEP <= dynamics.alpha <= LARGEST_STEP or len(alpha) > LONGEST_STEP:
        most = f"from {float(SMALLEST_STEP)} to {LARGEST_STEP}, of up to {LONGEST_STEP} characters"
        raise InputError(f"The page takes an alpha {most}, not {shorten(alpha)}.")
    plain = dynamics.to_dict()
    if dynamics.attention is not None:
        kind, *numbers = plain["attention"].values()
        plain["attention"] = ":".join([kind.lower(), *map(str, numbers)])
    return plain


def render(data: dict[str, Any], *, title: str = "hardmax", static: str = "") -> str:
    """The page as HTML.

    Parameters
    ----------
    data : dict
        What to begin with, plain data: `room`, `cloud`, `models`, `text`, and `home`, the address
        that the page's name links to, if given; see `js/main.js`.
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
    digests = (hashlib.sha256(text.encode()).digest() for text in (_LOADER, script))
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
    policy += f"worker-src blob:; base-uri 'none'; form-action 'none'; script-src {allowed}"
    # In a script, `</script>` and `<!--` would end or change it; escaped, the text is the same.
    given = json.dumps({"version": __version__} | data, allow_nan=False).replace("<", "\\u003c")
    parts = {
        "title": escape_html(title),
        "policy": policy,
        "style": style(),
        "static": static,
        "data": given,
        "code": base64.b64encode(gzip.compress(script.encode(), 9, mtime=0)).decode(),
        "loader": _LOADER,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], read("page.html"))


@cache
def bundle() -> str:
    """All modules in one function, so that the page, the worker and the widget run the same
    text."""
    order: list[str] = []

    def add(name: str) -> None:
        for imported in _IMPORT.findall(read(f"js/{name}")):
            if imported not in order:
                add(imported)
        order.append(name)

    add("main.js")
    modules = [
        re.sub(r"^export ", "", _IMPORT.sub("", read(f"js/{name}")), flags=re.M) for name in order
    ]
    exports = "startPage, startWorker, renderWidget"
    return (
        f'function hardmaxBundle() {{\n"use strict";\n{"".join(modules)}return {{ {exports} }};\n}}'
    )


def widget_module() -> str:
    """The same as an ES module for anywidget."""
    return (
        f"{bundle()}\nexport default {{ render: hardmaxBundle().renderWidget(hardmaxBundle) }};\n"
    )


def style() -> str:
    """The style sheet, for the page and the widget."""
    return read("explanation.css") + read("page.css")


def pack_model(name: str, files: dict[str, bytes]) -> dict[str, str]:
    """A model for `data["models"]`: its files in one gzip stream, in base64.

    The stream is the length of a header (four bytes, little-endian), the header (JSON: `name`, and
    `files`, pairs of a name and a size), and the files."""
    header = json.dumps(
        {"name": name, "files": [[file, len(content)] for file, content in files.items()]}
    ).encode()
    packed = gzip.compress(
        len(header).to_bytes(4, "little") + header + b"".join(files.values()), 6, mtime=0
    )
    return {"name": name, "data": base64.b64encode(packed).decode()}


@cache
def read(name: str) -> str:
    """A file of this folder, such as "explanation.css", which notebooks use, too."""
    return (_HERE / name).read_text(encoding="utf-8")
