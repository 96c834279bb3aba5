"""The paper's Figure 2: four clouds on their way, as panels and as a moving picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardmax import clouds
from hardmax._clusters import Vertex
from hardmax.dynamics import Dynamics
from hardmax.figures.layers import draw_layer
from hardmax.figures.style import Figure, our_look, write_film
from hardmax.limits import limit
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed, rounded, written
from hardmax.simulation import simulate
from hardmax.trajectory import Trajectory

LAYERS = (0, 1, 2, 5, 30)
ALPHA = "1/2"
# In a film everybody has all but arrived after a dozen layers; the last frame is that of the figure.
FRAMES = (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 30, 30, 30)
KEY = (
    "star: attends to itself alone      circle: in the colours of those it follows, along dotted lines      "
    "rim: is followed too"
)


def figure2_runs() -> dict[str, Trajectory]:
    """The four clouds of Figure 2, with alpha = 1/2 and A = I."""
    rows = {
        "triangle": clouds.triangle(),
        "emerging leader": clouds.emerging_leader(),
        "square": clouds.square(),
        "non-leader clusters": clouds.nonleader_clusters(),
    }
    return {name: simulate(cloud, Dynamics(ALPHA), layers=LAYERS[-1]) for name, cloud in rows.items()}


def figure2(runs: Mapping[str, Trajectory], layers: Sequence[int] = LAYERS) -> Figure:
    """A row for each run and a column for each layer; the hull of the leaders is shaded in the last one."""
    with our_look():
        figure = Figure(figsize=(2.1 * len(layers), 2.1 * len(runs) + 0.5))
        panels = figure.subplots(len(runs), len(layers), squeeze=False)
        for row, (name, run) in zip(panels, runs.items(), strict=True):
            for ax, layer in zip(row, layers, strict=True):
                draw_layer(run, layer, ax, hull=layer == layers[-1])
                ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
            row[0].set_ylabel(name)
        for ax, layer in zip(panels[0], layers, strict=True):
            ax.set_title(f"layer {layer}")
        figure.supxlabel(KEY, fontsize=8)
        figure.tight_layout()
    return figure


def compute(setting: Setting) -> Numbers:
    """Tokens, attended sets and places at the layers shown, leaders and since when, and where everybody ends."""
    rows = [_row(name, run) for name, run in figure2_runs().items()]
    return {"alpha": ALPHA, "layers": list(LAYERS), "rows": rows}


def _row(name: str, run: Trajectory) -> dict[str, Any]:
    lim = limit(run.exact_at(0), run.dynamics)
    places = [label for label, kind in enumerate(lim.clusters.kinds) if not isinstance(kind, Vertex)]
    return {
        "name": name,
        "tokens": written(run.exact_at(0)),
        "leaders": lim.leaders.tolist(),
        "leader_since": lim.run.leader_layers.tolist(),
        "settled_at": lim.settled_at,
        "arithmetic": lim.run.arithmetic,
        "limits": [[str(number) for number in place] for place in lim.exact_points.tolist()],
        "kinds": [str(kind) for kind in lim.kind],
        "limits_that_are_no_vertex": rounded(lim.clusters.points[places]),
        "places": {str(layer): rounded(run.floats_at(layer)) for layer in LAYERS},
        "attended": {str(layer): [chosen.tolist() for chosen in run.attended(layer)] for layer in LAYERS},
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """The rows and columns of the paper."""
    return {"": figure2(_runs(numbers), numbers["layers"])}


def animate(numbers: Numbers, path: Path) -> None:
    """The four clouds side by side, a frame for a layer."""
    runs = _runs(numbers)
    with our_look():
        figure = Figure(figsize=(2.2 * len(runs), 2.6), dpi=110)
        panels = dict(zip(runs, figure.subplots(1, len(runs)), strict=True))
        figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.82, wspace=0.06)

        def frame(layer: int) -> None:
            for name, ax in panels.items():
                ax.clear()
                draw_layer(runs[name], layer, ax)
                ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
                ax.set_title(name, fontsize=9)
            figure.suptitle(f"layer {layer}", x=0.012, y=0.97, ha="left", fontsize=10)

        write_film(figure, path, FRAMES, frame, fps=2)


def _runs(numbers: Numbers) -> dict[str, Trajectory]:
    dynamics, last = Dynamics(numbers["alpha"]), max(numbers["layers"])
    return {row["name"]: simulate(row["tokens"], dynamics, layers=last) for row in numbers["rows"]}


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each cloud."""
    columns = ["cloud", "tokens", "leaders", "leader since layer", "settled at layer", "limits that are no vertex"]
    return [columns] + [
        [
            row["name"],
            len(row["tokens"]),
            len(row["leaders"]),
            ", ".join(map(str, row["leader_since"])),
            row["settled_at"],
            len(row["limits_that_are_no_vertex"]),
        ]
        for row in numbers["rows"]
    ]


def remark(numbers: Numbers) -> str:
    """What the authors show, as exact facts."""
    by_name = {row["name"]: row for row in numbers["rows"]}
    late = [
        f"token {token} becomes a leader at layer {since}"
        for token, since in zip(
            by_name["emerging leader"]["leaders"], by_name["emerging leader"]["leader_since"], strict=True
        )
        if since > 0
    ]
    ends = [f"({x:g}, {y:g})" for x, y in by_name["non-leader clusters"]["limits_that_are_no_vertex"]]
    deepest = max(row["settled_at"] for row in numbers["rows"])
    return (
        "All four clouds behave as the authors show, here by exact arithmetic: with the emerging leader "
        f"{listed(late)}, and the non-leader clusters gather at {listed(ends)}, where an edge comes nearest to the "
        f"origin and nobody leads. Nothing but distances changes after layer {deepest}: the limits are known exactly "
        "then, and layer 30 is drawn only because the authors draw it. The coordinates of the second row and of the "
        "square with (±1/2, 0) in the fourth are those of the paper; the other inner tokens are not published "
        "(three of the authors' rows are drawn anew at every run), so ours were drawn once and written down."
    )


PIECE = Piece(
    name="fig2",
    title="Four clouds on their way",
    caption=(
        "Tokens of four clouds (rows) at layers 0, 1, 2, 5 and 30 (columns), for alpha = 1/2 and A = I. Stars "
        "attend to themselves alone; circles have the colours of those whom they follow, along dotted lines, two "
        "halves if these are two, and a rim in a colour of their own if they are followed as well. Lines from "
        "small marks are the paths so far, the plus is the origin. In the last column the convex hull of the leaders "
        "is shaded: every token ends at one of its vertices, or, in the last row, also in the middle of an edge."
    ),
    compute=compute,
    draw=draw,
    table=table,
    animate=animate,
    remark=remark,
)
