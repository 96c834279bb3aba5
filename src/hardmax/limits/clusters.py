"""Tokens with equal limits, and the kind of the limit that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from hardmax.engines.choosing import by_all_scores
from hardmax.engines.stretch import ExactStretch, FloatStretch
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
    elif isinstance(stretch, FloatStretch):
        where = stretch.choices.indices
    else:
        seen: dict[tuple[int, ...], int] = {}
        where = np.array([seen.setdefault(tuple(row), i) for i, row in enumerate(stretch.targets.numerators)])
    # `where` names each limit by a point; clusters are numbered by the first token that ends there.
    _, first, labels = np.unique(where[run.points.of_token], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    examples = run.points.of_token[first[order]]
    ends = run.floats_at(run.layers) if run.settled_at is None else run.float_ends()
    return Clusters(rank[labels], ends[first[order]], tuple(_kinds(run, examples.tolist())))


def _kinds(run: Trajectory, examples: list[int]) -> list[Kind]:
    """The kind of the limit of each of the points `examples`."""
    stretch = run.stretches[-1]
    token_of_point = [int(members[0]) for members in run.points.members] if run.points.count < run.n else None

    def token(point: int) -> int:
        return point if token_of_point is None else token_of_point[point]

    if run.settled_at is None:
        return [Elsewhere()] * len(examples)
    if isinstance(stretch, FloatStretch):
        return [Vertex(token(int(stretch.choices.indices[point]))) for point in examples]
    return _exact_kinds(run, stretch, examples, token)


def _exact_kinds(run: Trajectory, stretch: ExactStretch, examples: list[int], token) -> list[Kind]:
    leaders = np.flatnonzero(run.leader_since >= 0).tolist()
    place = {tuple(stretch.positions.numerators[leader]): leader for leader in reversed(leaders)}
    distinct = sorted(place.values())
    has_norm = run.dynamics.metric is None or is_metric(run.dynamics.metric)
    kinds: list[Kind] = []
    for point in examples:
        target = stretch.targets.numerators[point]
        if tuple(target) in place:
            kinds.append(Vertex(token(place[tuple(target)])))
            continue
        if not distinct or not has_norm:
            kinds.append(Elsewhere())
            continue
        # The face that the limit lies on is the one that looks its way: the leaders furthest along A w.
        directions, leading = stretch.targets.rows([point]), stretch.positions.rows(distinct)
        (furthest,) = by_all_scores(directions, leading, run.dynamics).lists
        face = [distinct[i] for i in furthest]
        nearest, weights = project_exact(stretch.positions.rows(face).fractions(), run.dynamics.metric)
        if list(nearest) == directions.fractions()[0].tolist():
            kinds.append(FaceProjection(tuple(map(token, face)), tuple(weights)))
        else:
            kinds.append(Elsewhere())
    return kinds
