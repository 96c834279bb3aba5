"""Runs in files: `.npz` (arrays, with the rest as JSON inside) or `.json` (everything in plain text). Never pickle.

Both hold the same document. Its arrays are lists in JSON; in npz each is an entry of its own, and the document says
`{"array": name}` in its place. The integers of exact runs are
hexadecimal texts: they are long, and decimal ones would take time that grows with the square of the length.
"""

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.arithmetics import engines_for
from hardmax.engines.cpu import CPU
from hardmax.engines.floating import FloatEngine, TieSlack
from hardmax.engines.stretch import ExactStretch, FloatStretch
from hardmax.errors import InputError
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.files import write_whole
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import IntegerCloud

FORMAT, VERSION = "hardmax-trajectory", 2
_DOCUMENT = "document"


def save(run: Trajectory, path: Path) -> None:
    """Write a run, whole or not at all."""
    document = _document(run)
    if path.suffix.lower() == ".json":
        write_whole(path, json.dumps(document, default=np.ndarray.tolist).encode())
    elif path.suffix.lower() == ".npz":
        arrays: dict[str, np.ndarray] = {}

        def set_aside(array: np.ndarray) -> dict[str, str]:
            name = f"a{len(arrays)}"
            arrays[name] = array
            return {"array": name}

        text = json.dumps(document, default=set_aside).encode()
        buffer = io.BytesIO()
        arrays[_DOCUMENT] = np.frombuffer(text, dtype=np.uint8)
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        write_whole(path, buffer.getvalue())
    else:
        raise InputError(f"`path` must end in .npz or .json, not {path.suffix or 'nothing'!r}.")


def load(path: Path) -> Trajectory:
    """Read a run; a file that is not one is told apart in one line."""
    try:
        document = _read(path)
        if document.get("format") != FORMAT:
            raise InputError(f"{path} is not a saved run of hardmax.")
        if document.get("version") != VERSION:
            raise InputError(f"{path} has version {document.get('version')!r}; this hardmax reads version {VERSION}.")
        return _run(document)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InputError(
            f"{path} is damaged or not a saved run of hardmax ({type(error).__name__}: {reason})."
        ) from None


def _read(path: Path) -> dict[str, Any]:
    if path.suffix.lower() == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    with np.load(path, allow_pickle=False) as archive:
        text = archive[_DOCUMENT].tobytes().decode()

        def put_back(item: dict[str, Any]) -> Any:
            return archive[item["array"]] if set(item) == {"array"} else item

        return json.loads(text, object_hook=put_back)


def _document(run: Trajectory) -> dict[str, Any]:
    judge = run.engine.judge if isinstance(run.engine, FloatEngine) else None
    return {
        "format": FORMAT,
        "version": VERSION,
        "alpha": str(run.dynamics.alpha),
        "metric": None if run.dynamics.metric is None else [[str(x) for x in row] for row in run.dynamics.metric],
        "arithmetic": run.arithmetic,
        "tie_slack": judge.relative if isinstance(judge, TieSlack) else None,
        "recorded": list(run.recorded),
        "settled_at": run.settled_at,
        "stopped": run.stopped,
        "leader_since": run.leader_since,
        "margin_at": [[layer, _finite(margin)] for layer, margin in run.margin_at.items()],
        "decided_by": [[layer, search] for layer, search in run.decided_by.items()],
        "points": {
            "coordinates": _numbers(run.points.coordinates),
            "multiplicities": run.points.multiplicities,
            "of_token": run.points.of_token,
        },
        "stretches": [_stretch_document(stretch) for stretch in run.stretches],
    }


def _stretch_document(stretch: FloatStretch | ExactStretch) -> dict[str, Any]:
    shared = {
        "layer": stretch.layer,
        "until": stretch.until,
        "indices": stretch.choices.indices,
        "offsets": stretch.choices.offsets,
        "alone": stretch.alone,
        "margin": _finite(stretch.margin),
        "decided_by": stretch.decided_by,
    }
    if isinstance(stretch, FloatStretch):
        return shared | {
            "positions": stretch.positions,
            "targets": stretch.targets,
            "error": _finite(stretch.error),
        }
    return shared | {
        "positions": _hexes(stretch.positions.numerators),
        "targets": _hexes(stretch.targets.numerators),
        "denominator": f"{stretch.positions.denominator:x}",
    }


def _run(document: dict[str, Any]) -> Trajectory:
    points = Points(
        _array_of_numbers(document["points"]["coordinates"]),
        np.asarray(document["points"]["multiplicities"], dtype=np.int64),
        np.asarray(document["points"]["of_token"], dtype=np.int64),
    )
    dynamics = Dynamics(document["alpha"], document["metric"], any_metric=True)
    dynamics.check_dimension(points.dimension)
    slack = document["tie_slack"]
    # A cloud that was handed to integers says `exact`: should it be walked again, integers walk it alone.
    engine = engines_for(TieSlack(slack) if slack is not None else document["arithmetic"], CPU)[0]
    since = np.asarray(document["leader_since"], dtype=np.int64)
    if not (since.shape == points.multiplicities.shape == (points.count,) and points.of_token.max() < points.count):
        raise ValueError("arrays of different lengths")
    return Trajectory(
        points=points,
        dynamics=dynamics,
        engine=engine,
        stretches=tuple(_stretch(item, dynamics, points.count) for item in document["stretches"]),
        recorded=tuple(document["recorded"]),
        leader_since=since,
        margin_at={layer: np.inf if margin is None else margin for layer, margin in document["margin_at"]},
        decided_by=dict(document["decided_by"]),
        settled_at=document["settled_at"],
        stopped=str(document["stopped"]),
    )


def _stretch(item: dict[str, Any], dynamics: Dynamics, points: int) -> FloatStretch | ExactStretch:
    choices = Choices(np.asarray(item["indices"], dtype=np.int64), np.asarray(item["offsets"], dtype=np.int64))
    if len(choices) != points or not 0 <= choices.indices.min() <= choices.indices.max() < points:
        raise ValueError("attended sets that name no point")
    shared = {
        "layer": item["layer"],
        "until": item["until"],
        "choices": choices,
        "alone": np.asarray(item["alone"], dtype=bool),
        "margin": np.inf if item["margin"] is None else item["margin"],
        "keep": dynamics.keep,
        "decided_by": str(item["decided_by"]),
    }
    if "denominator" in item:
        denominator = int(item["denominator"], 16)
        positions, targets = (IntegerCloud(_integers(item[key]), denominator) for key in ("positions", "targets"))
        return ExactStretch(**shared, positions=positions, targets=targets)
    positions, targets = (np.asarray(item[key], dtype=np.float64) for key in ("positions", "targets"))
    error = np.nan if item["error"] is None else item["error"]
    return FloatStretch(**shared, positions=positions, targets=targets, error=error)


def _finite(value: float) -> float | None:
    """JSON knows no inf and no nan."""
    return value if np.isfinite(value) else None


def _numbers(coordinates: np.ndarray) -> np.ndarray | list[list[str]]:
    return [[str(value) for value in row] for row in coordinates] if coordinates.dtype == object else coordinates


def _array_of_numbers(values: Any) -> np.ndarray:
    if isinstance(values, list) and isinstance(values[0][0], str):
        return np.array([[Fraction(value) for value in row] for row in values], dtype=object)
    return np.asarray(values, dtype=np.float64)


def _hexes(rows: list[list[int]]) -> list[list[str]]:
    return [[f"{value:x}" for value in row] for row in rows]


def _integers(rows: list[list[str]]) -> list[list[int]]:
    return [[int(value, 16) for value in row] for row in rows]
