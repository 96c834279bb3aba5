"""`hardmax simulate`: run a cloud, or many, through the layers."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardmax.cli.options import (
    Alpha,
    AsJson,
    StopOptions,
    TokenFile,
    WalkOptions,
    check_target,
    grouped,
    read_record,
)
from hardmax.cli.output import narrate, print_json, progress_bar

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectories, Trajectory


@grouped
def simulate_command(
    file: TokenFile,
    alpha: Alpha,
    *,
    stop: StopOptions,
    walk: WalkOptions,
    record: Annotated[str, typer.Option(help="Layers to keep: all, last, or a number m for every m-th.")] = "all",
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the run to a .npz or .csv file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a cloud, or many, through the layers.

    Says where every token is, who leads and since when, and what decided it.
    """
    from hardmax.cli.files import simulate as simulate_files
    from hardmax.cli.reports import simulate as simulate_report
    from hardmax.io import read_cloud

    until, kept = stop.read(), read_record(record)
    if output is not None:
        check_target(output, "--output", simulate_files.SUFFIXES)
    dynamics, tokens = walk.dynamics(alpha), read_cloud(file)

    # Only now, since scipy takes most of a second to come.
    from hardmax.simulation import simulate

    engine = walk.engine()
    with progress_bar("clouds") as progress:
        result: Trajectory | Trajectories = simulate(
            tokens,
            dynamics,
            stop=until,
            arithmetic=walk.arithmetic,
            record=kept,
            progress=progress,
            engine=engine,
        )
    if output is not None:
        simulate_files.write_result(result, output)
        narrate(f"wrote {output}")
    if as_json:
        print_json(simulate_report.document(result))
    elif output is None:
        simulate_report.show(result)
