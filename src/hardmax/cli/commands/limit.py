"""`hardmax limit`: where every token ends after infinitely many layers."""

from typing import Annotated

import typer

from hardmax.cli.files.limit import Targets
from hardmax.cli.options import Alpha, AsJson, TokenFile, WalkOptions, grouped
from hardmax.cli.output import narrate, print_json, progress_bar


@grouped
def limit_command(
    file: TokenFile,
    alpha: Alpha,
    *,
    walk: WalkOptions,
    max_layers: Annotated[
        int | None, typer.Option(help="Give up after so many layers: 10000, or 500 where the theorem is silent.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check every statement of the theorem on the cloud.")] = False,
    targets: Targets,
    as_json: AsJson = False,
) -> None:
    """Find where every token ends after infinitely many layers.

    Says what kind of point each limit is, who leads and since when, and whether the theorem applies.
    """
    from hardmax.cli.reports import limit as limit_report
    from hardmax.io import read_cloud

    targets.check()
    dynamics, tokens = walk.dynamics(alpha), read_cloud(file)
    targets.check_fit(tokens)

    # Only now, since scipy takes most of a second to come.
    from hardmax.limits import limit
    from hardmax.theorem import check_theorem

    engine = walk.engine()
    with progress_bar("clouds") as progress:
        result = limit(
            tokens, dynamics, max_layers=max_layers, arithmetic=walk.arithmetic, engine=engine, progress=progress
        )
    with progress_bar("statements"):
        reports = [check_theorem(lim) for lim in limit_report.limits_of(result)] if check else None
    for path in targets.write(result, reports):
        narrate(f"wrote {path}")
    if as_json:
        print_json(limit_report.document(result, reports))
    else:
        if targets.output is None:
            limit_report.show(result)
        if reports is not None:
            limit_report.show_checks(reports)
    if reports is not None and not all(reports):
        raise typer.Exit(1)
