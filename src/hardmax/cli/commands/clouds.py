"""`hardmax clouds`: the named clouds, and any of them as a file."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from hardmax._validation import InputError
from hardmax.cli.options import grouped, read_matrix
from hardmax.cli.output import narrate, print_json, print_table

NAMES = ("triangle", "emerging_leader", "square", "nonleader_clusters", "polygon", "gaussian", "grid")


@dataclass(frozen=True)
class CloudOptions:
    """What a named cloud is made with."""

    n: Annotated[int | None, typer.Option("--n", help="Number of tokens.")] = None
    d: Annotated[int | None, typer.Option("--d", help="Dimension.")] = None
    seed: Annotated[int | None, typer.Option(help="Seed of what is drawn at random.")] = None
    sides: Annotated[int | None, typer.Option(help="Sides of a polygon.")] = None
    side: Annotated[int | None, typer.Option(help="Points along the side of a grid.")] = None
    inside: Annotated[str | None, typer.Option(help="Tokens in the square: '1/2,0;0,1/2' or a file.")] = None

    def given(self) -> dict[str, Any]:
        """What was given, as arguments of whatever makes the cloud."""
        read = {"inside": self.inside and read_matrix(self.inside, "`--inside`")}
        return {option: value for option, value in (asdict(self) | read).items() if value is not None}


@grouped
def clouds_command(
    name: Annotated[str | None, typer.Argument(help="The cloud to write; all are listed without it.")] = None,
    *,
    options: CloudOptions,
    turn: Annotated[bool, typer.Option("--turn", help="Turn by fifths, where floats lose ties.")] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A .csv, .json or .npy file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of CSV.")] = False,
) -> None:
    """List the named clouds, or write one of them.

    For example: hardmax clouds square | hardmax simulate - --alpha 1/2 --layers 30
    """
    from hardmax import clouds
    from hardmax.cli.files import clouds as clouds_files

    if name is None:
        _list_clouds(as_json)
        return
    cloud = _make(name, options.given())
    cloud = clouds.rotated(cloud) if turn else cloud
    if output is not None:
        clouds_files.write(cloud, output)
        narrate(f"wrote {output}")
    else:
        print(clouds_files.as_json(cloud) if as_json else clouds_files.as_csv(cloud), end="")


def _makers() -> dict[str, Callable[..., Any]]:
    from hardmax import clouds

    return {name.replace("_", "-"): getattr(clouds, name) for name in NAMES}


def _make(name: str, given: dict[str, Any]) -> Any:
    maker = _makers().get(name.replace("_", "-"))
    if maker is None:
        raise InputError(f"`name` must be one of {', '.join(_makers())}, not {name!r:.60}.")
    taken = inspect.signature(maker).parameters
    missing = [option for option, about in taken.items() if about.default is about.empty and option not in given]
    wrong = [option for option in given if option not in taken]
    if wrong or missing:
        options = tuple(f"`{option}`" for option in taken)
        problem = f"`{wrong[0]}` is none of them" if wrong else f"`{missing[0]}` is missing"
        message = f"The cloud {name!r} takes {', '.join(options) or 'no options'}: {problem}."
        raise InputError(message, argument=(wrong or missing)[0], also=options)
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
        print_table(["cloud", "options", "what it is"], rows)
