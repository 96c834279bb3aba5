"""`hardmax clouds`: list the named clouds, or write one of them."""

import inspect
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from hardmax._common.validation import InputError
from hardmax.cli.options import check_target, read_matrix, write_text
from hardmax.cli.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np


def clouds_command(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="Cloud to write; all are listed without it."),
    ] = None,
    n: Annotated[int | None, Option("--n", help="Number of tokens.")] = None,
    d: Annotated[int | None, Option("--d", help="Dimension.")] = None,
    seed: Annotated[int | None, Option(help="Random seed.")] = None,
    sides: Annotated[int | None, Option(help="Number of sides of a polygon.")] = None,
    inside: Annotated[
        str | None, Option(help="Tokens inside the square: '1/2,0;0,1/2' or a file.")
    ] = None,
    rotate: Annotated[
        bool, Option("--rotate", help="Rotate by a 3-4-5 angle: floats then lose ties.")
    ] = False,
    output: Annotated[
        str | None, Option("--output", "-o", help="Write a .csv or .json file.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON instead of CSV.")] = False,
) -> None:
    """List the named clouds, or write one of them.

    For example: hardmax clouds square | hardmax simulate - --alpha 1/2 --layers 30
    """
    from hardmax import clouds
    from hardmax._layer.parts import split_rows

    if name is None:
        _list_clouds(as_json)
        return
    check_target(output, "--output", ".csv", ".json")
    given: dict[str, Any] = {"n": n, "d": d, "seed": seed, "sides": sides}
    given["inside"] = split_rows(read_matrix(inside))
    cloud = _make(name, {option: value for option, value in given.items() if value is not None})
    cloud = clouds.rotated(cloud) if rotate else cloud
    text = _json(cloud) if as_json or (output or "").endswith(".json") else _csv(cloud)
    if output is None:
        print(text)
    else:
        write_text(output, f"{text}\n")


def _makers() -> dict[str, Callable[..., Any]]:
    from hardmax.clouds import MAKERS

    return {name.replace("_", "-"): make for name, make in MAKERS.items()}


def _make(name: str, given: dict[str, Any]) -> Any:
    maker = _makers().get(name.replace("_", "-"))
    if maker is None:
        raise InputError(f"`NAME` must be one of {', '.join(_makers())}, not {name!r:.60}.")
    taken = inspect.signature(maker).parameters
    missing = [
        option
        for option, about in taken.items()
        if about.default is about.empty and option not in given
    ]
    wrong = [option for option in given if option not in taken]
    if wrong or missing:
        options = ", ".join(f"`--{option}`" for option in taken) or "no options"
        problem = f"it has no `--{wrong[0]}`" if wrong else f"`--{missing[0]}` is missing"
        raise InputError(f"The cloud {name!r} takes {options}: {problem}.")
    return maker(**given)


def _list_clouds(as_json: bool) -> None:
    about = [
        {
            "cloud": name,
            "options": [f"--{option}" for option in inspect.signature(maker).parameters],
            "about": (maker.__doc__ or "").strip().split("\n")[0],
        }
        for name, maker in _makers().items()
    ]
    if as_json:
        print_json(about)
    else:
        rows = [[str(row["cloud"]), " ".join(row["options"]), str(row["about"])] for row in about]
        print_table(["cloud", "options", "description"], rows)


# Files are read as the decimals they contain, so a float is written with all of its digits: what is
# read is what was made. Fractions are written as quotients.
def _csv(cloud: "np.ndarray") -> str:
    header = ",".join(f"z{coordinate}" for coordinate in range(cloud.shape[1]))
    return "\n".join([header, *(",".join(map(_digits, row)) for row in cloud.tolist())])


def _json(cloud: "np.ndarray") -> str:
    rows = [
        [f'"{v}"' if isinstance(v, Fraction) else _digits(v) for v in row] for row in cloud.tolist()
    ]
    return "[" + ",\n ".join(f"[{', '.join(row)}]" for row in rows) + "]"


def _digits(value: float | Fraction) -> str:
    return str(Decimal(value) if isinstance(value, float) else value)
