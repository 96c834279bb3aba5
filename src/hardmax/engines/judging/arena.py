"""Who can still win a contest, and where everybody is: those in the arena move layer by layer, the others by a formula.

Say z follows the leader l, and the hull of the leaders holds a ball of radius s about z. After m more layers z is at
l + t (z - l), t = g^m. Along y the furthest leader w then leads it by

    <y, w - l> (1 - t) + <y, w - z> t  >=  t s |y|.

So z can be left out of every contest, as long as that is more than the slack; later everybody is asked again. Whoever
is left out becomes a spectator: it need not be moved either, for where it is at a layer is known from where it left.

That the hull holds the ball is proved by `shell`, up to the error of the places: s is far larger than that.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.machine import Cpu
from hardmax.engines.exact.powers import power
from hardmax.engines.floats.bounds import mean_error, norms_above, step_error
from hardmax.engines.floats.contest import Contest
from hardmax.engines.floats.stretch import mean_positions
from hardmax.engines.judging.kernels.inside import keep_well_inside
from hardmax.engines.judging.shell import shell_of

# Hulls in more dimensions have too many facets; fewer points are searched sooner than a hull is found.
_HIGHEST_DIMENSION = 4
_FEWEST_POINTS = 2**11
# How far inside the facets places must be, as a share of the radius of a ball in the hull: far below what matters.
_DEPTH = 2.0**-10
_SAFETY = 1 - 2.0**-20


@dataclass(frozen=True, eq=False)
class Spectators:
    """Points that left an arena, each on its way to the leader that it attends to."""

    points: np.ndarray
    arena: "Arena"
    choices: Choices

    def at(self, layer: int) -> np.ndarray:
        """Where they are at a later layer."""
        places, leaders = (self.arena.places_of(points) for points in (self.points, self.choices.firsts(self.points)))
        return leaders + float(power(self.arena.keep, layer - self.arena.layer)) * (places - leaders)


@dataclass(frozen=True, eq=False, kw_only=True)
class Arena:
    """The points that can still win, at one layer, and how far all others trail along a direction of length 1."""

    layer: int
    keep: Fraction
    multiplicities: np.ndarray  # of all points
    places: np.ndarray  # of the members
    errors: np.ndarray  # how far each can be from the truth
    worst: float  # no point, member or not, is further from the truth than this
    members: np.ndarray | None = None  # increasing; None: everybody
    lead: float = np.inf
    spectators: tuple[Spectators, ...] = ()

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def norms(self) -> np.ndarray:
        """Of the members, none too small."""
        return norms_above(self.places)

    @cached_property
    def longest(self) -> float:
        """The largest norm of all points: the hull of all is that of the members."""
        return float(self.norms.max())

    def everybody(self) -> np.ndarray:
        """Where all points are."""
        if self.members is None:
            return self.places
        places = np.empty((len(self.multiplicities), self.places.shape[1]))
        places[self.members] = self.places
        for group in self.spectators:
            places[group.points] = group.at(self.layer)
        return places

    def reopened(self) -> "Arena":
        """The same layer with everybody in the arena."""
        errors = np.full(len(self.multiplicities), self.worst)
        errors[self._points_of(np.arange(len(self)))] = self.errors
        return replace(self, places=self.everybody(), errors=errors, members=None, lead=np.inf, spectators=())

    def after_layers(self, choices: Choices, layers: int) -> "Arena":
        """The arena so many layers later, if choices last so long, without those who from now on can only watch."""
        if not self._attends_within(choices):
            return self.reopened().after_layers(choices, layers)
        left = self._without_watchers(choices)
        own = left._among_members(choices)
        means = mean_positions(left.places, own, left._of_members(self.multiplicities))
        keep = float(power(self.keep, layers))
        return replace(
            left,
            layer=self.layer + layers,
            places=means + keep * (left.places - means),
            errors=left._errors_later(own),
            worst=self.worst + self.step_error(choices),
            lead=left.lead * keep,
        )

    def step_error(self, choices: Choices) -> float:
        """How much the closed form of these choices adds to the error of any point."""
        return step_error(self.longest) + (
            0.0 if choices.all_single else mean_error(self.longest, int(choices.sizes.max()))
        )

    def _errors_later(self, own: Choices) -> np.ndarray:
        """The larger error of a point and its target, and what the step adds (see `bounds`)."""
        towards = own.indices if own.all_single else own.indices[own.offsets[:-1]]
        errors = np.maximum(self.errors, self.errors[towards])
        errors += step_error(1.0) * np.maximum(self.norms, self.norms[towards]) + step_error(0.0)
        if not own.all_single:
            errors[own.sizes > 1] = self.errors.max() + self.step_error(own)
        return errors

    def suffices(self, directions: np.ndarray, slack: np.ndarray) -> bool:
        """Whether all others trail by more than the slack. Along a direction of length 0 nobody trails, so lengths are
        not rounded up here."""
        return self.members is None or bool((self.lead * np.linalg.norm(directions, axis=1) > slack).all())

    def hold(self, cpu: Cpu, directions: np.ndarray, slack: np.ndarray, guesses: np.ndarray) -> Contest:
        """The contest of all, held among the members; `gap` is then at most the smallest lead."""
        contest = cpu.hold(directions, self.places, slack, self.rows_of(guesses))
        if self.members is None:
            return contest
        return contest.among(self.members, self.lead * float(norms_above(directions).min()))

    def rows_of(self, points: np.ndarray) -> np.ndarray:
        """The rows of some points among the members; for one that is no member, that of the member after it."""
        if self.members is None:
            return points
        return np.minimum(np.searchsorted(self.members, points), len(self) - 1)

    def places_of(self, points: np.ndarray) -> np.ndarray:
        """Where some of the members are."""
        return self.places.take(self.rows_of(points), axis=0)

    def _points_of(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.members is None else self.members[rows]

    def _of_members(self, of_points: np.ndarray) -> np.ndarray:
        return of_points if self.members is None else of_points[self.members]

    def _attends_within(self, choices: Choices) -> bool:
        """Whether members attend to members alone. One whose direction is 0 attends to everybody."""
        if self.members is None:
            return True
        attended = choices.of_rows(self.members).indices
        return np.array_equal(self.members[self.rows_of(attended)], attended)

    def _among_members(self, choices: Choices) -> Choices:
        """Whom each member attends to, as rows."""
        if self.members is None:
            return choices
        own = choices.of_rows(self.members)
        return Choices(self.rows_of(own.indices), own.offsets)

    def _without_watchers(self, choices: Choices) -> "Arena":
        """The arena without those who follow a leader well inside the hull of the leaders, if they are many."""
        if len(self) < _FEWEST_POINTS:
            return self
        leading = self._of_members(choices.is_leader)
        leaving = self._of_members(choices.follows_leader) & ~leading
        if not choices.all_single:
            # Nobody well inside ties for the furthest place, unless a point has no direction: it attends to everybody.
            tied = choices.of_rows(np.flatnonzero(choices.sizes > 1)).indices
            leaving[self.rows_of(tied)] = False
        leaders = self.places[leading]
        if not self._is_worth_it(leaving, leaders):
            return self
        shell = shell_of(leaders)
        if shell is None:
            return self
        depth = shell.radius * _DEPTH
        ball = depth - shell.off - 4 * self.worst
        if ball < depth / 2:  # the hull is too flat
            return self
        # Squares of the smallest radii underflow: nobody is known to be inside by such a one.
        square = ((shell.radius - depth) * _SAFETY) ** 2 if shell.radius > 2.0**-400 else -1.0
        keep_well_inside(self.places, shell.centre, square, shell.facets, depth, leaving)
        return self._without(leaving, choices, ball * _SAFETY) if self._is_worth_it(leaving, leaders) else self

    def _is_worth_it(self, leaving: np.ndarray, leaders: np.ndarray) -> bool:
        count, dimension = leaders.shape
        few = np.count_nonzero(leaving) < max(len(self) // 4, _FEWEST_POINTS)
        return 2 <= dimension <= _HIGHEST_DIMENSION and count > dimension and not few

    def _without(self, leaving: np.ndarray, choices: Choices, lead: float) -> "Arena":
        gone, stay = np.flatnonzero(leaving), np.flatnonzero(~leaving)
        return replace(
            self,
            places=self.places.take(stay, axis=0),
            errors=self.errors[stay],
            members=self._points_of(stay),
            lead=min(self.lead, lead),
            spectators=(*self.spectators, Spectators(self._points_of(gone), self, choices)),
        )
