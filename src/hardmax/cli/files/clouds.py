"""A cloud as CSV, JSON or npy.

Files of text are read as the decimals they say, so a float is written with all of its digits: what is read is what
was made. Fractions are written as quotients.
"""

import io
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from hardmax._files import write_whole
from hardmax._validation import InputError


def write(cloud: np.ndarray, path: str) -> None:
    """Writes the cloud in the form that the suffix names."""
    match Path(path).suffix:
        case ".csv":
            write_whole(path, as_csv(cloud).encode())
        case ".json":
            write_whole(path, as_json(cloud).encode())
        case ".npy":
            write_whole(path, _as_npy(cloud, path))
        case _:
            raise InputError(f"`--output` must end in .csv, .json or .npy, not {path!r}.")


def as_csv(cloud: np.ndarray) -> str:
    """A line for each token, under a header."""
    header = ",".join(f"z{coordinate}" for coordinate in range(cloud.shape[1]))
    return "\n".join([header, *(",".join(map(_written, row)) for row in cloud.tolist())]) + "\n"


def as_json(cloud: np.ndarray) -> str:
    """A list of tokens."""
    rows = ("[" + ", ".join(map(_written_in_json, row)) + "]" for row in cloud.tolist())
    return "[" + ",\n ".join(rows) + "]\n"


def _as_npy(cloud: np.ndarray, path: str) -> bytes:
    if cloud.dtype == object:
        raise InputError(f"`--output` {path!r} cannot hold fractions such as {cloud[0, 0]}: use .csv or .json.")
    buffer = io.BytesIO()
    np.save(buffer, cloud)
    return buffer.getvalue()


def _written(value: float | Fraction) -> str:
    return str(Decimal(value) if isinstance(value, float) else value)


def _written_in_json(value: float | Fraction) -> str:
    return json.dumps(str(value)) if isinstance(value, Fraction) else _written(value)
