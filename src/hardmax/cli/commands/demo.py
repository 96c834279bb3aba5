"""`hardmax demo`: what the package is for, shown on a cloud that ships with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli.output import narrate, print_table
from hardmax.cli.reports.phrases import say

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory

WATCHED = (4, 5)
DEPTHS = (10, 30, 100, 1_000)
DRAWN = 100
STORY = (
    'The paper\'s "non-leader clusters": a square of four leaders, the tokens (1/2, 0) and (-1/2, 0), four more, '
    "turned by the rotation of the 3-4-5 triangle. Each of tokens 4 and 5 looks straight at an edge: it attends to "
    "both ends of it, and tends to the middle, (3/5, 4/5) and (-3/5, -4/5). Here alpha is 1/2, and A the identity. "
    "Where token 4 is, in three arithmetics:"
)


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pictures and the proof.")] = Path(
        "demo"
    ),
    reviews: Annotated[
        str | None, typer.Option(help="A file of texts with labels, as `evaluate` reads it: its first two are read.")
    ] = None,
) -> None:
    """Show what the package is for, on one cloud and two film reviews.

    Runs the cloud in floats and exactly, tells the difference, finds the limit, has its proof checked, and draws all
    that; then says of two reviews what they think of the film, and why: two of ours, or the first two of a file.
    """
    import numpy as np

    from hardmax import clouds
    from hardmax._float.policies import TieSlack
    from hardmax.cli.demo.limit import tell_limit
    from hardmax.cli.demo.reviews import REVIEWS, first_reviews, tell_reviews
    from hardmax.dynamics import Dynamics
    from hardmax.figures.layers import arithmetics_figure
    from hardmax.figures.style import save_figure
    from hardmax.limits import limit
    from hardmax.simulation import simulate

    told = REVIEWS if reviews is None else first_reviews(reviews)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise InputError(f"`--output` {str(output)!r} cannot be made a folder: {why}.") from None
    cloud = clouds.rotated(clouds.nonleader_clusters())
    arithmetics = {
        "floats, ==": TieSlack(0.0),
        "floats, tie slack": "float",
        "certified": "certified",
    }
    runs = {
        name: simulate(cloud, Dynamics("1/2"), layers=DEPTHS[-1], arithmetic=arithmetic)
        for name, arithmetic in arithmetics.items()
    }
    say(STORY)
    rows = [[f"{depth:,}", *(_place(run, depth) for run in runs.values())] for depth in DEPTHS]
    rows.append(["margin", *(f"{run.smallest_margin:.1e}" for run in runs.values())])
    rows.append(["proved", *("yes" if run.certified else "no" for run in runs.values())])
    print_table(["layer", *runs], rows, right=["layer"])
    truth = runs["certified"]
    goals = truth.at(truth.layers)[list(WATCHED)]
    for name, run in runs.items():
        miss = float(np.linalg.norm(run.at(run.layers)[WATCHED[0]] - goals[0]))
        say(f"{name}: {_verdict(run, miss)}")
    picture = output / "arithmetics.png"
    shown = {
        f"{name}, {DRAWN} layers": simulate(cloud, Dynamics("1/2"), layers=DRAWN, arithmetic=arithmetic)
        for name, arithmetic in arithmetics.items()
    }
    save_figure(arithmetics_figure(shown, WATCHED, goals), picture)
    written = [picture, *tell_limit(limit(cloud, Dynamics("1/2")), WATCHED[0], output), *tell_reviews(told, output)]
    for path in written:
        narrate(f"wrote {path}")


def _place(run: "Trajectory", layer: int) -> str:
    x, y = run.at(layer)[WATCHED[0]]
    return f"({x:.2f}, {y:.2f})"


def _verdict(run: "Trajectory", miss: float) -> str:
    if miss > run.layers * 1e-12:
        return f"token 4 ends at a vertex, {miss:.2f} from where it belongs."
    settled = f"settled at layer {run.settled_at}, so layer {run.layers:,} follows from a formula"
    return f"token 4 ends on the edge, where it belongs ({settled}; decided by: {run.arithmetic})."
