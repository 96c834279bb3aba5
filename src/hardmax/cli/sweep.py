"""Find the limits of many clouds under many dynamics.

SPEC has the arguments of `hm.sweep`: [grid] with n, d and seeds, each one value or a list; tables
[dynamics.NAME], each with alpha and other parts of a layer; `maker`, the name of a cloud; and
`observables`. If it is interrupted, the same command continues."""

import inspect
from argparse import Namespace

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError, require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_table

INTERRUPTED = 130
OPTIONS = {
    "SPEC": {"help": "TOML file with [grid] and [dynamics.NAME]."},
    "-o --output": opt.value("FOLDER", "Folder for Parquet files.", required=True),
    "--jobs": opt.number("Number of processes.", default=1),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    require_extra("`hardmax sweep`", "sweep", "joblib", "pyarrow")
    document = opt.read_toml(args.SPEC, "expected a TOML file with [grid] and [dynamics.NAME]")

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
        raise InputError(f"{shown_name(args.SPEC)} {wish}: {error}.") from None
    with joblib.parallel_config(n_jobs=args.jobs):
        table = sweep(*given.args, **given.kwargs, output=args.output)
    rows = table.to_pylist()
    if args.json:
        print_json({"output": args.output, "rows": rows})
    else:
        print_table(list(rows[0]), (list(row.values()) for row in rows))
    return INTERRUPTED * bool(table.schema.metadata)
