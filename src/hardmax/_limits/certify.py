"""Certificates: a limit as plain data that proves itself. `hardmax.certificate` checks them;
docs/certificate.md has the schema."""

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path
from hardmax._exact.general import (
    AttentionHead,
    GeneralPhase,
    GeneralSolver,
    GeneralWalker,
)
from hardmax._exact.leads import Term
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.rules import check_known, rescaling
from hardmax._limits.clusters import Clusters, FaceProjection, Vertex
from hardmax._runs.run import Run
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

_WALKED = 16  # layers that are walked rather than proved by a closed form


class Certificate(dict[str, Any]):
    """Proof of a limit as plain data, ready for JSON. Made by `Limit.prove`.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> proof = limit([[3.0], [-1.0], [1.0]], Dynamics(1)).prove()
    >>> proof["limits"], proof["limit_of"], proof["settled_at"]
    ([{'vertex': 0}, {'vertex': 1}], [0, 1, 0], 0)
    """

    def to_json(self) -> str:
        """The certificate as JSON, a line for each key."""
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Write a JSON file for `hardmax verify` or any other checker, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A name that ends in ``.json``.
        """
        path = check_path(path)
        if path.suffix != ".json":
            raise InputError(f"`path` has the suffix {path.suffix!r}: expected .json.")
        write_whole(path, self.to_json().encode())

    def __repr__(self) -> str:
        facts = (
            f"{pluralize(len(self['limit_of']), 'point')}, settled at layer {self['settled_at']}"
        )
        return f"Certificate({facts}, sha256 {self['sha256'][:12]}…)"


def certify(run: Run, clusters: Clusters, radius: float | None = None) -> Certificate:
    """The certificate of a limit that the run proves; with its radius, if that is given."""
    if run.settled_at is None:
        raise InputError(f"`prove`: there is no proof to write down ({run.stop_reason}).")
    blocks = run.dynamics.feed_forward, run.dynamics.normalise
    if run.dynamics.traits.mixed or any(block is not None for block in blocks):
        others = "feed-forward blocks, `normalise` and value matrices of single heads"
        raise InputError(f"`prove`: a certificate cannot have {others}.")
    check_known(run.dynamics, "certificates")
    try:
        points, dynamics = run.points, run.dynamics
        counts, inverse = points.multiplicities.tolist(), None
        if dynamics.value is not None:
            inverse = [_strings(rescaling(dynamics, step)) for step in dynamics.steps]
        cloud = {
            "denominator": str(points.integers.denominator),
            "points": _strings(points.integers.numerators),
            "multiplicities": counts if max(counts) > 1 else None,
        }
        attended, jumps, last = _phases(run, is_walked=radius is not None)
        limits, limit_of = _limits(run, clusters, last)
        document = {
            "format": "hardmax-limit-certificate",
            "version": 2,
            "layer": layer_data(dynamics) | {"inverse": inverse},
            "cloud": cloud,
            "attended": attended,
            "jumps": jumps,
            "settled_at": attended[-1]["from"],
            "leaders": [[i, k] for i, k in enumerate(run.leader_since.tolist()) if k >= 0],
            "limits": limits,
            "limit_of": limit_of,
        }
        if radius is not None:
            document["radius"] = str(Fraction(radius))
    except ValueError as error:
        # Python writes no integers of more than some thousand digits; many layers of tiny steps
        # make such.
        too_long = "its numbers are too long to be written down"
        raise InputError(f"`prove`: {too_long} ({error}).") from None
    return Certificate(document | {"sha256": digest(document)})


def digest(document: dict[str, Any]) -> str:
    """The fingerprint of plain data, such as a certificate without its fingerprint."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def cloud_digest(points: Points) -> str:
    """The fingerprint of a cloud, by which a verdict names it."""
    cloud = points.integers
    return digest(
        {
            "denominator": str(cloud.denominator),
            "points": _strings(cloud.numerators),
            "multiplicities": points.multiplicities.tolist(),
        }
    )


def layer_data(dynamics: Dynamics) -> dict[str, Any]:
    """What a layer does, as a certificate has it."""
    plain = dynamics.to_dict()
    alpha = plain["alpha"]
    if dynamics.attention is not None:
        kind, *numbers = plain["attention"].values()
        plain["attention"] = dict.fromkeys([kind.lower()], *numbers)
    if isinstance(dynamics.mask, np.ndarray):
        plain["mask"] = ["".join(map(str, row)) for row in dynamics.mask.astype(int).tolist()]
    missing = dict.fromkeys(("value", "mask", "attention", "heads"))
    return missing | plain | {"alpha": alpha if isinstance(alpha, list) else [alpha]}


