"""What runs, limits and models show in a notebook: a line of facts and a picture; without matplotlib, a table."""

import base64
import io
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._format import escape_html, pluralize, truncate
from hardmax._validation import MissingExtra

if TYPE_CHECKING:
    from hardmax.limits import Limit
    from hardmax.text.text_model import TextModel
    from hardmax.trajectory import Trajectory

MOST_TOKENS, MOST_CLOUDS, MOST_CLASSES, MOST_ROWS, MOST_BARS = 600, 6, 6, 8, 24
LONGEST_CELL = 40  # characters
_SHARP = 2  # pixels of the picture for each one on the screen
# HTML takes its colours from the notebook, light or dark; pictures have a white ground.
_CARD = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;color:inherit;max-width:100%"
_PICTURE = "max-width:100%;height:auto;background:#fff;border-radius:4px"
_CELL = "padding:0 .9em 0 0;text-align:left;border:0;background:none;font-family:monospace"


def run_card(run: "Trajectory") -> str:
    """The card of one run."""
    return _of_clouds(run, [run], _draw_run, _key(f"layer {run.layers:,}"), _run_rows)


def runs_card(runs: "Sequence[Trajectory]") -> str:
    """The card of the runs of a batch: the first of them, side by side."""
    return _of_clouds(runs, _first(runs), _draw_run, _key("last layer"), _run_rows)


def limit_card(lim: "Limit") -> str:
    """The card of one limit."""
    ends = "limit" if lim.settled_at is not None else f"layer {lim.run.layers:,}"
    return _of_clouds(lim, [lim], _draw_limit, _key(ends), _limit_rows)


def limits_card(lims: "Sequence[Limit]") -> str:
    """The card of the limits of a batch."""
    return _of_clouds(lims, _first(lims), _draw_limit, _key("limit"), _limit_rows)


