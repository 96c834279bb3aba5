"""A run as a document: plain data and arrays, from which the same run is made again. Never pickle.

The integers of exact runs are hexadecimal texts: they are long, and decimal ones would take time that grows with the
square of the length.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.checking import short, whole_number
from hardmax.dynamics import Dynamics
from hardmax.engines.arithmetics import walkers_for
from hardmax.engines.cpu.machine import CPU
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.floats.stretch import FloatStretch, Told
from hardmax.engines.judging.judges import TieSlack
from hardmax.engines.judging.walking import FloatWalker
from hardmax.errors import InputError
from hardmax.runs.plan import Plan
from hardmax.runs.run import Run
from hardmax.runs.stops import AfterLayers
from hardmax.runs.storage import fields
from hardmax.runs.storage.packing import RUN, UNSIGNED, damage_named, read_document, write_document
from hardmax.runs.walking import run_points
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import IntegerCloud


def save(run: Run, path: Path) -> None:
    """Write a run to a `.npz` or `.json` file, whole or not at all."""
    write_document(path, RUN, run_document(run))


def load(path: Path) -> Run:
    """Read a run; a file that is not one is told apart in one line."""
    document = read_document(path, RUN)
    with damage_named(path):
        run = run_of(document)
        return walked_again(run) if document["version"] in UNSIGNED else run


def walked_again(run: Run) -> Run:
    """The run made anew from its tokens: what a file without a digest says of them is not trusted."""
    plan = Plan(run.dynamics, (run.walker,), AfterLayers(run.layers), _These(run.recorded))
    return replace(run_points(run.points, plan), stopped=run.stopped)


@dataclass(frozen=True)
class _These:
    """A record of layers that are listed, each later than the one before."""

    recorded: tuple[int, ...]

    def layers(self, last: int) -> Sequence[int]:
        return self.recorded

    def keeps(self, first: int, until: int) -> bool:
        following = bisect_left(self.recorded, first)
        return following < len(self.recorded) and self.recorded[following] < until


def run_document(run: Run) -> dict[str, Any]:
    """Everything that a run is."""
    judge = run.walker.judge if isinstance(run.walker, FloatWalker) else None
    return dynamics_document(run.dynamics) | {
        "arithmetic": run.walker.arithmetic,
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


def run_of(document: dict[str, Any]) -> Run:
    """The run that a document tells of."""
    points, dynamics = _points(fields.field(document, "points")), dynamics_of(document)
    dynamics.check_dimension(points.dimension)
    slack = fields.optional(fields.size_of, document, "tie_slack")
    walker = walkers_for(TieSlack(slack) if slack is not None else fields.text(document, "arithmetic"), CPU)[0]
    stretches = tuple(_stretch(item, dynamics, points) for item in fields.items(document, "stretches"))
    settled_at = fields.optional(fields.whole, document, "settled_at")
    recorded = fields.integers(document, "recorded", (None,)).tolist()
    if not recorded or any(later <= layer for layer, later in pairwise(recorded)):
        raise InputError("`recorded` must be layers, each later than the one before.")
    _check_order(stretches, settled_at)
    return Run(
        points=points,
        dynamics=dynamics,
        walker=walker,
        stretches=stretches,
        recorded=tuple(recorded),
        leader_since=fields.integers(document, "leader_since", (points.count,), at_least=-1),
        margin_at=dict(_by_layer(document, "margin_at", _margin)),
        decided_by=dict(_by_layer(document, "decided_by", _name)),
        settled_at=settled_at,
        stopped=fields.text(document, "stopped"),
    )


def _points(document: Any) -> Points:
    coordinates = fields.numbers(document, "coordinates")
    if coordinates.size == 0:
        raise InputError("`coordinates` must hold at least one point.")
    count = len(coordinates)
    of_token = fields.integers(document, "of_token", (None,), below=count)
    multiplicities = fields.integers(document, "multiplicities", (count,), at_least=1)
    tokens = np.bincount(of_token, minlength=count)
    if (tokens < 1).any() or (multiplicities < tokens).any():
        raise InputError("`multiplicities` must count every token of `of_token`, and each point must have one.")
    return Points(coordinates, multiplicities, of_token)


def _check_order(stretches: Sequence[FloatStretch | ExactStretch], settled_at: int | None) -> None:
    ends = [stretch.until for stretch in stretches]
    starts = [stretch.layer for stretch in stretches]
    if (
        not stretches
        or None in ends[:-1]
        or any(s < e for s, e in zip(starts[1:], ends, strict=False) if e is not None)
    ):
        raise InputError("`stretches` must follow one another.")
    if settled_at is not None and ends[-1] is not None:
        raise InputError("`settled_at` names a layer, but the last stretch does not last for ever.")


def _by_layer(document: Any, key: str, read: Callable[[Any, str], Any]) -> Iterator[tuple[int, Any]]:
    for pair in fields.items(document, key):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"`{key}` must hold pairs of a layer and what is said of it, not {short(pair)}.")
        yield whole_number(pair[0], f"`{key}`", at_least=0), read(pair[1], key)


def _margin(value: Any, key: str) -> float:
    return np.inf if value is None else fields.size(value, key)


def _name(value: Any, key: str) -> str:
    return fields.text({key: value}, key)


def dynamics_document(dynamics: Dynamics) -> dict[str, Any]:
    """alpha and the metric, as exact as they are."""
    metric = dynamics.metric
    return {
        "alpha": str(dynamics.alpha),
        "metric": None if metric is None else [[str(entry) for entry in row] for row in metric],
    }


def dynamics_of(document: dict[str, Any]) -> Dynamics:
    """The parameters that a document tells of."""
    alpha, metric = fields.text(document, "alpha"), fields.optional(fields.items, document, "metric")
    return Dynamics(alpha, metric, any_metric=True)


def _stretch_document(stretch: FloatStretch | ExactStretch) -> dict[str, Any]:
    shared = {
        "layer": stretch.layer,
        "until": stretch.until,
        "indices": stretch.choices.indices,
        "offsets": stretch.choices.offsets,
        "alone": stretch.is_leader,
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


def _stretch(item: Any, dynamics: Dynamics, points: Points) -> FloatStretch | ExactStretch:
    count, shape = points.count, (points.count, points.dimension)
    layer = fields.whole(item, "layer")
    shared = {
        "layer": layer,
        "until": fields.optional(fields.whole, item, "until", at_least=layer + 1),
        "choices": _choices(item, count),
        "is_leader": fields.truths(item, "alone", (count,)),
        "margin": fields.size_or(np.inf, item, "margin"),
        "keep": dynamics.keep,
        "decided_by": fields.text(item, "decided_by"),
    }
    if "denominator" in item:
        ((denominator,),) = fields.hexadecimal({"denominator": [[item["denominator"]]]}, "denominator", (1, 1))
        if denominator < 1:
            raise InputError("`denominator` must be positive.")
        clouds = (IntegerCloud(fields.hexadecimal(item, key, shape), denominator) for key in ("positions", "targets"))
        positions, targets = clouds
        return ExactStretch(**shared, positions=positions, targets=targets)
    places = Told(fields.floats(item, "positions", shape), points.multiplicities)
    # 0.1 wrote no targets in floats: its runs are walked again, and need none.
    told = fields.optional(fields.floats, item, "targets", shape=shape) if "targets" in item else None
    return FloatStretch(**shared, places=places, error=fields.size_or(np.nan, item, "error"), told=told)


def _choices(item: Any, count: int) -> Choices:
    offsets = fields.integers(item, "offsets", (count + 1,))
    indices = fields.integers(item, "indices", (None,), below=count)
    if offsets[0] != 0 or offsets[-1] != len(indices) or (np.diff(offsets) < 1).any():
        raise InputError("`offsets` must cut `indices` into a set for each point, none of them empty.")
    increases = np.diff(indices) > 0
    increases[offsets[1:-1] - 1] = True  # from one set to the next
    if not increases.all():
        raise InputError("`indices` must increase within each attended set.")
    return Choices(indices, offsets)


def _finite(value: float) -> float | None:
    """JSON knows no inf and no nan."""
    return value if np.isfinite(value) else None


def _numbers(coordinates: np.ndarray) -> np.ndarray | list[list[str]]:
    return [[str(value) for value in row] for row in coordinates] if coordinates.dtype == object else coordinates


def _hexes(rows: list[list[int]]) -> list[list[str]]:
    return [[f"{value:x}" for value in row] for row in rows]
