"""What `hardmax reproduce` makes is made of pieces: each is computed into plain numbers, and drawn from these alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardmax.figures.style import Figure
from hardmax.paper.telling import Progress, say_nothing

Numbers = dict[str, Any]
"""Plain data, as JSON holds it: lists, numbers, strings, None."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a piece may use: how much time, which data, and whom it tells how far it is."""

    full: bool = False  # hours, if that is what it takes, instead of a minute
    data: Path | None = None  # a folder with train.parquet and test.parquet of IMDb; None: what ships with the package
    seed: int = 0
    progress: Progress = say_nothing


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One thing of the paper, or one answer to what it leaves open.

    `draw` gives figures by what is appended to the name in the names of their files: {"": figure} for one alone.
    `table` gives rows, the names of columns first. `animate` writes a moving picture to the path.
    """

    name: str  # what the command line and all files call it
    title: str
    caption: str  # what is seen, for somebody who has nothing but the picture
    compute: Callable[[Setting], Numbers]
    draw: Callable[[Numbers], Mapping[str, Figure]]
    table: Callable[[Numbers], Sequence[Sequence[Any]]] | None = None
    animate: Callable[[Numbers, Path], None] | None = None
    remark: Callable[[Numbers], str] | None = None  # a paragraph: what the numbers say, beside what the authors found
