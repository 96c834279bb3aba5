"""A run as a document: plain data and arrays, from which the same run is made again. Never pickle.

The integers of exact runs are hexadecimal texts: they are long, and decimal ones would take time that grows with the
square of the length.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.arithmetics import engines_for
from hardmax.engines.cpu import CPU
from hardmax.engines.floating import FloatEngine
from hardmax.engines.judges import TieSlack
from hardmax.engines.stretch import ExactStretch, FloatStretch, Told
from hardmax.runs.packing import RUN, damage_named, read_document, write_document
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import IntegerCloud


def save(run: Trajectory, path: Path) -> None:
    """Write a run to a `.npz` or `.json` file, whole or not at all."""
    write_document(path, RUN, run_document(run))


def load(path: Path) -> Trajectory:
    """Read a run; a file that is not one is told apart in one line."""
    document = read_document(path, RUN)
    with damage_named(path):
        return run_of(document)


def run_document(run: Trajectory) -> dict[str, Any]:
    """Everything that a run is."""
    judge = run.engine.judge if isinstance(run.engine, FloatEngine) else None
    return dynamics_document(run.dynamics) | {
        "arithmetic": run.engine.arithmetic,
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


def run_of(document: dict[str, Any]) -> Trajectory:
    """The run that a document tells of."""
    points = Points(
        _array_of_numbers(document["points"]["coordinates"]),
        np.asarray(document["points"]["multiplicities"], dtype=np.int64),
        np.asarray(document["points"]["of_token"], dtype=np.int64),
    )
    dynamics = dynamics_of(document)
    dynamics.check_dimension(points.dimension)
    slack = document["tie_slack"]
    engine = engines_for(TieSlack(slack) if slack is not None else document["arithmetic"], CPU)[0]
    since = np.asarray(document["leader_since"], dtype=np.int64)
    if not (since.shape == points.multiplicities.shape == (points.count,) and points.of_token.max() < points.count):
        raise ValueError("arrays of different lengths")
    return Trajectory(
        points=points,
        dynamics=dynamics,
        engine=engine,
        stretches=tuple(_stretch(item, dynamics, points) for item in document["stretches"]),
        recorded=tuple(document["recorded"]),
        leader_since=since,
        margin_at={layer: np.inf if margin is None else margin for layer, margin in document["margin_at"]},
        decided_by=dict(document["decided_by"]),
        settled_at=document["settled_at"],
        stopped=str(document["stopped"]),
    )


def dynamics_document(dynamics: Dynamics) -> dict[str, Any]:
    """alpha and the metric, as exact as they are."""
    metric = dynamics.metric
    return {
        "alpha": str(dynamics.alpha),
        "metric": None if metric is None else [[str(entry) for entry in row] for row in metric],
    }


def dynamics_of(document: dict[str, Any]) -> Dynamics:
    """The parameters that a document tells of."""
    return Dynamics(document["alpha"], document["metric"], any_metric=True)


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
            # Means are worked out from exact positions, which are not written.
            "targets": None if stretch.choices.all_single else stretch.targets,
            "error": _finite(stretch.error),
        }
    return shared | {
        "positions": _hexes(stretch.positions.numerators),
        "targets": _hexes(stretch.targets.numerators),
        "denominator": f"{stretch.positions.denominator:x}",
    }


def _stretch(item: dict[str, Any], dynamics: Dynamics, points: Points) -> FloatStretch | ExactStretch:
    choices = Choices(np.asarray(item["indices"], dtype=np.int64), np.asarray(item["offsets"], dtype=np.int64))
    if len(choices) != points.count or not 0 <= choices.indices.min() <= choices.indices.max() < points.count:
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
    places = Told(np.asarray(item["positions"], dtype=np.float64), points.multiplicities)
    told = None if item.get("targets") is None else np.asarray(item["targets"], dtype=np.float64)
    return FloatStretch(**shared, places=places, error=np.nan if item["error"] is None else item["error"], told=told)


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
