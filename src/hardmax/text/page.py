"""Explanations as HTML: in a notebook, as a page without scripts, and as one that computes
(`hardmax.page`).

Nothing is loaded, and nothing is shown by colour alone. The template is `page.html`.
"""

import json
from base64 import b64encode
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import bidirectional

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import format_probability, pluralize, sanitize_text, truncate
from hardmax.figures.palette import CYCLE, place_of_class
from hardmax.page import pack_model, read, write_page
from hardmax.text import view
from hardmax.text._analysis import LENGTHS
from hardmax.text.card import share_right
from hardmax.text.storage import deciding_files

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation
    from hardmax.text.text_model import TextModel
    from hardmax.text.tokeniser import Span

_MOST_CLASSES = 6
_LONGEST_NAME = 80  # characters of a token or a class
short_name = partial(truncate, width=_LONGEST_NAME)
_SHADES = (0.1, 0.3, 0.6)  # of the largest vote: a mark is the darker, the more of these it has
_HIGHEST = 3  # arrows above one another; of any more, the modifier is written beside the token


def fragment(why: "Explanation") -> str:
    """An explanation as an element, for a notebook."""
    content = render("content", why, "p")
    # Commented, or it is shown where no styles are allowed.
    return f'<div class="hardmax"><style><!--{read("explanation.css")}--></style>{content}</div>'


def write_explanation(why: "Explanation", path: str | Path, *, interactive: bool) -> None:
    """Write a page without scripts; if interactive, one with the model in it, which computes and
    shows the same where scripts do not run."""
    title = f"{why.answer}: {opening(why.text)}"
    about = gives_away(why.model) if interactive else ""
    body = (
        f'<div class="hardmax">{render("content", why, "h1")}{render("footer", why, about)}</div>'
    )
    if interactive:
        data = {"room": "reviews", "text": why.text, "models": [pack(why.model)]}
        write_page(path, data, title=title, static=body)
    else:
        write_whole(path, document(title, f"<main>{body}</main>").encode())


def report(explanations: "Sequence[Explanation]") -> str:
    """A page of explanations, one below the other, with an index."""
    labels = Counter(short_name(why.label) if why.decided else "undecided" for why in explanations)
    body = render("report", explanations, labels.most_common())
    return document(f"{pluralize(len(explanations), 'text')} explained", body)


def gives_away(model: "TextModel") -> str:
    """What whoever has a page with the model in it can read there."""
    documents = model.vocabulary.documents
    seen = documents[documents > 0]
    fewest = f", each found in at least {seen.min():,} of them" if len(seen) else ""
    return f"contains the whole model: {pluralize(len(seen), 'token')} from training texts{fewest}"


def pack(model: "TextModel") -> dict[str, str]:
    """A model as a page takes it."""
    files = deciding_files(model)
    if lengths := model.metrics.get(LENGTHS):
        files["metrics.json"] = json.dumps({LENGTHS: lengths}).encode()
    return pack_model(model.name or "model", files)


