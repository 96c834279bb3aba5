"""Limits as files.

`.csv` has a line for each token, `.json` all that is known as one document, `.npz` arrays: `points`, `labels` (the
cluster of each token), `leaders`, `leader_layers`, `settled_at` (-1 if not settled); of many clouds also `offsets` and
`leader_offsets`.
"""

import csv
import io
import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hardmax.errors import InputError

if TYPE_CHECKING:  # scipy takes most of a second to come
    from hardmax.limits.clusters import Clusters
    from hardmax.runs.trajectory import Trajectory

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
