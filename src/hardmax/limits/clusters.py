"""Tokens with equal limits, and the kind of the limit that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from hardmax.engines.truth import dot, fractions_table
from hardmax.geometry.projection import project_exact
from hardmax.limits.kinds import Elsewhere, FaceProjection, Kind, Vertex
from hardmax.metrics import is_metric
from hardmax.runs.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters in the order of their first tokens."""

    labels: np.ndarray  # (n,) the cluster of each token
    points: np.ndarray  # (c, d) where it ends
    kinds: tuple[Kind, ...]

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many tokens end there."""
        return np.bincount(self.labels, minlength=len(self))


class KindOfToken(Sequence[Kind]):
    """`kind[i]`: what the limit of token i is."""

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters

    def __len__(self) -> int:
        return len(self._clusters.labels)

    @overload
    def __getitem__(self, index: int) -> Kind: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Kind]: ...
    def __getitem__(self, index: int | slice) -> Kind | Sequence[Kind]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._clusters.kinds[self._clusters.labels[index]]


def find_clusters(run: Trajectory) -> Clusters:
    """The clusters of a run: by equal targets once it has settled, by equal places before."""
    stretch = run.stretches[-1]
    if run.settled_at is None:
        where = np.arange(run.points.count)
    elif stretch.choices.all_single:
        where = stretch.choices.indices
    else:
        where = _equal_targets(run)
    # `where` names each limit by a point; clusters are numbered by the first token that ends there.
    _, first, labels = np.unique(where[run.points.of_token], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    examples = run.points.of_token[first[order]]
    ends = run.at(run.layers) if run.settled_at is None else run.ends()
    return Clusters(rank[labels], ends[first[order]], tuple(_kinds(run, examples.tolist())))


def _kinds(run: Trajectory, examples: list[int]) -> list[Kind]:
    """The kind of the limit of each of the points `examples`."""
    stretch = run.stretches[-1]
    token_of_point = [int(members[0]) for members in run.points.members] if run.points.count < run.n else None

    def token(point: int) -> int:
        return point if token_of_point is None else token_of_point[point]

    if run.settled_at is None:
        return [Elsewhere()] * len(examples)
    if stretch.choices.all_single and run.leader_since[stretch.choices.indices].min() >= 0:
        return [Vertex(token(int(stretch.choices.indices[point]))) for point in examples]
    return _exact_kinds(run, examples, token)


def _equal_targets(run: Trajectory) -> np.ndarray:
    """For each point one that has the same limit. Whoever follows a leader ends there; the others are compared
    exactly, among themselves and with the leaders."""
    stretch = run.stretches[-1]
    where = stretch.choices.indices[stretch.choices.offsets[:-1]].copy()
    others = np.flatnonzero(~stretch.choices.follows_leader)
    exactly = run.exactly(stretch)
    leaders = np.flatnonzero(stretch.alone).tolist()
    seen = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    for point, target in zip(others.tolist(), exactly.targets(others.tolist()), strict=True):
        where[point] = seen.setdefault(target, point)
    # With a metric that is not positive definite leaders can have met: they end together.
    met = dict(zip(leaders, (seen[place] for place in exactly.positions(leaders)), strict=True))
    return np.array([met.get(point, point) for point in where.tolist()])


def _exact_kinds(run: Trajectory, examples: list[int], token) -> list[Kind]:
    leaders = np.flatnonzero(run.leader_since >= 0).tolist()
    exactly = run.exactly(run.stretches[-1])
    place = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    distinct = sorted(place.values())
    metric = run.dynamics.metric
    has_norm = metric is None or is_metric(metric)
    kinds: list[Kind] = []
    for target in exactly.targets(examples):
        if target in place:
            kinds.append(Vertex(token(place[target])))
            continue
        if not distinct or not has_norm:
            kinds.append(Elsewhere())
            continue
        # The face that the limit lies on is the one that looks its way: the leaders furthest along A w.
        look = target if metric is None else [dot(row, target) for row in metric]
        places = exactly.positions(distinct)
        heights = [dot(look, corner) for corner in places]
        face = [leader for leader, height in zip(distinct, heights, strict=True) if height == max(heights)]
        nearest, weights = project_exact(fractions_table(exactly.positions(face)), metric)
        if tuple(nearest) == target:
            kinds.append(FaceProjection(tuple(map(token, face)), tuple(weights)))
        else:
            kinds.append(Elsewhere())
    return kinds
