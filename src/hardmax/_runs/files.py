"""Runs as files: an `.npz` with arrays, and a JSON header for the rest.

A run follows from its starting points, so a file has these, and the run is walked again when it is
read: what a file claims need not be true. The last layer is there for others. Fractions are in the
header.
"""

import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hardmax._common.files import read_arrays, read_bytes, shown_name, write_whole
from hardmax._common.validation import InputError, shorten
from hardmax._float.policies import TieSlack
from hardmax._float.search import CPU
from hardmax._float.solver import FloatSolver
from hardmax._runs.run import Plan, Together, run_cloud
from hardmax._runs.trajectory import Stored, Trajectories, Trajectory
from hardmax._tokens.batches import Cloud, Form, Layout, Packed, Ragged
from hardmax._tokens.rationals import as_array
from hardmax.dynamics import Dynamics
from hardmax.engines import solvers_for
from hardmax.stops import AfterLayers, Every, LastOnly, Settled

_FORMAT, _PARTS = "hardmax-run-3", ("alpha", "metric", "value", "mask", "attention", "heads")
_WISH = "expected what `Trajectory.save` or `Trajectories.save` writes"
Result = TypeVar("Result", bound=Stored)


def save(result: Any, path: Path) -> None:
    """Write a run, or the runs of a batch."""
    if path.suffix.lower() != ".npz":
        raise InputError(
            f"`path` must end in .npz, not {path.suffix or 'nothing'!r}.", argument="path"
        )
    if isinstance(result, Trajectory):
        runs, layout, counts = [result], Layout.CLOUD, _multiplicities(result)
    else:
        runs, layout, counts = list(result), result.form.layout, result.multiplicities
    solver = runs[0].solver
    slack = solver.slack if isinstance(solver, FloatSolver) else None
    header: dict[str, Any] = runs[0].dynamics.to_dict() | {
        "format": _FORMAT,
        "layout": layout.name,
        "arithmetic": solver.arithmetic if slack is None else slack.relative,
    }
    arrays = {"tokens": np.concatenate([run.floats_at(run.layers) for run in runs])}
    if isinstance(result, Together) and isinstance(result.plan.record, Every | LastOnly):
        # One kernel walks them all again, about as fast as a file is read.
        stop, record = result.plan.stop, result.plan.record
        header["together"] = [
            stop.last_layer,
            stop.when_settled,
            record.m if isinstance(record, Every) else None,
        ]
        starts = as_array(result.clouds.tokens, "`tokens`")
    else:
        header["runs"] = [[list(run.recorded), run.stopped] for run in runs]
        starts = np.concatenate([run.points.coordinates[run.points.of_token] for run in runs])
    if starts.dtype == object:
        header["starts"] = [[str(Fraction(value)) for value in row] for row in starts]
    else:
        arrays["starts"] = starts
    if layout is not Layout.CLOUD:
        arrays["offsets"] = np.cumsum([0, *(run.n for run in runs)])
    if counts is not None:
        arrays["multiplicities"] = counts
    buffer = io.BytesIO()
    np.savez(
        buffer,
        header=np.frombuffer(json.dumps(header).encode(), np.uint8),
        allow_pickle=False,
        **arrays,
    )
    write_whole(path, buffer.getvalue())


def _multiplicities(run: Trajectory) -> np.ndarray:
    """How often each token counts: together as often as their point does."""
    counts, (_, first) = np.ones(run.n, np.int64), np.unique(run.points.of_token, return_index=True)
    counts[first] += run.points.multiplicities - np.bincount(run.points.of_token)
    return counts


def load(path: Path, kind: type[Result]) -> Result:
    """Read a run, or the runs of a batch; a file that has none is refused in one line."""
    name = shown_name(path)
    arrays = read_arrays(read_bytes(path, _WISH), name)
    try:
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != _FORMAT:
            raise ValueError("of another version")
        result = _result(header, arrays)
    except Exception as error:  # a header may be wrong in any way
        raise InputError(
            f"{name} cannot be read as a run ({shorten(error, 120)}): {_WISH}."
        ) from None
    if not isinstance(result, kind):
        other, has = (
            (Trajectory, "one run")
            if isinstance(result, Trajectory)
            else (Trajectories, "a batch of runs")
        )
        raise InputError(f"{name} has {has}: read it with `{other.__name__}.load`.")
    return result


def _result(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trajectory | Trajectories:
    form, starts = Form(Layout[header["layout"]]), header.get("starts", arrays.get("starts"))
    # `Ragged` refuses what no clouds can be made of.
    offsets = [0, len(starts)] if form.is_single else arrays["offsets"]
    given = Ragged(starts, offsets, arrays.get("multiplicities"))
    clouds = Packed(given.tokens, given.offsets, given.multiplicities)
    parts: dict[str, Any] = {key: header.get(key) for key in _PARTS}
    dynamics, name = Dynamics(**parts), header["arithmetic"]
    dynamics.check_dimension(given.tokens.shape[1])
    solvers = solvers_for(
        TieSlack(name) if isinstance(name, float) else name, CPU, plain=dynamics.is_plain
    )
    if "together" in header:
        layers, when_settled, step = header["together"]
        stop, record = (
            (Settled if when_settled else AfterLayers)(layers),
            LastOnly() if step is None else Every(step),
        )
        return Together(clouds, form, Plan(dynamics, solvers, stop, record), CPU)

    def run_of(cloud: Cloud, recorded: list[int], stopped: str) -> Trajectory:
        record = Every(recorded[1] - recorded[0]) if len(recorded) > 1 else LastOnly()
        plan = Plan(dynamics, solvers, AfterLayers(recorded[-1]), record)
        return replace(run_cloud(cloud, plan, CPU), recorded=tuple(recorded), stopped=stopped)

    runs = [run_of(cloud, *told) for cloud, told in zip(clouds, header["runs"], strict=True)]
    return runs[0] if form.is_single else Trajectories(runs, form, given.multiplicities)
