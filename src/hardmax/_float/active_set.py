"""The points that can still be attended to, once there are leaders.

A polytope that is proved to lie in the hull of some points, from the facets that Qhull finds.

Qhull works in floats, and its facets are good but not proved. What we need is that everything well inside of them is in
the hull, and that follows from things that can be checked:

* Its simplices, each turned so that the centre c sees it counter-clockwise, have no boundary: every ridge is run
  through once each way. So they are a cycle T of corners among the points.
* Seen from c each of them covers a positive angle, so T winds around c a positive number of times.
* A simplex lies in the slab |<a, x> + b| <= off about the plane of its facet, since its corners do (measured).
* So from c to a place z with <a, z> + b < -off for all facets nothing of T is crossed, and T winds around z as often.
  Were z not in the hull, a plane would part it from all of T, which would then not wind around it at all.

Hence a place that is inside all facets by `off` + s is in the hull, with a ball of radius s about it.

Who can still win a contest, and where everybody is: those in the arena move layer by layer, the others by a formula.

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
from itertools import combinations

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.vectors import power
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import mean_error, norms_above, step_error
from hardmax._float.kernels import keep_well_inside
from hardmax._float.phase import mean_positions
from hardmax._float.search import Cpu

# More than rounding does to a determinant of up to four rows, as a share of the product of their lengths; and to the
# distance from a facet, as a share of the reach.
_OF_DETERMINANT, _OF_DISTANCE = 2.0**-40, 2.0**-44


@dataclass(frozen=True, eq=False)
class Shell:
    """Facets about a centre, and by how much a place must be inside of them to be in the hull for certain."""

    centre: np.ndarray
    facets: np.ndarray  # normal and offset: <normal, z - centre> + offset <= 0 is inside
    off: float

    @property
    def radius(self) -> float:
        """Nearer to the centre everything is inside of all facets."""
        return float(-self.facets[:, -1].max())


def shell_of(points: np.ndarray) -> Shell | None:
    """The shell of some points, in up to four dimensions; None where it cannot be proved, as for points in a plane."""
    from scipy.spatial import ConvexHull, QhullError  # half a second to import, and only large clouds need it

    centre = points.mean(axis=0)
    places = points - centre
    try:
        hull = ConvexHull(places)
    except QhullError:
        return None
    corners = places[hull.simplices]  # (facets, d, d)
    volumes = np.linalg.det(corners)
    if (np.abs(volumes) <= _OF_DETERMINANT * np.prod(np.linalg.norm(corners, axis=2), axis=1)).any():
        return None
    simplices = np.where((volumes > 0)[:, None], hull.simplices, _swapped(hull.simplices))
    if not is_closed(simplices):
        return None
    normals, offsets = hull.equations[:, :-1], hull.equations[:, -1]
    distances = np.abs(np.einsum("fcd,fd->fc", corners, normals) + offsets[:, None])
    reach = float(norms_above(places).max())
    return Shell(centre, hull.equations, float(distances.max()) + _OF_DISTANCE * reach)


def is_closed(simplices: np.ndarray) -> bool:
    """Whether oriented simplices have no boundary: each ridge is run through as often one way as the other.

    >>> is_closed(np.array([[0, 1], [1, 2], [2, 0]])), is_closed(np.array([[0, 1], [1, 2], [0, 2]]))
    (True, False)
    """
    ridges, signs = [], []
    for left_out in range(simplices.shape[1]):
        ridge = np.delete(simplices, left_out, axis=1)
        crossings = sum((ridge[:, i] > ridge[:, j]).astype(int) for i, j in combinations(range(ridge.shape[1]), 2))
        ridges.append(np.sort(ridge, axis=1))
        signs.append(np.where((crossings + left_out) % 2, -1, 1) * np.ones(len(ridge), dtype=int))
    _, number = np.unique(np.concatenate(ridges), axis=0, return_inverse=True)
    return not np.bincount(number.ravel(), np.concatenate(signs)).any()


def _swapped(simplices: np.ndarray) -> np.ndarray:
    """The same simplices the other way round."""
    other = simplices.copy()
    other[:, [0, 1]] = simplices[:, [1, 0]]
    return other


# Hulls in more dimensions have too many facets; fewer points are searched sooner than a hull is found.
_HIGHEST_DIMENSION = 4
_FEWEST_POINTS = 2**11
# How far inside the facets places must be, as a share of the radius of a ball in the hull: far below what matters.
_DEPTH = 2.0**-10
_SAFETY = 1 - 2.0**-20


@dataclass(frozen=True, eq=False)
class InactivePoints:
    """Points that left an arena, each on its way to the leader that it attends to."""

    points: np.ndarray
    arena: "ActiveSet"
    choices: Choices

    def at(self, layer: int) -> np.ndarray:
        """Where they are at a later layer."""
        places, leaders = (self.arena.places_of(points) for points in (self.points, self.choices.firsts(self.points)))
        return leaders + float(power(self.arena.keep, layer - self.arena.layer)) * (places - leaders)


@dataclass(frozen=True, eq=False, kw_only=True)
class ActiveSet:
    """The points that can still win, at one layer, and how far all others trail along a direction of length 1."""

    layer: int
    keep: Fraction
    multiplicities: np.ndarray  # of all points
    places: np.ndarray  # of the members
    errors: np.ndarray  # how far each can be from the truth
    worst: float  # no point, member or not, is further from the truth than this
    members: np.ndarray | None = None  # increasing; None: everybody
    lead: float = np.inf
    spectators: tuple[InactivePoints, ...] = ()

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

    def reopened(self) -> "ActiveSet":
        """The same layer with everybody in the arena."""
        errors = np.full(len(self.multiplicities), self.worst)
        errors[self._points_of(np.arange(len(self)))] = self.errors
        return replace(self, places=self.everybody(), errors=errors, members=None, lead=np.inf, spectators=())

    def after_layers(self, choices: Choices, layers: int) -> "ActiveSet":
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

    def hold(self, cpu: Cpu, directions: np.ndarray, slack: np.ndarray, guesses: np.ndarray) -> ArgmaxResult:
        """The contest of all, held among the members; `gap` is then at most the smallest lead."""
        contest = cpu.argmax(directions, self.places, slack, self.rows_of(guesses))
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

    def _without_watchers(self, choices: Choices) -> "ActiveSet":
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

    def _without(self, leaving: np.ndarray, choices: Choices, lead: float) -> "ActiveSet":
        gone, stay = np.flatnonzero(leaving), np.flatnonzero(~leaving)
        return replace(
            self,
            places=self.places.take(stay, axis=0),
            errors=self.errors[stay],
            members=self._points_of(stay),
            lead=min(self.lead, lead),
            spectators=(*self.spectators, InactivePoints(self._points_of(gone), self, choices)),
        )
