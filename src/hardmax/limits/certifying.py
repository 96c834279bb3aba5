"""A limit as plain data that stands alone: what `hardmax.certificate` checks. The schema is in docs/certificate.md."""

import hashlib
import json
from pathlib import Path
from typing import Any

from hardmax.checking import file_path
from hardmax.engines.walker import walk
from hardmax.errors import InputError
from hardmax.limits.clusters import Clusters
from hardmax.limits.kinds import FaceProjection, Kind, Vertex
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.files import write_whole
from hardmax.wording import counted

FORMAT, VERSION = "hardmax-limit-certificate", 1


class Certificate(dict[str, Any]):
    """A certificate: plain data, as JSON has it, that can be written to a file."""

    def to_json(self) -> str:
        """A line for each of its keys."""
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Write it to a `.json` file, whole or not at all, for `hardmax verify` or a checker of one's own."""
        path = file_path(path)
        if path.suffix != ".json":
            raise InputError(f"`path` has the suffix {path.suffix!r}: expected .json.", argument="path")
        write_whole(path, self.to_json().encode())

    def __repr__(self) -> str:
        facts = f"{counted(len(self['points']), 'point')}, settled at layer {self['settled_at']}"
        return f"Certificate({facts}, sha256 {self['sha256'][:12]}…)"


def certify(run: Trajectory, clusters: Clusters) -> Certificate:
    """The certificate of a limit that the run proves, given its clusters."""
    if not run.certified or run.settled_at is None:
        why = "float arithmetic proves nothing" if run.settled_at is not None else run.stopped
        raise InputError(f"`certificate`: there is no proof to write down ({why}).", argument="certificate")
    try:
        document = _document(run, clusters)
    except ValueError as error:
        # Python writes no integers of more than some thousand digits: tiny steps walked for long make such.
        too_long = f"`certificate`: its numbers are too long to be written down ({error})."
        raise InputError(too_long, argument="certificate") from None
    return Certificate(document | {"sha256": digest(document)})


def digest(document: dict[str, Any]) -> str:
    """The fingerprint of everything in a certificate but the fingerprint itself."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _document(run: Trajectory, clusters: Clusters) -> dict[str, Any]:
    metric, points = run.dynamics.metric, run.points.integers
    return {
        "format": FORMAT,
        "version": VERSION,
        "alpha": str(run.dynamics.alpha),
        "metric": None if metric is None else [[str(value) for value in row] for row in metric],
        "denominator": str(points.denominator),
        "points": [[str(value) for value in row] for row in points.numerators],
        "multiplicities": run.points.multiplicities.tolist(),
        "attended": _attended(run),
        "settled_at": run.settled_at,
        "leaders": [[point, since] for point, since in enumerate(run.leader_since.tolist()) if since >= 0],
        "limits": _limits(run, clusters),
    }


def _attended(run: Trajectory) -> list[dict[str, Any]]:
    """The attended sets of the points, listed at the layers at which they change."""
    entries: list[dict[str, Any]] = []
    for stretch in walk(run.walker, run.points, run.dynamics):
        sets = stretch.choices.lists()
        if not entries or sets != entries[-1]["sets"]:
            entries.append({"from": stretch.layer, "sets": sets})
    return entries


def _limits(run: Trajectory, clusters: Clusters) -> list[dict[str, Any]]:
    first_token = [int(members[0]) for members in run.points.members]
    described = [_described(run, clusters, kind, int(label)) for label, kind in enumerate(clusters.kinds)]
    return [described[clusters.labels[token]] for token in first_token]


def _described(run: Trajectory, clusters: Clusters, kind: Kind, label: int) -> dict[str, Any]:
    of_token = run.points.of_token
    if isinstance(kind, Vertex):
        return {"vertex": int(of_token[kind.leader])}
    token = clusters.labels.tolist().index(label)
    (limit,) = run.exactly(run.stretches[-1]).targets([int(of_token[token])])
    point = [str(value) for value in limit]
    if isinstance(kind, FaceProjection):
        vertices = [int(of_token[leader]) for leader in kind.vertices]
        return {"face": vertices, "weights": [str(weight) for weight in kind.weights], "point": point}
    return {"point": point}