def _strings(table: Any) -> list[list[str]]:
    return [[str(value) for value in row] for row in table]


def _phases(
    run: Run, *, is_walked: bool
) -> tuple[list[dict[str, Any]], list[list[int | None]], Any]:
    """The attended sets of each head, listed where they change; the layers that are jumped over;
    and the last phase. If all layers are to be walked, only the last jump is left."""
    entries: list[dict[str, Any]] = []
    jumps: list[list[int | None]] = []
    before: list[list[Any]] = []
    phase = None
    for phase, heads in _sets(run):
        for head, now in enumerate(heads):
            at = {"from": phase.layer, "head": head}
            if not phase.layer:
                entries.append(at | {"to": now})
                continue
            pairs = enumerate(zip(before[head], now, strict=True))
            changed = [i for i, (old, new) in pairs if old != new]
            if changed:
                entries.append(at | {"points": changed, "to": [now[i] for i in changed]})
        before = heads
        if phase.until is None or (phase.until - phase.layer > _WALKED and not is_walked):
            jumps.append([phase.layer, phase.until, _depth(phase)])
    return entries, jumps, phase


def _sets(run: Run) -> Iterator[tuple[Any, list[list[Any]]]]:
    """The phases of a run, computed again, and the attended sets of each head: a point, or a list
    of several."""
    # Where tokens follow others that move, only the general walker knows a form for many layers.
    if run.dynamics.traits.plain and (run.settled_at or 0) <= 4 * _WALKED:
        for phase in run.exact_phases():
            yield phase, [_single(phase.choices)]
        return
    solver = run.solver
    head_type = solver.head_type if isinstance(solver, GeneralSolver) else AttentionHead
    walker = GeneralWalker(run.points, run.dynamics, head_type)
    for phase in walker.walk():
        yield phase, [_single(sets) for sets in walker.sets_of_heads]


def _single(sets: AttendedIndices) -> list[Any]:
    """Sets of one point as that point, others as lists."""
    if sets.all_single:
        return sets.indices.tolist()
    return [chosen[0] if len(chosen) == 1 else chosen for chosen in sets.lists()]


def _depth(phase: Any) -> int:
    """How many means are taken until nothing moves any more; 0 if nothing moves at all."""
    if isinstance(phase, GeneralPhase):
        return phase.course.depth
    choices = phase.choices
    if choices.all_single:
        return int(not choices.is_leader.all())
    everybody = range(len(choices))
    return int(phase.exactly.later(everybody, 0) != phase.exactly.targets(everybody))


def _limits(run: Run, clusters: Clusters, last: Any) -> tuple[list[dict[str, Any]], list[int]]:
    """Descriptions of the limits, and which of them each point has."""
    points = run.points
    if isinstance(last, GeneralPhase) and len(last.moving):
        return _drifts(last)
    limit_of = clusters.labels[points.first_tokens]
    first_of = np.unique(limit_of, return_index=True)[1]
    others = [k for k, kind in enumerate(clusters.kinds) if not isinstance(kind, Vertex)]
    targets = run.exactly(last).targets(first_of[others].tolist()) if others else []
    limits: list[dict[str, Any]] = []
    ends = dict(zip(others, targets, strict=True))
    for k, kind in enumerate(clusters.kinds):
        if isinstance(kind, Vertex):
            limits.append({"vertex": int(points.of_token[kind.leader])})
            continue
        limit: dict[str, Any] = {"point": [str(value) for value in ends[k]]}
        if isinstance(kind, FaceProjection):
            limit["face"] = [int(points.of_token[leader]) for leader in kind.vertices]
            limit["weights"] = [str(weight) for weight in kind.weights]
        limits.append(limit)
    return limits, limit_of.tolist()


def _drifts(last: GeneralPhase) -> tuple[list[dict[str, Any]], list[int]]:
    """The same if some points move for ever: a description for each."""
    steps = next(table for term, table in last.form.items() if term.degree)
    limits = [{"point": row} for row in _strings(last.form[Term(0)])]
    for i in last.moving.tolist():
        limits[i] = {"moves": [str(x) for x in steps[i]]}
    return limits, [*range(len(limits))]
