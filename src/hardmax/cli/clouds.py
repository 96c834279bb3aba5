"""List the named clouds, or write one of them as CSV.

For example: hardmax clouds integers --n 4 | hardmax limit - --alpha 1/2 --exact"""

import inspect
from argparse import Namespace

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_text

OPTIONS = {
    "NAME": {"nargs": "?", "help": "Cloud to write; all are listed without it."},
    "--n": opt.number("Number of tokens."),
    "--d": opt.number("Dimension."),
    "--seed": opt.number("Random seed."),
    "--sides": opt.number("Number of sides of a polygon."),
    "-o --output": opt.target("Write a .csv file.", ".csv"),
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax import clouds

    makers = {name.replace("_", "-"): make for name, make in clouds.MAKERS.items()}
    if args.NAME is None:
        for name, make in makers.items():
            print_text(f"{name:20}{(make.__doc__ or '').splitlines()[0]}")
        return
    if args.NAME not in makers:
        raise InputError(f"NAME must be one of {', '.join(makers)}, not {args.NAME!r}.")
    given = {name: getattr(args, name) for name in ("n", "d", "seed", "sides")}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        inspect.signature(makers[args.NAME]).bind(**given)
    except TypeError as error:
        raise InputError(f"`hardmax clouds {args.NAME}`: {error}.") from None
    rows = makers[args.NAME](**given).tolist()
    lines = [",".join(str(value).removesuffix(".0") for value in row) for row in rows]
    text = "\n".join([",".join(f"z{axis}" for axis in range(len(rows[0]))), *lines])
    if args.output is None:
        print_text(text)
    else:
        opt.write_text(args.output, f"{text}\n")
