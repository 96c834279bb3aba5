"""What runs, limits and models show in a notebook: a line of facts and a picture; without
matplotlib, a table."""

import base64
import io
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._common.format import escape_html, truncate
from hardmax._common.validation import MissingExtra

if TYPE_CHECKING:
    from hardmax._runs.trajectory import Trajectory
    from hardmax.text.text_model import TextModel

MOST_TOKENS, MOST_CLOUDS, MOST_CLASSES, MOST_ROWS, MOST_BARS = 600, 6, 6, 8, 16
LONGEST_CELL = 40  # characters
MOST_LISTED, LONGEST_LISTED = 24, 120  # rows and characters of a table that stands alone
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
    """The card of a run or of a limit."""
    run = _run_of(cloud)
    picture = _cloud_picture(cloud, 2.9)
    if not picture:
        return _card(cloud, _leader_table(run))
    remarks = [f"first two principal coordinates of {run.d}"] if run.d > 3 else []
    remarks += [f"some of {run.n:,} tokens drawn"] if run.details.points.count > MOST_TOKENS else []
    end = f"dot: layer {run.layers:,}" if run is cloud else "diamond or cross: any other limit"
    return _card(cloud, f"<div>{picture}</div>", _note(_KEY + end), _note(", ".join(remarks)))


def batch_card(batch: Sequence[Any]) -> str:
    """The card of a batch: its first clouds, side by side."""
    # By number, since making all of a large batch would take long.
    first = [batch[number] for number in range(min(len(batch), MOST_CLOUDS))]
    parts = [_cloud_picture(cloud, 1.7) or _leader_table(_run_of(cloud)) for cloud in first]
    cells = [
        f'<div style="margin:2px 8px 2px 0">{_note(f"cloud {number}")}{part}</div>'
        for number, part in enumerate(parts)
    ]
    left_out = f"the first {len(first)} of {len(batch):,} clouds" if len(batch) > len(first) else ""
    return _card(
        batch, f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>', _note(left_out)
    )


def model_card(model: "TextModel") -> str:
    """The card of a classifier: its heaviest tokens."""
    shown = range(min(len(model.classes), MOST_CLASSES))
    bars = heaviest(model, MOST_BARS // len(shown), shown)

    def draw(figure: Any) -> None:
        from hardmax.figures.charts import draw_weights

        figure.set_layout_engine("constrained")
        draw_weights(model, bars, figure.add_subplot(), inside=False)

    picture = _picture(draw, (3.7, 0.9 + 0.19 * len(bars)), repr(model))
    rows = [[model.classes[bar.class_index], bar.name, bar.note] for bar in bars]
    return _card(model, picture or _table([["class", "token", "weight"], *rows]))


def table_card(
    thing: Any, rows: Sequence[Sequence[object]], *, facts: str = "", note: str = ""
) -> str:
    """A card with a table: its header, and its first rows."""
    header, *body = rows
    more = [[f"and {len(body) - MOST_LISTED:,} more"]] if len(body) > MOST_LISTED else []
    table = _table([header, *body[:MOST_LISTED], *more], LONGEST_LISTED)
    return _card(thing, table, _note(note), facts=facts)


class Bar(NamedTuple):
    """A bar: its name, its length, the class whose colour it has, and what is written at its
    end."""

    name: str
    value: float
    class_index: int
    note: str


def heaviest(model: "TextModel", top: int, only: Collection[int] | None = None) -> list[Bar]:
    """The heaviest tokens of each class, or of some; weights for the first of two classes are
    negative."""
    weights: list[tuple[str, float, int]] = []
    is_two = len(model.classes) == 2
    for number in (1, 0) if is_two else range(len(model.classes)):
        if only is None or number in only:
            # Weights of two classes go down from the top, through zero.
            sign = -1 if is_two and number == 0 else 1
            words = model.keywords(model.classes[number], top)
            weights += [(word.word, sign * word.weight, number) for word in words][::sign]
    largest = max((abs(weight) for _, weight, _ in weights), default=1.0)
    digits = max(0, 2 - int(np.log10(largest)))
    return [Bar(word, weight, number, f"{weight:+.{digits}f}") for word, weight, number in weights]


def _run_of(cloud: Any) -> "Trajectory":
    return getattr(cloud, "run", cloud)


def _cloud_picture(cloud: Any, side: float) -> str:
    d = _run_of(cloud).d

    def draw(figure: Any) -> None:
        from hardmax.figures.layers import draw_layer
        from hardmax.figures.limits import draw_limit

        rect = _PLACES.get(d, (0.14, 0.1, 0.84, 0.87))
        ax = figure.add_axes(rect, projection="3d" if d == 3 else None)
        if hasattr(cloud, "run"):
            draw_limit(cloud, ax, most=MOST_TOKENS)
        else:
            draw_layer(cloud, cloud.layers, ax, most=MOST_TOKENS)
        ax.set(xlabel="", ylabel="")
        if d == 3:
            ax.set(zlabel="")

    return _picture(draw, (side, side / 2 if d == 1 else side), repr(cloud))


def _leader_table(run: "Trajectory") -> str:
    places, leaders = run._floats_at(run.layers), run.leaders.tolist()
    rows: list[list[object]] = [["leader", "since layer", "position"]]
    for token, since in zip(leaders[:MOST_ROWS], run.leader_layers.tolist(), strict=False):
        rows.append([token, since, ", ".join(f"{x:.4g}" for x in places[token].tolist())])
    if len(leaders) > MOST_ROWS:
        rows.append([f"and {len(leaders) - MOST_ROWS:,} more"])
    return _table(rows)


# ---------------------------------------------------------------- HTML


def _card(thing: Any, *parts: str, facts: str = "") -> str:
    """A card: facts, by default those of a `repr`, `Kind(facts)`, above parts that are HTML
    already."""
    facts = facts or repr(thing).partition("(")[2].removesuffix(")")
    kind = escape_html(type(thing).__name__)
    head = f"<div><strong>{kind}</strong> {escape_html(facts)}</div>"
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def _note(text: str) -> str:
    return f'<div style="font-size:11px;opacity:.75">{escape_html(text)}</div>' if text else ""


def _table(rows: Sequence[Sequence[object]], width: int = LONGEST_CELL) -> str:
    body = ""
    for number, row in enumerate(rows):
        mark = "td" if number else "th"
        shown = [escape_html(truncate(str(cell), width)) for cell in row]
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
