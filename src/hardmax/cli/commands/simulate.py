"""`hardmax simulate`: run a cloud, or many, through the layers."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardmax.cli.options import (
    Alpha,
    AnyMetric,
    Arithmetic,
    AsJson,
    Metric,
    OnGpu,
    Search,
    Threads,
    TokenFile,
    check_target,
    read_dynamics,
    read_engine,
    read_record,
    read_size,
    read_stop,
)
from hardmax.cli.output import narrate, print_json, progress_bar

if TYPE_CHECKING:
    from hardmax.runs.trajectories import Trajectories
    from hardmax.runs.trajectory import Trajectory


def simulate_command(
    file: TokenFile,
    alpha: Alpha,
    layers: Annotated[int | None, typer.Option(help="How many layers to run.")] = None,
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Run until no token ever changes whom it attends to.")
    ] = False,
    metric: Metric = None,
    any_metric: AnyMetric = False,
    arithmetic: Arithmetic = "certified",
    threads: Threads = None,
    search: Search = None,
    gpu: OnGpu = False,
    record: Annotated[str, typer.Option(help="Layers to keep: all, last, or a number m for every m-th.")] = "all",
    memory_limit: Annotated[str, typer.Option(help="Refuse to keep more than this.")] = "4GiB",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the run to a .npz, .json or .csv file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a cloud, or many, through the layers.

    Says where every token is, who leads and since when, and what decided it.
    """
    from hardmax.cli.files import simulate as simulate_files
    from hardmax.cli.reports import simulate as simulate_report
    from hardmax.tokens.files import read_cloud

    stop, kept, limit = read_stop(layers, until_settled), read_record(record), read_size(memory_limit)
    if output is not None:
        check_target(output, "--output", simulate_files.SUFFIXES)
    dynamics, tokens = read_dynamics(alpha, metric, any_metric), read_cloud(file)

    # Only now, since scipy takes most of a second to come.
    from hardmax.runs.simulation import simulate

    engine = read_engine(threads, search, gpu)
    with progress_bar("clouds") as progress:
        result: Trajectory | Trajectories = simulate(
            tokens,
            dynamics,
            stop=stop,
            arithmetic=arithmetic,
            record=kept,
            memory_limit=limit,
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
