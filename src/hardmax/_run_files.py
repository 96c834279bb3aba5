"""Runs as files: an `.npz` with arrays, and a JSON header for the rest.

A run follows from its starting points, so a file has these, the last layer, and since when each token leads; other
layers are computed again on request. Integers and fractions of any length are in the header.
"""

import io
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hardmax._files import parse_json, read_arrays, read_bytes, shown_name, write_whole
from hardmax._float.policies import TieSlack
from hardmax._float.search import CPU
from hardmax._float.solver import FloatSolver
from hardmax._format import finite_or_none
from hardmax._run import Plan, Together, run_cloud
from hardmax._tokens.batches import Form, Layout, Packed, Ragged, as_array
from hardmax._validation import InputError, check_choice, check_int, check_real, check_str
from hardmax.dynamics import Dynamics
from hardmax.engines import ARITHMETICS, solvers_for
from hardmax.stops import AfterLayers, Every, LastOnly, Settled
from hardmax.trajectory import Known, Stored, Trajectories, Trajectory

FORMAT, VERSION = "hardmax-run", 1
_WISH = "expected what `Trajectory.save` or `Trajectories.save` writes"
Result = TypeVar("Result", bound=Stored)


def save(result: Any, path: Path) -> None:
    """Write a run, or the runs of a batch."""
    if path.suffix.lower() != ".npz":
        raise InputError(f"`path` must end in .npz, not {path.suffix or 'nothing'!r}.", argument="path")
    if isinstance(result, Trajectory):
        runs, layout, counts = [result], Layout.CLOUD, _multiplicities(result)
    else:
        runs, layout, counts = list(result), result.form.layout, result.multiplicities
    solver = runs[0].solver
    slack = solver.slack if isinstance(solver, FloatSolver) else None
    header: dict[str, Any] = runs[0].dynamics.to_dict() | {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout.name,
        "arithmetic": solver.arithmetic if slack is None else slack.relative,
    }
    arrays = {"tokens": np.concatenate([run.floats_at(run.layers) for run in runs])}
    if isinstance(result, Together) and isinstance(result.plan.record, Every | LastOnly):
        # One kernel walks them all again, about as fast as a file is read.
        stop, record = result.plan.stop, result.plan.record
        header["together"] = [stop.last_layer, stop.when_settled, record.m if isinstance(record, Every) else None]
        starts = as_array(result.clouds.tokens, "`tokens`")
    else:
        header["runs"] = [
            [list(run.recorded), run.settled_at, run.stopped, run.arithmetic, finite_or_none(run.error)] for run in runs
        ]
        starts = np.concatenate([run.points.coordinates[run.points.of_token] for run in runs])
        arrays["leader_since"] = np.concatenate([run.leader_since[run.points.of_token] for run in runs])
    if starts.dtype == object:
        header["starts"] = [[str(Fraction(value)) for value in row] for row in starts]
    else:
        arrays["starts"] = starts
    if layout is not Layout.CLOUD:
        arrays["offsets"] = np.cumsum([0, *(run.n for run in runs)])
    if counts is not None:
        arrays["multiplicities"] = counts
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), np.uint8), allow_pickle=False, **arrays)
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
    if "header" not in arrays:
        raise InputError(f"{name} has the arrays {', '.join(sorted(arrays)) or '(none)'}: {_WISH}.")
    header = parse_json(arrays.pop("header").tobytes(), name, _WISH)
    if not isinstance(header, dict) or (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise InputError(f"{name} was not saved by this version of hardmax: {_WISH}.")
    try:
        result = _result(header, arrays)
    except Exception as error:  # a header may be wrong in any way
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{name} is damaged ({type(error).__name__}: {reason}). Save it again.") from None
    if not isinstance(result, kind):
        other, has = (Trajectory, "one run") if isinstance(result, Trajectory) else (Trajectories, "a batch of runs")
        raise InputError(f"{name} has {has}: read it with `{other.__name__}.load`.")
    return result


def _result(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trajectory | Trajectories:
    form, last = Form(Layout[header["layout"]]), arrays["tokens"]
    # `Ragged` refuses what no clouds can be made of.
    offsets = [0, len(last)] if form.is_single else arrays["offsets"]
    given = Ragged(header.get("starts", arrays.get("starts")), offsets, arrays.get("multiplicities"))
    if form.layout is Layout.STACK and len({*np.diff(given.offsets).tolist()}) > 1:
        raise ValueError("clouds of a stack have equally many tokens")
    dynamics = Dynamics(header["alpha"], header["metric"])
    dynamics.check_dimension(given.tokens.shape[1])
    name = header["arithmetic"]
    solvers = solvers_for(TieSlack(name) if isinstance(name, float) else name, CPU)
    clouds = Packed(given.tokens, given.offsets, given.multiplicities)
    if "together" in header:
        layers, when_settled, step = header["together"]
        stop, record = (Settled if when_settled else AfterLayers)(layers), LastOnly() if step is None else Every(step)
        return Together(clouds, form, Plan(dynamics, solvers, stop, record), CPU)
    since = arrays["leader_since"]
    if last.shape != given.tokens.shape or last.dtype != np.float64 or not np.isfinite(last).all():
        raise ValueError("`tokens` must be finite_or_none floats, as many as the run starts from")
    if since.shape != last.shape[:1] or since.dtype != np.int64 or since.min() < -1:
        raise ValueError("`leader_since` must have a layer for each token, or -1")
    runs = []
    for cloud, place, told in zip(clouds, pairwise(given.offsets.tolist()), header["runs"], strict=True):
        here, (recorded, settled_at, stopped, arithmetic, error) = slice(*place), told
        check_choice(arithmetic, ARITHMETICS, "`arithmetic`")
        recorded = [check_int(layer, "`recorded`", at_least=0) for layer in recorded]
        record = Every(recorded[1] - recorded[0], memory_limit=2**63) if len(recorded) > 1 else LastOnly()
        plan = Plan(dynamics, solvers, AfterLayers(recorded[-1]), record)
        run = Trajectory._of_known(
            Known(lambda cloud=cloud, plan=plan: run_cloud(cloud, plan, CPU), last[here], arithmetic),
            since[here],
            dynamics=dynamics,
            solver=solvers[0],
            recorded=tuple(recorded),
            settled_at=settled_at if settled_at is None else check_int(settled_at, "`settled_at`", at_least=0),
            stopped=check_str(stopped, "`stopped`"),
            error=np.nan if error is None else check_real(error, "`error`", at_least=0),
            tensor_kind=None,
        )
        runs.append(run)
    return runs[0] if form.is_single else Trajectories(runs, form, given.multiplicities)
