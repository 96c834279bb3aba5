"""List the named clouds, or write one of them.

For example: hardmax clouds square | hardmax simulate - --alpha 1/2 --layers 30"""

import inspect
from argparse import Namespace
from decimal import Decimal
from fractions import Fraction

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_table

GIVEN = ("n", "d", "seed", "sides")


OPTIONS = {
    "NAME": {"nargs": "?", "help": "Cloud to write; all are listed without it."},
    "--n": opt.number("Number of tokens."),
    "--d": opt.number("Dimension."),
    "--seed": opt.number("Random seed."),
    "--sides": opt.number("Number of sides of a polygon."),
    "--rotate": opt.flag("Rotate by a 3-4-5 angle: floats then lose ties."),
    "-o --output": opt.target("Write a .csv or .json file.", ".csv", ".json"),
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    from hardmax import clouds

    makers = {name.replace("_", "-"): make for name, make in clouds.MAKERS.items()}
    if args.NAME is None:
        about = [[name, (make.__doc__ or "").split("\n")[0]] for name, make in makers.items()]
        if args.json:
            print_json(dict(about))
        else:
            print_table(["cloud", "description"], about)
        return
    if args.NAME not in makers:
        raise InputError(f"NAME must be one of {', '.join(makers)}, not {args.NAME!r}.")
    maker = makers[args.NAME]
    given = {name: value for name in GIVEN if (value := getattr(args, name)) is not None}
    try:
        inspect.signature(maker).bind(**given)
    except TypeError as error:
        raise InputError(f"`hardmax clouds {args.NAME}`: {error}.") from None
    cloud = maker(**given)
    rows = (clouds.rotated(cloud) if args.rotate else cloud).tolist()
    text = _json(rows) if args.json or (args.output or "").endswith(".json") else _csv(rows)
    if args.output is None:
        print(text)
    else:
        opt.write_text(args.output, f"{text}\n")


Rows = list[list[float | Fraction]]


# Files are read as the decimals they contain, so a float is written with all of its digits: what is
# read is what was made.
def _csv(rows: Rows) -> str:
    header = ",".join(f"z{coordinate}" for coordinate in range(len(rows[0])))
    return "\n".join([header, *(",".join(map(_digits, row)) for row in rows)])


def _json(rows: Rows) -> str:
    lines = (", ".join(f'"{_digits(value)}"' for value in row) for row in rows)
    return "[" + ",\n ".join(f"[{line}]" for line in lines) + "]"


def _digits(value: float | Fraction) -> str:
    return str(Decimal(value) if isinstance(value, float) else value)