def document(title: str, body: str, script: str = "") -> str:
    """A whole document round a body that is HTML already; its policy allows the script alone."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return render("document", title, body, read("explanation.css"), script, digest) + "\n"


def opening(text: str, most: int = 60) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def render(macro: str, *values: Any) -> str:
    """What a macro of the template writes, safe to show; every value is escaped."""
    return sanitize_text(str(getattr(_macros(), macro)(*values)))


@cache
def _macros() -> Any:
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"short": short_name, "probability": format_probability}
    environment.globals |= {
        "css_classes": _css_classes,
        "looks_of_marks": _looks_of_marks,
        "cut_at_arrows": cut_at_arrows,
        "gives_away": gives_away,
        "opening": opening,
        "share_right": share_right,
        "shown_classes": _shown_classes,
        "view": view,
    }
    return environment.get_template("page.html").module


class Arrow(NamedTuple):
    """An arrow above the text, from the first word of a token to its modifier."""

    to: "Span"
    begins: "Span"
    css: str


class Bit(NamedTuple):
    """Some characters of a piece of text, the arrows that pass above them, and those that begin or
    end there."""

    text: str
    over: list[Arrow]
    ends: list[tuple[str, Arrow]]


def cut_at_arrows(why: "Explanation") -> list[tuple[view.Piece, list[Bit], bool]]:
    """The pieces of the text, each in bits that arrows begin, end or pass; and whether the modifier
    is to be written beside the token, for want of room for an arrow."""
    pieces = view.pieces(why)
    starts = list(accumulate((len(piece.text) for piece in pieces), initial=0))
    arrows = _arrows(why, pieces, starts)
    opened, ends = defaultdict[int, list[Arrow]](list), defaultdict[int, list[Any]](list)
    for arrow in arrows.values():
        opened[arrow.to[1]].append(arrow)
        ends[arrow.to[0]].append(("to", arrow))
    for arrow in arrows.values():
        ends[arrow.begins[0]].append(("from", arrow))
    cuts = sorted({*starts, *ends, *opened, *(arrow.begins[1] for arrow in arrows.values())})
    over: list[Arrow] = []
    bits: list[list[Bit]] = [[] for _ in pieces]
    for first, last in pairwise(cuts):
        number = bisect_right(starts, first) - 1
        over = [arrow for arrow in (*over, *opened[first]) if first < arrow.begins[0]]
        text = pieces[number].text[first - starts[number] : last - starts[number]]
        bits[number].append(Bit(text, over, ends[first]))
    shown = []
    for number, (piece, cut) in enumerate(zip(pieces, bits, strict=True)):
        near = any(bit.over or bit.ends for bit in cut)
        shown.append((piece, cut if near else [], piece.link is not None and number not in arrows))
    return shown


def _arrows(why: "Explanation", pieces: list[view.Piece], starts: list[int]) -> dict[int, Arrow]:
    """The arrows by the numbers of the pieces where they begin: longer ones above shorter ones."""
    found, css_classes = {}, _css_classes(why.model)
    for number, piece in enumerate(pieces):
        if piece.link and piece.entry:
            start = starts[number]
            word = start + len(piece.text.split(maxsplit=1)[0])
            css = css_classes[piece.entry.class_index]
            found[number] = Arrow(piece.link.modifier_span, (start, word), css)
    heights, placed = bytearray(starts[-1]), {}
    for number in sorted(found, key=lambda number: starts[number] - found[number].to[0]):
        arrow = found[number]
        where = slice(arrow.to[0], arrow.begins[1])
        height = max(heights[where])
        if height < _HIGHEST:
            heights[where] = bytes([height + 1]) * (where.stop - where.start)
            side = "r" if bidirectional(why.text[arrow.to[0]]) in ("R", "AL") else ""
            placed[number] = arrow._replace(css=f"{arrow.css} l{height} {side}".rstrip())
    return dict(sorted(placed.items()))


def _css_classes(model: "TextModel") -> list[str]:
    """For each class of the model the one of the style sheet that has its colour."""
    count = len(model.classes)
    places = place_of_class(np.arange(count), count) % (2 * len(CYCLE))
    return [f"c{place}" for place in places.tolist()]


def _looks_of_marks(why: "Explanation") -> dict[str, str]:
    """The attributes of each active token in the text: the larger its vote, the darker; and what it
    says."""
    looks, css_classes = {}, _css_classes(why.model)
    for entry in why.active:
        share = abs(entry.vote) / (abs(why.active[0].vote) or 1.0)
        shade = bisect_right(_SHADES, share)
        leads = entry.leads and view.gathers(why)
        css = f"{css_classes[entry.class_index]} s{shade}{' leads' * leads}"
        # Escaped once for all places: a text may have very many.
        title = escape(view.told(entry))
        looks[entry.word] = f'class="{css}" title="{title}"'
    return looks


def _shown_classes(why: "Explanation") -> tuple[list[tuple[int, Any, float]], int, float]:
    """Index, name and probability of the most probable classes; how many others there are, and how
    probable."""
    listed = [(index, name, p) for index, (name, p) in enumerate(why.probabilities.items())]
    if len(listed) > 2:
        listed.sort(key=lambda shown: -shown[2])
    left_out = [p for _, _, p in listed[_MOST_CLASSES:]]
    return listed[:_MOST_CLASSES], len(left_out), sum(left_out)
