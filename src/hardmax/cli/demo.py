"""`hardmax demo`: what the package is for, shown on a cloud that ships with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax.cli.output import narrate, print_table

if TYPE_CHECKING:
    from hardmax.runs.trajectory import Trajectory

WATCHED = (4, 5)
DEPTHS = (10, 30, 100, 10_000)
DRAWN = 100
STORY = """\
The paper's "non-leader clusters": a square of four leaders, the tokens (1/2, 0) and (-1/2, 0), four more, turned by the
rotation of the 3-4-5 triangle. Each of tokens 4 and 5 looks straight at an edge: it attends to both ends of it, and
tends to the middle, (3/5, 4/5) and (-3/5, -4/5). alpha = 1/2, A = identity.
"""


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the picture.")] = Path("demo"),
) -> None:
    """Show why the arithmetic is part of the definition.

    Runs one cloud in floats and exactly, tells the difference, and draws it.
    """
    import numpy as np

    from hardmax import clouds
    from hardmax.dynamics import Dynamics
    from hardmax.engines.floating import TieSlack
    from hardmax.figures.arithmetics import arithmetics_figure
    from hardmax.figures.style import save_figure
    from hardmax.runs.simulation import simulate

    cloud = clouds.turned(clouds.nonleader_clusters())
    arithmetics = {
        "floats, ==": TieSlack(0.0),
        "floats, tie slack": "float",
        "certified": "certified",
    }
    runs = {
        name: simulate(cloud, Dynamics("1/2"), layers=DEPTHS[-1], arithmetic=arithmetic)
        for name, arithmetic in arithmetics.items()
    }
    print(STORY)
    print_table(
        ["token 4 at layer", *(f"{depth:,}" for depth in DEPTHS), "smallest margin", "proved"],
        [[name, *(_place(run, depth) for depth in DEPTHS), *_trust(run)] for name, run in runs.items()],
    )
    truth = runs["certified"]
    goals = truth.at(truth.layers)[list(WATCHED)]
    for name, run in runs.items():
        miss = float(np.linalg.norm(run.at(run.layers)[WATCHED[0]] - goals[0]))
        print(f"{name}: {_verdict(run, miss)}")
    output.mkdir(parents=True, exist_ok=True)
    picture = output / "arithmetics.png"
    shown = {
        f"{name}, {DRAWN} layers": simulate(cloud, Dynamics("1/2"), layers=DRAWN, arithmetic=arithmetic)
        for name, arithmetic in arithmetics.items()
    }
    save_figure(arithmetics_figure(shown, WATCHED, goals), picture)
    narrate(f"picture: {picture}")


def _place(run: "Trajectory", layer: int) -> str:
    x, y = run.at(layer)[WATCHED[0]]
    return f"({x:.2f}, {y:.2f})"


def _trust(run: "Trajectory") -> tuple[str, str]:
    return f"{run.smallest_margin:.1e}", "yes" if run.certified else "no"


def _verdict(run: "Trajectory", miss: float) -> str:
    if miss > run.layers * 1e-12:
        return f"token 4 ends at a vertex, {miss:.2f} from where it belongs."
    settled = f"settled at layer {run.settled_at}, so layer 10,000 follows from a formula"
    return f"token 4 ends on the edge, where it belongs ({settled}; decided by: {run.arithmetic})."
