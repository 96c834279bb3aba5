"""Tokens with equal limits, and the kind of the limit that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import overload

import numpy as np

from hardmax.checking import place, places
from hardmax.engines.exact.choosing import by_all_scores
from hardmax.engines.exact.vectors import Vector, fractions_table
from hardmax.geometry.projection import project_exact
from hardmax.limits.kinds import Elsewhere, FaceProjection, Kind, Vertex
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.rationals import IntegerCloud
from hardmax.wording import counted

MOST_SHOWN, LONGEST_SHOWN = 6, 24  # in one line, of which a face may have many vertices


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        pairs = zip(self.kinds, self.sizes.tolist(), strict=True)
        shown = "".join(f"; {_cut(kind)}: {size:,}" for kind, size in islice(pairs, MOST_SHOWN))
        found = f"{counted(len(self), 'cluster')} of {counted(len(self.labels), 'token')}"
        return f"Clusters({found}{shown}{'; …' if len(self) > MOST_SHOWN else ''})"


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
            return [self[i] for i in places(index, len(self), "`index`")]
        return self._clusters.kinds[self._clusters.labels[place(index, len(self), "`index`")]]

    def __repr__(self) -> str:
        shown = [_cut(self[token]) for token in range(min(len(self), MOST_SHOWN))]
        return f"KindOfToken({'; '.join(shown)}{'; …' if len(self) > MOST_SHOWN else ''})"


def _cut(kind: Kind) -> str:
    text = str(kind)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def find_clusters(run: Trajectory) -> Clusters:
    """The clusters of a run: by equal targets once it has settled, by equal places before."""
    leader_of = run.leader_of()
    if leader_of is not None:
        labels, first = _numbered(leader_of)
        return Clusters(labels, run.float_ends()[first], tuple(map(Vertex, leader_of[first].tolist())))
    of_token = run.points.of_token
    labels, first = _numbered((np.arange(run.points.count) if run.settled_at is None else _ends(run))[of_token])
    if run.settled_at is None:
        return Clusters(labels, run.floats_at(run.layers)[first], (Elsewhere(),) * len(first))
    return Clusters(labels, run.float_ends()[first], tuple(_exact_kinds(run, of_token[first].tolist())))


def _numbered(where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels for tokens with equal numbers, in the order of their first tokens; and these first tokens."""
    _, first, labels = np.unique(where, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[labels], first[order]


def _ends(run: Trajectory) -> np.ndarray:
    """A number for each point, the same for points with equal limits: that of a point which ends there.

    Whoever follows a leader ends where it is; the others are compared exactly, among themselves and with the leaders.
    """
    stretch = run.stretches[-1]
    choices = stretch.choices
    where = choices.indices[choices.offsets[:-1]].copy()
    others = np.flatnonzero(~choices.follows_leader).tolist()
    if not others:
        return where
    exactly, leaders = run.exactly(stretch), np.flatnonzero(choices.is_leader).tolist()
    first_at = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    for point, target in zip(others, exactly.targets(others), strict=True):
        where[point] = first_at.setdefault(target, point)
    return where


def _exact_kinds(run: Trajectory, examples: list[int]) -> list[Kind]:
    """The kind of the limit of each of the points `examples`."""
    token = np.unique(run.points.of_token, return_index=True)[1].tolist()  # the first at each point
    leaders = np.flatnonzero(run.leader_since >= 0).tolist()
    exactly = run.exactly(run.stretches[-1])
    # Of leaders that have met the first one counts.
    leader_at = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    kinds: list[Kind] = []
    for target in exactly.targets(examples):
        if target in leader_at:
            kinds.append(Vertex(token[leader_at[target]]))
        elif leader_at and run.dynamics.is_definite:
            kinds.append(_on_face(target, sorted(leader_at.items(), key=itemgetter(1)), run, token))
        else:
            kinds.append(Elsewhere())
    return kinds


def _on_face(limit: Vector, leading: list[tuple[Vector, int]], run: Trajectory, token: list[int]) -> Kind:
    """The face that a limit is the projection of 0 on, if it is that of one."""
    places = np.array([place for place, _ in leading], dtype=object)
    # The face that the limit lies on is the one that looks its way: the leaders furthest along A w.
    limits = IntegerCloud.of_fractions(fractions_table([limit]))
    (furthest,) = by_all_scores(limits, IntegerCloud.of_fractions(places), run.dynamics).lists
    nearest, weights = project_exact(places[furthest], run.dynamics.metric)
    if nearest != limit:
        return Elsewhere()
    return FaceProjection(tuple(token[leading[i][1]] for i in furthest), tuple(weights))
