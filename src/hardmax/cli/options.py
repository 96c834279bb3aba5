"""Options that several commands share, alone and in groups, and values that are more than a number.

A group is a dataclass whose fields are options; `grouped` lets a command take some.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax._validation import InputError, require_extra

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics
    from hardmax.engines import Engine
    from hardmax.stops import Every, LastOnly, Stop

TokenFile = Annotated[
    str, typer.Argument(help="CSV, JSON, npy, npz or Parquet file of tokens, one a row; - is standard input.")
]
Alpha = Annotated[str, typer.Option(help="Step of a layer, positive: 1/2 or 0.5.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

PICTURES = (".png", ".svg", ".pdf")


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it and people call it: with the fields of its groups in place of the groups.

    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 1
    >>> @grouped
    ... def draw(name: str, *, size: Size, times: int = 1) -> None:
    ...     print(name, size, times)
    >>> list(inspect.signature(draw).parameters)
    ['name', 'width', 'height', 'times']
    >>> draw("box", height=2)
    box Size(width=1, height=2) 1
    """
    taken = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in taken.items() if is_dataclass(one.annotation)}
    fields = {name: inspect.signature(group).parameters for name, group in groups.items()}
    flat = [one for name, own in taken.items() for one in (fields[name].values() if name in fields else (own,))]
    signature = inspect.Signature([one.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in flat])

    @wraps(command)
    def with_fields(*args: Any, **kwargs: Any) -> None:
        given = signature.bind(*args, **kwargs).arguments
        whole = {
            name: group(**{field: given.pop(field) for field in fields[name] if field in given})
            for name, group in groups.items()
        }
        command(**given, **whole)

    with_fields.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
    with_fields.__annotations__ = {one.name: one.annotation for one in flat}
    return with_fields


@dataclass(frozen=True)
class WalkOptions:
    """How layers are walked."""

    metric: Annotated[
        str | None, typer.Option(help="The matrix A, as '2,1;1,1' or a file; the identity if not given.")
    ] = None
    arithmetic: Annotated[
        str, typer.Option(help="certified (proved floats, else integers), exact (integers) or float.")
    ] = "certified"
    threads: Annotated[
        int | None, typer.Option(help="Processor threads to use; all, if not given. Changes no result.")
    ] = None
    search: Annotated[
        str | None,
        typer.Option(help="Search to use: dense, plane, shells or rounded; the one that suits, if not given."),
    ] = None
    gpu: Annotated[bool, typer.Option("--gpu", help="Work on the graphics card (needs the extra gpu).")] = False

    def dynamics(self, alpha: str) -> "Dynamics":
        """The parameters of a layer, as they were typed."""
        from hardmax.dynamics import Dynamics

        metric = None if self.metric is None else read_matrix(self.metric, "`--metric`")
        return Dynamics(alpha, metric)

    def engine(self) -> "Engine":
        """What shall do the work."""
        from hardmax.engines import Cpu, Gpu

        if self.gpu and (self.threads is not None or self.search is not None):
            raise InputError("`--gpu` goes with neither `--threads` nor `--search`: these are for the processor.")
        if not self.gpu:
            return Cpu(self.search, self.threads)
        Gpu().check()
        return Gpu()


@dataclass(frozen=True)
class StopOptions:
    """When a run ends."""

    layers: Annotated[int | None, typer.Option(help="How many layers to run.")] = None
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Run until no token ever changes whom it attends to.")
    ] = False

    def read(self) -> "Stop":
        """The one of the two that was asked for."""
        from hardmax.stops import AfterLayers, Settled

        if (self.layers is not None) == self.until_settled:
            came = "both came" if self.until_settled else "neither came"
            raise InputError(f"give either `--layers` (such as --layers 30) or `--until-settled`: {came}.")
        return AfterLayers(self.layers) if self.layers is not None else Settled()


def read_matrix(text: str, name: str) -> Any:
    """A matrix, written out as `2,1;1,1` or stored in a file."""
    from hardmax._tokens.batches import read_table
    from hardmax.io import read_cloud

    is_file = len(text) < 256 and Path(text).is_file()
    return read_cloud(text) if is_file else read_table([row.split(",") for row in text.strip(" ;").split(";")], name)


def read_number(text: str, option: str) -> float:
    """A number, or a quotient of two.

    >>> read_number("1/2", "--alpha"), read_number("0.1", "--alpha")
    (0.5, 0.1)
    """
    over, slash, under = text.partition("/")
    try:
        return float(over) / float(under) if slash else float(over)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"`{option}` must be a number such as 0.5 or 1/2, not {text!r:.60}.") from None


def read_record(text: str) -> "Every | LastOnly":
    """`all`, `last`, or a number m: every m-th layer."""
    from hardmax.stops import Every, LastOnly

    if text == "all":
        return Every(1)
    if text == "last":
        return LastOnly()
    if not re.fullmatch("0*[1-9][0-9]{0,17}", text):
        raise InputError(f"`--record` must be all, last, or a number m for every m-th layer, not {text!r}.")
    return Every(int(text))


def check_picture(path: str, option: str) -> None:
    """Refuses before the work a picture that could not be drawn or written after it."""
    check_target(path, option, PICTURES)
    require_extra(f"`{option}`", "figures", "matplotlib")


def check_target(path: str, option: str, suffixes: tuple[str, ...]) -> None:
    """Refuses before the work what could not be written after it."""
    if Path(path).suffix not in suffixes:
        wish = suffixes[0] if len(suffixes) == 1 else f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise InputError(f"`{option}` must end in {wish}, not {path!r}.")
    if not Path(path).parent.is_dir():
        raise InputError(f"`{option}` {path!r}: the folder does not exist. Make it first.")
