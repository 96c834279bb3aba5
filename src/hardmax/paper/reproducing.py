"""Pieces of the paper made in a folder: numbers, pictures, tables, moving pictures, each file named after its piece.

What was computed is kept with the setting it was computed in: a run that was cut short goes on where it was, and one
in the same folder and setting draws again without computing.
"""

import csv
import hashlib
import io
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hardmax._files import write_whole
from hardmax._validation import InputError
from hardmax.figures.style import figure_bytes
from hardmax.paper.piece import Numbers, Piece, Setting

KINDS = ("pdf", "png")


@dataclass(frozen=True, kw_only=True)
class Made:
    """A piece as it lies in the folder."""

    piece: Piece
    numbers: Numbers
    seconds: float  # that computing took, whenever that was
    was_there: bool  # computed by an earlier run
    pictures: tuple[str, ...]  # names of the PNG files; a PDF of the same name is beside each
    table: str | None
    animation: str | None

    @property
    def document(self) -> str:
        """The name of the file with the numbers."""
        return f"{self.piece.name}.json"


@dataclass(frozen=True)
class _Kept:
    """Numbers, and how long they took."""

    numbers: Numbers
    seconds: float


def make(piece: Piece, folder: Path, setting: Setting) -> Made:
    """Compute a piece, unless its numbers are there, and write all its files; each is written whole or not at all."""
    path, circumstances = folder / f"{piece.name}.json", describe(setting)
    there = _read(path, piece.name, circumstances)
    kept = there or _compute(piece, setting)
    if there is None:
        document = {"piece": piece.name, "setting": circumstances, "seconds": kept.seconds, "numbers": kept.numbers}
        write_whole(path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    table = animation = None
    if piece.table is not None:
        table = f"{piece.name}.csv"
        write_whole(folder / table, _csv(piece.table(kept.numbers)))
    if piece.animate is not None:
        animation = f"{piece.name}.gif"
        piece.animate(kept.numbers, folder / animation)
    return Made(
        piece=piece,
        numbers=kept.numbers,
        seconds=kept.seconds,
        was_there=there is not None,
        pictures=tuple(_draw(piece, kept.numbers, folder)),
        table=table,
        animation=animation,
    )


def describe(setting: Setting) -> dict[str, Any]:
    """What decides the numbers, as plain data. Reviews are known by the sizes of their files, wherever these are."""
    files = sorted(setting.data.glob("*.parquet")) if setting.data else []
    data = {file.name: file.stat().st_size for file in files}
    told = {"version": version("hardmax"), "sources": _sources(), "full": setting.full, "seed": setting.seed}
    return told | {"data": data}


@cache
def _sources() -> str:
    """A digest of this room: numbers that another state of it computed may be others, or lack some."""
    digest = hashlib.sha256()
    room = Path(__file__).parent
    for file in sorted(file for kind in ("*.py", "*.json") for file in room.rglob(kind)):
        digest.update(file.relative_to(room).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _compute(piece: Piece, setting: Setting) -> _Kept:
    began = time.perf_counter()
    numbers = piece.compute(setting)
    seconds = round(time.perf_counter() - began, 2)
    return _Kept(json.loads(json.dumps(numbers, allow_nan=False)), seconds)  # what is drawn is what can be kept


def _draw(piece: Piece, numbers: Numbers, folder: Path) -> list[str]:
    """Writes the pictures, and gives back the names of the PNG files."""
    drawn = piece.draw(numbers)
    for suffix, figure in drawn.items():
        for kind in KINDS:
            name = f"{piece.name}{suffix}.{kind}"
            write_whole(folder / name, figure_bytes(figure, name))
    return [f"{piece.name}{suffix}.png" for suffix in drawn]


def _read(path: Path, name: str, circumstances: dict[str, Any]) -> _Kept | None:
    """What an earlier run kept; None if there is nothing, or it was another setting."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {(error.strerror or type(error).__name__).lower()}.") from None
    try:
        found = json.loads(text)
        kept, setting = _Kept(found["numbers"], float(found["seconds"])), found["setting"]
        if found["piece"] != name or not isinstance(kept.numbers, dict):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"`{path}` is not what `hardmax reproduce` keeps: remove it, or name another folder."
        ) from None
    return kept if setting == circumstances else None


def _csv(rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
