"""Certificates as documents, and limits as files.

Limits as files.

`.csv` has a line for each token, `.json` all that is known as one document, `.npz` arrays: `points`, `labels` (the
cluster of each token), `leaders`, `leader_layers`, `settled_at` (-1 if not settled); of many clouds also `offsets` and
`leader_offsets`.

A limit as plain data that stands alone: what `hardmax.certificate` checks. The schema is in docs/certificate.md.
"""

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hardmax._clusters import Clusters, FaceProjection, Kind, Vertex
from hardmax._format import pluralize
from hardmax._validation import InputError, check_path
from hardmax.engines import walk
from hardmax.io import write_whole
from hardmax.trajectory import Trajectory

if TYPE_CHECKING:
    from hardmax._clusters import Clusters
    from hardmax.trajectory import Trajectory

SUFFIXES = (".csv", ".json", ".npz")


class Found(Protocol):
    """What is written of a limit: a `Limit` has it."""

    @property
    def run(self) -> "Trajectory": ...
    @cached_property
    def float_points(self) -> np.ndarray: ...
    @cached_property
    def clusters(self) -> "Clusters": ...
    @property
    def leaders(self) -> np.ndarray: ...
    @property
    def leader_layers(self) -> np.ndarray: ...
    @property
    def settled_at(self) -> int | None: ...


def limits_bytes(result: Found | Sequence[Found], document: dict[str, Any], suffix: str) -> bytes:
    """What a file of that suffix holds of a limit, or of the limits of many clouds; JSON files hold the `document`."""
    match suffix:
        case ".csv":
            return limits_csv(result).encode()
        case ".json":
            return (json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n").encode()
        case ".npz":
            return _npz(result)
        case _:
            raise InputError(
                f"`path` has the suffix {suffix!r}: expected {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
            )


def limits_csv(result: Found | Sequence[Found]) -> str:
    """A line for each token: where it ends, in which cluster, and since when it leads, if it does."""
    many, limits = isinstance(result, Sequence), _listed(result)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    coordinates = [f"z{number}" for number in range(limits[0].run.d)]
    rows.writerow([*["cloud"] * many, "token", *coordinates, "cluster", "kind", "leader since"])
    for number, lim in enumerate(limits):
        since = dict(zip(lim.leaders.tolist(), lim.leader_layers.tolist(), strict=True))
        labels = lim.clusters.labels.tolist()
        for token, (row, label) in enumerate(zip(lim.float_points.tolist(), labels, strict=True)):
            place = [*[number] * many, token, *map(repr, row)]
            rows.writerow([*place, label, lim.clusters.kinds[label], since.get(token, "")])
    return text.getvalue()


def _npz(result: Found | Sequence[Found]) -> bytes:
    many, limits = isinstance(result, Sequence), _listed(result)
    settled = [-1 if lim.settled_at is None else lim.settled_at for lim in limits]
    arrays: dict[str, Any] = {
        "points": np.concatenate([lim.float_points for lim in limits]),
        "labels": np.concatenate([lim.clusters.labels for lim in limits]),
        "leaders": np.concatenate([lim.leaders for lim in limits]),
        "leader_layers": np.concatenate([lim.leader_layers for lim in limits]),
        "settled_at": np.array(settled if many else settled[0]),
    }
    if many:
        arrays["offsets"] = np.cumsum([0, *(lim.run.n for lim in limits)])
        arrays["leader_offsets"] = np.cumsum([0, *(len(lim.leaders) for lim in limits)])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _listed(result: Found | Sequence[Found]) -> list[Found]:
    return list(result) if isinstance(result, Sequence) else [result]


FORMAT, VERSION = "hardmax-limit-certificate", 1


class Certificate(dict[str, Any]):
    """A certificate: plain data, as JSON has it, that can be written to a file."""

    def to_json(self) -> str:
        """A line for each of its keys."""
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Write it to a `.json` file, whole or not at all, for `hardmax verify` or a checker of one's own."""
        path = check_path(path)
        if path.suffix != ".json":
            raise InputError(f"`path` has the suffix {path.suffix!r}: expected .json.", argument="path")
        write_whole(path, self.to_json().encode())

    def __repr__(self) -> str:
        facts = f"{pluralize(len(self['points']), 'point')}, settled at layer {self['settled_at']}"
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
    for phase in walk(run.solver, run.points, run.dynamics):
        sets = phase.choices.lists()
        if not entries or sets != entries[-1]["sets"]:
            entries.append({"from": phase.layer, "sets": sets})
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
    (limit,) = run.exactly(run.phases[-1]).targets([int(of_token[token])])
    point = [str(value) for value in limit]
    if isinstance(kind, FaceProjection):
        vertices = [int(of_token[leader]) for leader in kind.vertices]
        return {"face": vertices, "weights": [str(weight) for weight in kind.weights], "point": point}
    return {"point": point}
