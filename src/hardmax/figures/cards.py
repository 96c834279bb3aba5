"""What results show in a notebook: a line of facts, and a picture or a table."""

import base64
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hardmax._common.format import escape_html, truncate
from hardmax._common.validation import MissingExtra

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

MOST_TOKENS, MOST_LISTED, MOST_WORDS = 600, 24, 16
LONGEST_CELL = 120  # characters
_SIDE = 2.9  # of a picture, in inches
_PLACES = {1: (0.14, 0.2, 0.84, 0.76), 3: (0.02, 0.04, 0.92, 0.92)}  # of axes, by dimension
_SHARP = 2  # pixels of the picture for each one on the screen
_KEY = "star: leader, with its token number · small mark: start · line: path · "
# HTML takes its colours from the notebook, light or dark; pictures have a ground of their own.
_CARD = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit;max-width:100%"
)
_PICTURE = "max-width:100%;height:auto;border-radius:4px"
_CELL = "padding:0 .9em 0 0;text-align:left;vertical-align:top;border:0;background:none"
_TABLE = "font:inherit;border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit"


def cloud_card(cloud: Any) -> str:
    """The card of a run or of a limit; without matplotlib the facts alone."""
    run = getattr(cloud, "run", cloud)

    def draw(figure: Any) -> None:
        from hardmax.figures.layers import draw_layer
        from hardmax.figures.limits import draw_limit

        rect = _PLACES.get(run.d, (0.14, 0.1, 0.84, 0.87))
        ax = figure.add_axes(rect, projection="3d" if run.d == 3 else None)
        if run is cloud:
            draw_layer(run, run.layers, ax, most=MOST_TOKENS)
        else:
            draw_limit(cloud, ax, most=MOST_TOKENS)
        ax.set(xlabel="", ylabel="")
        if run.d == 3:
            ax.set(zlabel="")

    picture = _picture(draw, (_SIDE, _SIDE / 2 if run.d == 1 else _SIDE), repr(cloud))
    if not picture:
        return _card(cloud)
    remarks = [f"first two principal coordinates of {run.d}"] if run.d > 3 else []
    remarks += [f"some of {run.n:,} tokens drawn"] if run.details.points.count > MOST_TOKENS else []
    end = f"dot: layer {run.layers:,}" if run is cloud else "diamond or cross: any other limit"
    return _card(cloud, f"<div>{picture}</div>", _note(_KEY + end), _note(", ".join(remarks)))


def batch_card(batch: Sequence[Any]) -> str:
    """The card of a batch: its first clouds, a line for each."""
    # By number, since making all of a large batch would take long.
    first = [batch[number] for number in range(min(len(batch), MOST_LISTED))]
    rows = [[number, _facts(cloud)] for number, cloud in enumerate(first)]
    return table_card(batch, [["cloud", ""], *rows], count=len(batch))


def model_card(model: "TextModel") -> str:
    """The card of a classifier: its heaviest tokens."""
    rows: list[list[object]] = [["class", "token", "weight"]]
    for name in model.classes[:MOST_WORDS]:
        words = model.keywords(name, max(1, MOST_WORDS // len(model.classes)))
        rows += [[name, word.word, f"{word.weight:.3g}"] for word in words]
    return table_card(model, rows)


def table_card(
    thing: Any,
    rows: Sequence[Sequence[object]],
    *,
    facts: str = "",
    note: str = "",
    count: int | None = None,
) -> str:
    """A card with a table: its header, and its first rows, of so many."""
    header, *body = rows
    shown = body[:MOST_LISTED]
    left_out = (len(body) if count is None else count) - len(shown)
    more = [[f"and {left_out:,} more"]] if left_out else []
    return _card(thing, _table([header, *shown, *more]), _note(note), facts=facts)


# ---------------------------------------------------------------- HTML


def _facts(thing: Any) -> str:
    """Of a `repr`, `Kind(facts)`."""
    return repr(thing).partition("(")[2].removesuffix(")")


def _card(thing: Any, *parts: str, facts: str = "") -> str:
    """A card: facts above parts that are HTML already."""
    kind, text = escape_html(type(thing).__name__), escape_html(facts or _facts(thing))
    head = f"<div><strong>{kind}</strong> {text}</div>"
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def _note(text: str) -> str:
    return f'<div style="font-size:11px;opacity:.75">{escape_html(text)}</div>' if text else ""


def _table(rows: Sequence[Sequence[object]]) -> str:
    body = ""
    for number, row in enumerate(rows):
        mark = "td" if number else "th"
        shown = [escape_html(truncate(str(cell), LONGEST_CELL)) for cell in row]
        cells = [f'<{mark} style="{_CELL}">{cell}</{mark}>' for cell in shown]
        body += f"<tr>{''.join(cells)}</tr>"
    return f'<table style="{_TABLE}">{body}</table>'


def _picture(draw: Callable[[Any], None], size: tuple[float, float], alt: str) -> str:
    """What is drawn on a figure of that size, as an image in HTML; nothing if matplotlib is
    missing."""
    try:
        from hardmax.figures.style import Figure, FigureCanvasAgg, style_context
    except MissingExtra:
        return ""
    buffer = io.BytesIO()
    with style_context(small=True):
        figure = Figure(figsize=size, dpi=100 * _SHARP)
        FigureCanvasAgg(figure)
        draw(figure)
        figure.savefig(buffer, format="png")
    data, width = base64.b64encode(buffer.getvalue()).decode(), round(100 * size[0])
    look = f'alt="{escape_html(alt)}" width="{width}" style="{_PICTURE}"'
    return f'<img {look} src="data:image/png;base64,{data}"/>'
