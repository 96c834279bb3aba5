"""Who can still win a contest: not those who follow a leader and lie well inside the hull of the leaders.

Say the hull of the leaders holds a ball about c of radius r, and z follows the leader l from |z - c| <= r - s. After m
more layers it is at l + t (z - l), t = g^m. Along y the furthest leader w then leads it by

    <y, w - l> (1 - t) + <y, w - z> t  >=  t s |y|,

since <y, w - c> is at least r |y|. So z can be left out of every contest, as long as that is more than the slack; later
everybody is asked again.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from hardmax.attended_sets import Choices
from hardmax.engines.bounds import norms_above
from hardmax.engines.contest import Contest
from hardmax.engines.cpu import Cpu

# Hulls in more dimensions have too many facets; fewer points are searched sooner than a hull is found.
_HIGHEST_DIMENSION = 4
_FEWEST_POINTS = 2**13
# s, as a share of r.
_SHELL = 1 / 8
_SAFETY = 1 - 2.0**-20


@dataclass(frozen=True, eq=False)
class Arena:
    """The points that can still win, increasing, and how far the others trail along a direction of length 1."""

    members: np.ndarray
    lead: float

    @classmethod
    def of_everybody(cls, points: int) -> "Arena":
        return cls(np.arange(points), np.inf)

    @classmethod
    def with_choices(cls, positions: np.ndarray, choices: Choices) -> "Arena":
        """Those who can still win, given who attends to whom at a layer."""
        count, dimension = positions.shape
        leaders = np.flatnonzero(choices.alone)
        if not 2 <= dimension <= _HIGHEST_DIMENSION or count < _FEWEST_POINTS or len(leaders) <= dimension:
            return cls.of_everybody(count)
        centre = positions[leaders].mean(axis=0)
        try:
            facets = ConvexHull(positions[leaders] - centre).equations
        except QhullError:  # the leaders lie in a plane
            return cls.of_everybody(count)
        radius = float(-facets[:, -1].max()) * _SAFETY
        away = positions - centre
        within = (np.einsum("ij,ij->i", away, away) <= (radius - radius * _SHELL) ** 2) & choices.follows_leader
        within[leaders] = False
        return cls(np.flatnonzero(~within), radius * _SHELL * _SAFETY)

    def after_layer(self, keep: float) -> "Arena":
        """The same one layer later: the others have come closer."""
        return Arena(self.members, self.lead * keep)

    def __len__(self) -> int:
        return len(self.members)

    def suffices(self, looks: np.ndarray, slack: np.ndarray) -> bool:
        """Whether all others trail by more than the slack."""
        return np.isinf(self.lead) or bool((self.lead * norms_above(looks) > slack).all())

    def hold(
        self, cpu: Cpu, looks: np.ndarray, positions: np.ndarray, slack: np.ndarray, guesses: np.ndarray
    ) -> Contest:
        """The contest of all, held among the members; `gap` is then at most the smallest lead."""
        if np.isinf(self.lead):
            return cpu.hold(looks, positions, slack, guesses)
        # A guess that is no member stands for the member after it.
        guesses = np.minimum(np.searchsorted(self.members, guesses), len(self) - 1)
        contest = cpu.hold(looks, positions.take(self.members, axis=0), slack, guesses)
        return Contest(
            self.members[contest.winners],
            contest.contested,
            [self.members[several] for several in contest.contenders],
            min(contest.gap, self.lead * float(norms_above(looks).min())),
        )
