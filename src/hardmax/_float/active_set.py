"""The points that can still be attended to, once there are leaders.

Say z follows the leader l, and the hull of the leaders contains a ball of radius s about z. After m
more layers z is at l + t (z - l), t = g^m. Along y the furthest leader w then leads it by

    <y, w - l> (1 - t) + <y, w - z> t  >=  t s |y|.

So z can be left out of every search, as long as that is more than the slack; later all points are
searched again. A point that is left out need not be moved either: where it is at a layer follows
from where it left.

That the hull contains the ball is proved in `hull`."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._exact.vectors import power
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import SUMMED, UNDERFLOW, Frame, mean_error, norms_above, step_error
from hardmax._float.hull import HIGHEST_DIMENSION, shell_of
from hardmax._float.search import find_furthest
from hardmax._layer.attended import AttendedIndices

_FEWEST_POINTS = 2**11
# How far inside the facets positions must be, as a share of the radius of a ball in the hull: far
# below what matters.
_DEPTH = 2.0**-10
_SAFETY = 1 - 2.0**-20


def mean_positions(
    positions: np.ndarray, choices: AttendedIndices, multiplicities: np.ndarray
) -> np.ndarray:
    """w_i, the mean of the attended points, counted with multiplicity. Long sums are made without
    error, so that a mean is off by no more than `bounds.mean_error`."""
    if choices.all_single:
        return positions.take(choices.indices, axis=0)
    means = positions.take(choices.firsts, axis=0)
    ties = np.flatnonzero(choices.sizes > 1)
    tied = choices.of_rows(ties)
    weights = multiplicities[tied.indices].astype(np.float64)[:, None]
    terms, starts = weights * positions[tied.indices], tied.offsets[:-1]
    sums = np.add.reduceat(terms, starts, axis=0)
    for row in np.flatnonzero(tied.sizes > SUMMED):
        several = terms[tied.offsets[row] : tied.offsets[row + 1]]
        sums[row] = [math.fsum(column) for column in several.T]
    means[ties] = sums / np.add.reduceat(weights, starts, axis=0)
    return means


@dataclass(frozen=True, eq=False, kw_only=True)
class ActiveSet:
    """The points that can still win, at one layer, and their lead over all others along a direction
    of length 1.

    `members` (increasing; None: all points) have the `positions`, measured as the numbers of the
    frame, each to within its error; no point, member or not, is further from the truth than
    `worst`. Multiplicities are those of all points. `inactive` are the points that left at some
    layer, where they were then, and where the leaders are that they follow."""

    layer: int
    contraction: Fraction
    frame: Frame
    multiplicities: np.ndarray
    positions: np.ndarray
    errors: np.ndarray
    worst: float
    members: np.ndarray | None = None
    lead: float = np.inf
    inactive: tuple[tuple[np.ndarray, int, np.ndarray, np.ndarray], ...] = ()

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds for the members."""
        return norms_above(self.positions)

    @cached_property
    def longest(self) -> float:
        """The largest norm of all points: the hull of all is that of the members."""
        return float(self.norms.max())

    def all_positions(self) -> np.ndarray:
        """Where all points are."""
        if self.members is None:
            return self.positions
        positions = np.empty((len(self.multiplicities), self.positions.shape[1]))
        positions[self.members] = self.positions
        for points, layer, left_at, leaders in self.inactive:
            positions[points] = leaders + float(power(self.contraction, self.layer - layer)) * (
                left_at - leaders
            )
        return positions

    def reopened(self) -> "ActiveSet":
        """The same layer with all points as members."""
        if self.members is None:
            return self
        errors = np.full(len(self.multiplicities), self.worst)
        errors[self.members] = self.errors
        return replace(
            self,
            positions=self.all_positions(),
            errors=errors,
            members=None,
            lead=np.inf,
            inactive=(),
        )

    def rows_of(self, points: np.ndarray) -> np.ndarray:
        """The rows of some points among the members; for one that is no member, that of the member
        after it."""
        if self.members is None:
            return points
        return np.minimum(np.searchsorted(self.members, points), len(self) - 1)

    def suffices(self, directions: np.ndarray, slack: np.ndarray) -> bool:
        """Whether all others trail by more than the slack. Along a direction of length 0 none
        trails, so lengths are not rounded up here."""
        return self.members is None or bool(
            (self.lead * np.linalg.norm(directions, axis=1) > slack).all()
        )

    def search(self, directions: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
        """Who of all points is furthest along each direction, searched among the members if no
        other point can come within the slack; `gap` is then at most the smallest lead."""
        if not self.suffices(directions, slack):
            return self.reopened().search(directions, slack)
        found = find_furthest(directions, self.positions, slack)
        if self.members is None:
            return found
        return found.among(self.members, self.lead * float(norms_above(directions).min()))

    def step_error(self, choices: AttendedIndices) -> float:
        """How much the closed form of these choices adds to the error of any point."""
        mean = 0.0 if choices.all_single else mean_error(self.longest, int(choices.sizes.max()))
        return step_error(self.longest) + mean

    def after_layers(self, choices: AttendedIndices, layers: int) -> "ActiveSet":
        """The active set a number of layers later, if choices last that long, without those who
        cannot win any more."""
        if self.members is not None:
            attended = choices.of_rows(self.members).indices
            if not np.array_equal(self.members[self.rows_of(attended)], attended):
                # Members attend to others as well, as one does whose direction is 0.
                return self.reopened().after_layers(choices, layers)
        # Before any point leaves: a point without a direction attends to all.
        means, left = self._means(choices), self._without_inner_points(choices)
        points = np.arange(len(choices)) if left.members is None else left.members
        means = means if len(left) == len(self) else means.take(self.rows_of(points), axis=0)
        shrink = float(power(self.contraction, layers))
        # The larger error of a point and its target, and what the step adds (see `bounds`).
        towards = left.rows_of(choices.firsts[points])
        errors = np.maximum(left.errors, left.errors.take(towards))
        errors += step_error(1.0) * np.maximum(left.norms, left.norms.take(towards)) + UNDERFLOW
        if not choices.all_single:
            errors[choices.sizes[points] > 1] = self.errors.max() + self.step_error(choices)
        return replace(
            left,
            layer=self.layer + layers,
            positions=means + shrink * (left.positions - means),
            errors=errors,
            worst=self.worst + self.step_error(choices),
            lead=left.lead * shrink,
        )

    def _means(self, choices: AttendedIndices) -> np.ndarray:
        """The mean of those that each member attends to, all of them members."""
        if self.members is None:
            return mean_positions(self.positions, choices, self.multiplicities)
        own = choices.of_rows(self.members)
        own = AttendedIndices(self.rows_of(own.indices), own.offsets)
        return mean_positions(self.positions, own, self.multiplicities[self.members])

    def _without_inner_points(self, choices: AttendedIndices) -> "ActiveSet":
        """The active set without those who follow a leader well inside the hull of the leaders, if
        they are many."""
        fewest = max(len(self) // 4, _FEWEST_POINTS)
        if len(self) < _FEWEST_POINTS or not 2 <= self.positions.shape[1] <= HIGHEST_DIMENSION:
            return self
        rows = slice(None) if self.members is None else self.members
        leading = choices.is_leader[rows]
        leaving = choices.follows_leader[rows] & ~leading
        if np.count_nonzero(leaving) < fewest:
            return self
        shell = shell_of(self.positions[leading])
        if shell is None:
            return self
        depth = shell.radius * _DEPTH
        error = 4 * (float(self.errors.max()) + step_error(2 * self.longest))
        lead = (depth - shell.off - error) * _SAFETY
        if lead < depth / 2:  # the hull is too flat
            return self
        shell.keep_inside(self.positions, depth, leaving)
        gone, stay = np.flatnonzero(leaving), np.flatnonzero(~leaving)
        if len(gone) < fewest:
            return self
        points = np.arange(len(self)) if self.members is None else self.members
        towards = self.positions.take(self.rows_of(choices.firsts[points[gone]]), axis=0)
        return replace(
            self,
            positions=self.positions.take(stay, axis=0),
            errors=self.errors[stay],
            members=points[stay],
            # Those who left before trail by the lead of then.
            lead=min(self.lead, lead),
            inactive=(
                *self.inactive,
                (points[gone], self.layer, self.positions.take(gone, axis=0), towards),
            ),
        )