def model_card(model: "TextModel") -> str:
    """The card of a classifier: its heaviest tokens."""
    shown = range(min(len(model.classes), MOST_CLASSES))
    bars = heaviest(model, MOST_BARS // len(shown), shown)

    def draw(figure: Any) -> None:
        from hardmax.figures.charts import draw_weights

        draw_weights(model, bars, figure.add_axes((0.3, 0.16, 0.68, 0.74)))

    picture = _picture(draw, (4.2, 0.8 + 0.19 * len(bars)), repr(model))
    rows = [["class", "token", "weight"], *([model.classes[bar.side], bar.name, bar.note] for bar in bars)]
    return _card(model, picture or _table(rows))


class Bar(NamedTuple):
    """A bar: its name, its length, the class whose colour it has, and what is written at its end."""

    name: str
    value: float
    side: int
    note: str


def heaviest(model: "TextModel", top: int, only: Collection[int] | None = None) -> list[Bar]:
    """The heaviest tokens of each class, or of some; weights for the first of two classes are negative."""
    scores = model.prepared.scores[: len(model.vocabulary)]
    two = scores.shape[1] == 1
    sides = np.column_stack([-scores, scores]) if two else scores - scores.mean(axis=1, keepdims=True)
    bars = []
    for number in (1, 0) if two else range(sides.shape[1]):
        if only is None or number in only:
            best = [v for v in np.argsort(-sides[:, number], kind="stable")[:top].tolist() if sides[v, number] > 0]
            sign = -1 if two and number == 0 else 1
            for v in best[::sign]:  # two classes from right to left, as the numbers go
                weight = sign * float(sides[v, number])
                bars.append(Bar(model.vocabulary.surfaces[v], weight, number, f"{weight:+.3g}"))
    return bars


def _first(things: Sequence[Any]) -> list[Any]:
    # By number, since making all of a large batch would take long.
    return [things[cloud] for cloud in range(min(len(things), MOST_CLOUDS))]


def _of_clouds(thing: Any, clouds: list[Any], draw: Callable[[Any, Any], None], key: str, rows: Callable) -> str:
    """A card with the pictures of some clouds, or with the table of the first if nothing can be drawn."""
    alone = clouds == [thing]
    pictures = [_cloud_picture(cloud, draw, 2.9 if alone else 1.9) for cloud in clouds]
    if not all(pictures):
        return _card(thing, _table(rows(clouds[0])), _note("" if alone else "cloud 0"))
    titles = ["" if alone else f"cloud {number}" for number in range(len(clouds))]
    cells = [
        f'<div style="margin:2px 8px 2px 0">{_note(title)}{picture}</div>'
        for title, picture in zip(titles, pictures, strict=True)
    ]
    body = f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>'
    left_out = "" if alone or len(thing) == len(clouds) else f"the first {len(clouds)} of {len(thing):,} clouds"
    return _card(thing, body, _note(key if clouds else ""), _note(_remark(clouds[0]) if alone else left_out))


def _cloud_picture(cloud: Any, draw: Callable[[Any, Any], None], side: float) -> str:
    d = getattr(cloud, "run", cloud).d

    def draw_on(figure: Any) -> None:
        rect = (0.02, 0.04, 0.92, 0.92) if d == 3 else (0.14, 0.2, 0.84, 0.76) if d == 1 else (0.14, 0.1, 0.84, 0.87)
        ax = figure.add_axes(rect, projection="3d" if d == 3 else None)
        draw(cloud, ax)
        ax.set(xlabel="", ylabel="")

    return _picture(draw_on, (side, side / 2 if d == 1 else side), repr(cloud))


def _draw_run(run: "Trajectory", ax: Any) -> None:
    from hardmax.figures.layers import draw_layer

    draw_layer(run, run.layers, ax, most=MOST_TOKENS)


def _draw_limit(lim: "Limit", ax: Any) -> None:
    from hardmax.figures.limits import draw_limit

    draw_limit(lim, ax, most=MOST_TOKENS)


def _key(ends: str) -> str:
    return f"star: leader, with its token number · small mark: start · line: path · dot: {ends}"


def _remark(cloud: Any) -> str:
    run = getattr(cloud, "run", cloud)
    projected = f"first two principal coordinates of {run.d}" if run.d > 3 else ""
    some = f"some of {run.n:,} tokens drawn" if run.points.count > MOST_TOKENS else ""
    return ", ".join(filter(None, (projected, some)))


def _run_rows(run: "Trajectory") -> list[list[object]]:
    places, since = run.floats_at(run.layers), run.leader_layers.tolist()
    leaders = run.leaders.tolist()[:MOST_ROWS]
    rows = [[token, since[row], _position(places[token])] for row, token in enumerate(leaders)]
    more = len(run.leaders) - len(rows)
    return [["leader", "since layer", "position"], *rows, *([[f"and {more:,} more"]] if more else [])]


def _limit_rows(lim: "Limit") -> list[list[object]]:
    clusters = lim.clusters
    largest = np.argsort(-clusters.sizes, kind="stable")[:MOST_ROWS].tolist()
    rows = [
        [clusters.kinds[c], pluralize(int(clusters.sizes[c]), "token"), _position(clusters.points[c])] for c in largest
    ]
    more = len(clusters) - len(rows)
    return [["cluster", "size", "limit"], *rows, *([[f"and {more:,} more"]] if more else [])]


def _position(place: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in place.tolist()[:4]) + (", …)" if len(place) > 4 else ")")


# ---------------------------------------------------------------- HTML


def _card(thing: Any, *parts: str) -> str:
    """A card: the facts of a `repr`, `Kind(facts)`, above parts that are HTML already."""
    kind, _, rest = repr(thing).partition("(")
    head = f"<div><strong>{escape_html(kind)}</strong> {escape_html(rest.removesuffix(')'))}</div>"
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def _note(text: str) -> str:
    return f'<div style="font-size:11px;opacity:.75">{escape_html(text)}</div>' if text else ""


def _table(rows: Sequence[Sequence[object]]) -> str:
    cells = (
        "".join(f'<td style="{_CELL}">{escape_html(truncate(str(cell), LONGEST_CELL))}</td>' for cell in row)
        for row in rows
    )
    return f'<table style="border-collapse:collapse">{"".join(f"<tr>{row}</tr>" for row in cells)}</table>'


def _picture(draw: Callable[[Any], None], size: tuple[float, float], alt: str) -> str:
    """What is drawn on a figure of that size, as an image in HTML; nothing if matplotlib is missing."""
    try:
        from hardmax.figures.style import Figure, FigureCanvasAgg, card_look
    except MissingExtra:
        return ""
    buffer = io.BytesIO()
    with card_look():
        figure = Figure(figsize=size, dpi=100 * _SHARP)
        FigureCanvasAgg(figure)
        draw(figure)
        figure.savefig(buffer, format="png")
    data, width = base64.b64encode(buffer.getvalue()).decode(), round(100 * size[0])
    return f'<img alt="{escape_html(alt)}" width="{width}" style="{_PICTURE}" src="data:image/png;base64,{data}"/>'
