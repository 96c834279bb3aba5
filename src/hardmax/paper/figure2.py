"""The paper's Figure 2: four clouds on their way."""

from collections.abc import Mapping, Sequence

from hardmax import clouds
from hardmax.checking import takes
from hardmax.dynamics import Dynamics
from hardmax.figures import inputs
from hardmax.figures.layers import draw_layer
from hardmax.figures.mpl import Figure
from hardmax.figures.style import our_look
from hardmax.runs.simulation import simulate
from hardmax.runs.trajectory import Trajectory

LAYERS = (0, 1, 2, 5, 30)
KEY = (
    "star: attends to itself alone      circle: in the colours of those it follows, along the thin lines      "
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
    return {name: simulate(cloud, Dynamics("1/2"), layers=LAYERS[-1]) for name, cloud in rows.items()}


@takes(runs=inputs.runs_by_name, layers=inputs.layers)
def figure2(runs: Mapping[str, Trajectory], layers: Sequence[int] = LAYERS) -> Figure:
    """A row for each run and a column for each layer; the hull of the leaders is shaded in the last one."""
    with our_look():
        figure = Figure(figsize=(2.1 * len(layers), 2.1 * len(runs) + 0.5))
        panels = figure.subplots(len(runs), len(layers), squeeze=False)
        for row, (name, run) in zip(panels, runs.items(), strict=True):
            for ax, layer in zip(row, layers, strict=True):
                draw_layer(run, layer, ax, hull=layer == layers[-1])
            row[0].set_ylabel(name)
        for ax, layer in zip(panels[0], layers, strict=True):
            ax.set_title(f"layer {layer}")
        figure.supxlabel(KEY, fontsize=8)
        figure.tight_layout()
    return figure
