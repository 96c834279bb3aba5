"""`hardmax sweep`: limits of many clouds under many dynamics, as a table."""

import inspect
import sys
from typing import Annotated

from typer import Argument, Option

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError, require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_table


def sweep_command(
    spec: Annotated[str, Argument(metavar="SPEC", help="TOML file with [grid] and [dynamics.…].")],
    output: Annotated[
        str, Option("--output", "-o", metavar="FOLDER", help="Folder for Parquet files.")
    ],
    jobs: Annotated[int, Option(help="Number of processes.")] = 1,
    as_json: opt.AsJson = False,
) -> None:
    """Find the limits of many clouds under many dynamics.

    SPEC has the arguments of `hm.sweep`: [grid] with n, d and seeds, each one value or a list;
    tables [dynamics.NAME], each with alpha and other parts of a layer; `maker`, the name of a
    cloud; and `observables`. If it is interrupted, the same command continues."""
    require_extra("`hardmax sweep`", "sweep", "joblib", "pyarrow")
    document = opt.read_toml(spec, "expected a TOML file with [grid] and [dynamics.NAME]")

    # Only now: numpy and scipy take a while to import.
    import joblib

    from hardmax.clouds import MAKERS
    from hardmax.dynamics import Dynamics
    from hardmax.sweeps import sweep

    try:
        maker = MAKERS[document.pop("maker", "gaussian").replace("-", "_")]
        layers = {name: Dynamics(**parts) for name, parts in document.pop("dynamics").items()}
        given = inspect.signature(sweep).bind(**document, dynamics=layers, maker=maker)
    except (TypeError, KeyError, AttributeError) as error:
        wish = "must have [grid], [dynamics.NAME] and, if need be, `observables` and `maker`"
        raise InputError(f"{shown_name(spec)} {wish}: {error}.") from None
    with joblib.parallel_config(n_jobs=jobs, verbose=10 * sys.stderr.isatty()):
        table = sweep(*given.args, **given.kwargs, output=output)
    if as_json:
        print_json({"output": output, "rows": table.to_pylist()})
    else:
        print_table(table.column_names, (list(row.values()) for row in table.to_pylist()))
