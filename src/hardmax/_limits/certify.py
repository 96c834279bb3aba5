"""Certificates: a limit as plain data that proves itself. `hardmax.certificate` checks them;
docs/certificate.md has the schema."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path
from hardmax._limits.clusters import Clusters, FaceProjection, Kind, Vertex
from hardmax._runs.trajectory import Trajectory


class Certificate(dict[str, Any]):
    """Proof of a limit as plain data, ready for JSON. Made by `Limit.certificate`.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> proof = limit([[3.0], [-1.0], [1.0]], Dynamics(1)).certificate
    >>> proof["limits"], proof["settled_at"]
    ([{'vertex': 0}, {'vertex': 1}, {'vertex': 0}], 0)
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
            raise InputError(
                f"`path` has the suffix {path.suffix!r}: expected .json.", argument="path"
            )
        write_whole(path, self.to_json().encode())

    def __repr__(self) -> str:
        facts = f"{pluralize(len(self['points']), 'point')}, settled at layer {self['settled_at']}"
        return f"Certificate({facts}, sha256 {self['sha256'][:12]}…)"


def certify(run: Trajectory, clusters: Clusters, radius: float | None = None) -> Certificate:
    """The certificate of a limit that the run proves; with its radius, if that is given."""
    if not run.certified or run.settled_at is None:
        why = "float arithmetic proves nothing" if run.settled_at is not None else run.stop_reason
        raise InputError(
            f"`certificate`: there is no proof to write down ({why}).", argument="certificate"
        )
    if not run.dynamics.is_plain:
        foreign = "`certificate`: certificates support only the paper's layer."
        raise InputError(foreign, argument="certificate")
    metric, points = run.dynamics.metric, run.details.points.integers
    try:
        document = {
            "format": "hardmax-limit-certificate",
            "version": 1,
            "alpha": str(run.dynamics.alpha),
            "metric": None if metric is None else _strings(metric),
            "denominator": str(points.denominator),
            "points": _strings(points.numerators),
            "multiplicities": run.details.points.multiplicities.tolist(),
            "attended": _attended(run),
            "settled_at": run.settled_at,
            "leaders": _leaders(run),
            "limits": _limits(run, clusters),
        }
        if radius is not None:
            document["radius"] = str(Fraction(radius))
    except ValueError as error:
        # Python writes no integers of more than some thousand digits; many layers of tiny steps
        # make such.
        too_long = f"`certificate`: its numbers are too long to be written down ({error})."
        raise InputError(too_long, argument="certificate") from None
    return Certificate(document | {"sha256": digest(document)})


def digest(document: dict[str, Any]) -> str:
    """The fingerprint of a certificate without its fingerprint."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _strings(table: Any) -> list[list[str]]:
    return [[str(value) for value in row] for row in table]


def _leaders(run: Trajectory) -> list[list[int]]:
    """Leaders, and the layers from which on they lead."""
    since = run.details.leader_since.tolist()
    return [[point, layer] for point, layer in enumerate(since) if layer >= 0]


def _attended(run: Trajectory) -> list[dict[str, Any]]:
    """The attended sets of the points, listed at the layers at which they change."""
    entries: list[dict[str, Any]] = []
    for phase in run.details.recompute_phases():
        sets = phase.choices.lists()
        if not entries or sets != entries[-1]["sets"]:
            entries.append({"from": phase.layer, "sets": sets})
    return entries


def _limits(run: Trajectory, clusters: Clusters) -> list[dict[str, Any]]:
    of_token, labels = run.details.points.of_token, clusters.labels.tolist()
    examples = of_token[np.unique(labels, return_index=True)[1]].tolist()

    def described(kind: Kind, point: int) -> dict[str, Any]:
        if isinstance(kind, Vertex):
            return {"vertex": int(of_token[kind.leader])}
        (target,) = run.details.exactly(run.details.phases[-1]).targets([point])
        limit = {"point": [str(value) for value in target]}
        if not isinstance(kind, FaceProjection):
            return limit
        vertices = [int(of_token[leader]) for leader in kind.vertices]
        return {"face": vertices, "weights": [str(weight) for weight in kind.weights]} | limit

    limits = [described(*pair) for pair in zip(clusters.kinds, examples, strict=True)]
    return [limits[labels[members[0]]] for members in run.details.points.members]
