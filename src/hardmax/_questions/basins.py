"""Where one token ends, by where it starts: `basins`.

The box of starts is cut into cells (`cells`). In each, the run is followed layer by layer
(`itineraries`) as long as every lead that is asked for has one sign in the whole cell; where one
has not, the cell is cut along it, exactly if it is linear in the start, else along lines beside the
curve. The largest cell that is not decided comes next."""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from flint import arb

from hardmax._common.cached import cached_property
from hardmax._common.validation import (
    InputError,
    Progress,
    check_int,
    check_progress,
    check_real,
    normalize_index,
    shorten,
)
from hardmax._layer.rules import check_dimension, check_plain
from hardmax._questions.cells import Box, Cell, CellPolygon
from hardmax._questions.itineraries import Itinerary, Layer, Sets
from hardmax._questions.laws import Enclosure, Gaussian, Uniform, total_volume
from hardmax._questions.noise import unchanged
from hardmax._tokens.batches import Cloud, read_batch, read_table
from hardmax._tokens.points import Points, merge
from hardmax._tokens.rationals import IntegerCloud, Number, read_number, to_fractions
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.limits import limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LAYERS, _MOST_DIMENSIONS = 200, 4
_REACH = 4  # standard deviations on each side of a mean: 99.99 % of a coordinate
_TOLERANCE, _TOLERANCE_OF_NOISE = 0.004, 0.04
_MOST_MOVED = 40  # coordinates
_OFTEN = 64  # cells between two reports of progress


@dataclass(frozen=True, eq=False)
class Region:
    """Starts from which a token attends to the same tokens in the end. Made by `basins`."""

    attended: tuple[int, ...]
    """Whom the token attends to in the end: one leader, itself if it leads, or all leaders of a
    face; of equal tokens the first. Nobody, if that is not decided."""
    area: Enclosure
    """The area of all its cells (d = 1: the length, d > 2: the volume)."""
    probability: Enclosure | None
    """The probability that the token ends there; without a law None."""
    _cells: tuple[Cell, ...]

    @cached_property
    def cells(self) -> list[np.ndarray]:
        """The corners of each cell as Fractions, (k, d): convex polygons, counterclockwise, in the
        plane, else boxes."""
        cells = []
        for cell in self._cells:
            rows = [[Fraction(x, w) for x in corner] for w, *corner in cell.corners]
            cells.append(np.array(rows, dtype=object))
        return cells

    def __contains__(self, point: Any) -> bool:
        """Whether a point (d,) lies inside one of the cells; on their borders nothing is said."""
        return self._holds(_read_point(point, len(self._cells[0].corners[0]) - 1))

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        tables = [np.array(cell.floats) for cell in self._cells]
        low, high = (np.array([way(table, axis=0) for table in tables]) for way in (np.min, np.max))
        slack = 1e-9 * (np.abs(low) + np.abs(high))
        return low - slack, high + slack

    def _holds(self, point: Sequence[Fraction]) -> bool:
        low, high = self._bounds
        floats = np.array([float(x) for x in point])
        near = np.flatnonzero(((low <= floats) & (floats <= high)).all(axis=1))
        return any(self._cells[k].has_inside(point) for k in near)

    def __repr__(self) -> str:
        return f"Region(attended={self.attended}, area {self.area})"


@dataclass(frozen=True, eq=False)
class Basins:
    """Where one token ends, by where it starts. Made by `basins`."""

    token: int
    """The token that is moved; the number of tokens, if it is one more."""
    tokens: np.ndarray
    """The others, (n, d), as Fractions."""
    box: tuple[tuple[Fraction, Fraction], ...]
    """Where it starts: an interval in each coordinate."""
    law: Any
    """"uniform", a `Gaussian` or None."""
    regions: tuple[Region, ...]
    """What is proved, the largest region first."""
    undecided: Region
    """What is left of the box. Its probability is that of all that is not decided, also outside the
    box."""

    def at(self, start: Any) -> tuple[int, ...] | None:
        """Whom the token attends to in the end if it starts there, as proved; None if that is
        undecided, on the border of a cell, or outside the box.

        Parameters
        ----------
        start : array_like of shape (d,)
            Where it starts.

        Returns
        -------
        tuple of int or None
            As `Region.attended`.
        """
        point = _read_point(start, len(self.box))
        for region in self.regions:
            if region._holds(point):
                return region.attended
        return None

    def name(self, attended: Sequence[int]) -> str:
        """The end in words: `leader 3`, `itself`, `face 0, 1`.

        Parameters
        ----------
        attended : sequence of int
            Whom the token attends to in the end.

        Returns
        -------
        str
            The words.
        """
        if not attended:
            return "undecided"
        if tuple(attended) == (self.token,):
            return "itself"
        numbers = ", ".join(map(str, attended))
        return f"leader {numbers}" if len(attended) == 1 else f"face {numbers}"

    def __repr__(self) -> str:
        shares = [f"{self.name(r.attended)} {self._share(r):.1%}" for r in self.regions]
        left = f"undecided {self._share(self.undecided):.1%}"
        return f"Basins(token {self.token}: {', '.join([*shares, left])})"

    def _share(self, region: Region) -> float:
        return region.area.high / float(math.prod(high - low for low, high in self.box))

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import table_card

        rows: list[list[object]] = [["ends at", "area", "probability"]]
        for region in (*self.regions, self.undecided):
            rows.append([self.name(region.attended), region.area, region.probability or ""])
        return table_card(self, rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, texts and numbers, for JSON; exact numbers are texts."""
        regions = []
        for region in (*self.regions, self.undecided):
            cells = [[[str(x) for x in row] for row in cell] for cell in region.cells]
            probability = region.probability and list(region.probability)
            known = {"attended": list(region.attended), "area": list(region.area)}
            regions.append({**known, "probability": probability, "cells": cells})
        return {
            "token": self.token,
            "box": [[str(low), str(high)] for low, high in self.box],
            "regions": regions[:-1],
            "undecided": regions[-1],
        }

    def plot(
        self, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes":
        """Draw the regions in the plane, or on the line (extra `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title.
        figsize : tuple of float, optional
            Size of the new figure, in inches.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from hardmax.figures.basins import plot_basins

        return plot_basins(self, ax=ax, figsize=figsize)


@dataclass(frozen=True)
class Unchanged:
    """How likely it is that moving all tokens changes no attended set. Made by `basins`."""

    noise: Fraction
    """Each coordinate of each token is moved by up to so much, uniformly and independently."""
    radius: float
    """`Limit.radius`: moves of at most this Euclidean length change nothing."""
    probability: Enclosure
    """The probability that no attended set changes, at any layer."""

    def __repr__(self) -> str:
        return f"Unchanged(noise {float(self.noise):.4g}: probability {self.probability})"


@overload
def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    law: Literal["uniform"] | Gaussian | None = None,
    noise: None = None,
    tolerance: float | None = None,
    effort: int = 10_000,
    progress: Progress | None = None,
) -> Basins: ...


@overload
def basins(
    tokens: Any,
    *,
    dynamics: Dynamics | None = None,
    noise: Number,
    tolerance: float | None = None,
    effort: int = 10_000,
    progress: Progress | None = None,
) -> Unchanged: ...


def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    law: Literal["uniform"] | Gaussian | None = None,
    noise: Number | None = None,
    tolerance: float | None = None,
    effort: int = 10_000,
    progress: Progress | None = None,
) -> Basins | Unchanged:
    """Where one token ends, by where it starts; or, with noise, how likely all stays as it is.

    Both are proved.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud, of at most 4 dimensions.
    token : int, optional
        The token whose start is moved; by default one more token is added.
    box : sequence of d pairs (low, high), optional
        Where it starts. By default the box around the tokens, a quarter of its longest side larger
        on each side; with a Gaussian law four standard deviations on each side of the mean.
    dynamics : Dynamics, optional
        The paper's layer, with any metric; `Dynamics(1)` by default.
    law : {"uniform"} or Gaussian, optional
        The law of the start, for the probabilities of all ends: uniform on the box, or Gaussian.
    noise : number, optional
        Move all tokens at once instead, each coordinate by up to this number, uniformly and
        independently, and ask how likely it is that no attended set changes at any layer. There is
        no `token`, `box` or `law` then, and a token has at most 40 / n coordinates.
    tolerance : float, optional
        Stop once no more than this share of the box, or of the law, is undecided: 0.004 by
        default, and 0.04 with noise.
    effort : int, default 10_000
        Cells looked at, at most: parts of the box, or of all moves.
    progress : callable, optional
        Called with how many cells have been looked at, and with `effort`.

    Returns
    -------
    Basins or Unchanged
        A region for each end, with its area and probability, and what is undecided. With noise, the
        probability that nothing changes.

    Notes
    -----
    As long as attended sets are known, every token is at :math:`a + b x`, x the start. So all leads
    are quadratics :math:`c + \\langle b, x \\rangle + k \\langle A x, x \\rangle`, whose signs are
    proved on cells from their values at corners.

    Examples
    --------
    >>> from hardmax import basins, clouds
    >>> found = basins(clouds.square(), box=[(-2, 2), (-2, 2)], law="uniform")
    >>> found
    Basins(token 6: itself 67.7%, leader 0 8.0%)
    >>> basins([[1, 0], [-1, 0], [0.25, 0.5]], noise="1/4")
    Unchanged(noise 0.25: probability 0.8 to 0.9)
    """
    clouds, form = read_batch(tokens)
    if not form.is_single:
        one_cloud = "`tokens` must be one cloud of shape (n, d), not a batch."
        raise InputError(one_cloud, argument="tokens")
    dynamics = Dynamics(1) if dynamics is None else check_dynamics(dynamics)
    check_plain(dynamics, "`basins`")
    cloud, weight = clouds[0], 1
    n, d = cloud.tokens.shape
    check_dimension(dynamics, d)
    if tolerance is None:
        tolerance = _TOLERANCE if noise is None else _TOLERANCE_OF_NOISE
    tolerance = check_real(tolerance, "`tolerance`", at_least=0, at_most=1)
    effort = check_int(effort, "`effort`", at_least=1)
    check_progress(progress)
    if noise is not None:
        if not token is box is law is None:
            both = "`noise` moves all tokens: it goes with no `token`, `box` or `law`."
            raise InputError(both, argument="noise")
        return _unchanged(cloud, dynamics, noise, tolerance, effort, progress)
    if d > _MOST_DIMENSIONS:
        most = f"`tokens` have {d} coordinates; `basins` knows at most {_MOST_DIMENSIONS}."
        raise InputError(most, argument="tokens")
    if not (law is None or law == "uniform" or isinstance(law, Gaussian)):
        wish = "`law` must be None, 'uniform' or a Gaussian"
        raise InputError(f"{wish}, not {shorten(law)}.", argument="law")
    starts = _read_box(box, cloud.tokens, law)
    names = [*range(n), n]
    if token is not None:
        token = normalize_index(token, n, "`token`")
        counts = cloud.multiplicities
        weight = 1 if counts is None else int(counts[token])
        others = None if counts is None else np.delete(counts, token)
        cloud = Cloud(np.delete(cloud.tokens, token, axis=0), others)
        names = [*(j for j in range(n) if j != token), token]
    points = merge(cloud) if len(cloud.tokens) else None
    search = _Search(points, weight, dynamics, starts, law)
    looked = 0
    while search.queue and looked < effort and search.left > tolerance:
        if progress is not None and looked % _OFTEN == 0:
            progress(looked, effort)
        search.step()
        looked += 1
    if progress is not None:
        progress(effort, effort)
    firsts = [names[members[0]] for members in points.members] if points else []
    regions, undecided = search.regions([*firsts, names[-1]])
    table = to_fractions(cloud.tokens, "`tokens`")
    return Basins(names[-1], table, starts.ends, law, regions, undecided)


def _unchanged(
    cloud: Cloud,
    dynamics: Dynamics,
    noise: Number,
    tolerance: float,
    effort: int,
    progress: Progress | None,
) -> Unchanged:
    most = read_number(noise, "`noise`")
    if most <= 0:
        raise InputError(f"`noise` must be positive, not {shorten(noise)}.", argument="noise")
    if cloud.tokens.size > _MOST_MOVED:
        many = f"{cloud.tokens.size} coordinates are moved, and {_MOST_MOVED} are the most"
        raise InputError(f"`noise`: {many}.", argument="noise")
    lim = limit(cloud.tokens, dynamics)
    radius = lim.radius  # refuses a run that has not settled
    if most**2 * cloud.tokens.shape[1] <= Fraction(radius) ** 2:
        return Unchanged(most, radius, Enclosure(1.0, 1.0))
    found = unchanged(lim.run, most, tolerance, effort, progress)
    if progress is not None:
        progress(effort, effort)
    return Unchanged(most, radius, found)


def _read_point(value: Any, dimension: int) -> list[Fraction]:
    (row,) = read_table([value], "`start`")
    if len(row) != dimension:
        raise InputError(f"`start` must have {dimension} coordinates, not {len(row)}.")
    return [Fraction(x) for x in row]


def _read_box(box: Any, tokens: np.ndarray, law: Any) -> Box:
    """The box that is meant."""
    d = tokens.shape[1]
    if box is None and isinstance(law, Gaussian):
        moments = law.of_dimension(d)
        return Box.of([(mean - _REACH * std, mean + _REACH * std) for mean, std in moments])
    if box is None:
        table = to_fractions(tokens, "`tokens`")
        ends = list(zip(table.min(axis=0), table.max(axis=0), strict=True))
        more = max(high - low for low, high in ends) / 4 or Fraction(1)
        return Box.of([(low - more, high + more) for low, high in ends])
    wish = f"`box` must be {d} pairs (low, high) with low < high"
    if not isinstance(box, list | tuple | np.ndarray) or len(box) != d:
        raise InputError(f"{wish}, not {shorten(box)}.", argument="box")
    pairs = []
    for pair in box:
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            raise InputError(f"{wish}, not {shorten(box)}.", argument="box")
        low, high = (read_number(end, "`box`") for end in pair)
        if low >= high:
            raise InputError(f"{wish}, not {shorten(box)}.", argument="box")
        pairs.append((low, high))
    return Box.of(pairs)


class _Open(NamedTuple):
    """A cell that is not decided."""

    cell: Cell
    itinerary: Itinerary
    candidates: Sets
    """Whom points may attend to there at this layer."""


class _Search:
    """Cells: those of which the end is known, and those that are not decided."""

    def __init__(
        self, points: Points | None, weight: int, dynamics: Dynamics, box: Box, law: Any
    ) -> None:
        d, counts, rows, denominator = len(box.ends), [], [], 1
        if points is not None:
            counts, denominator = points.multiplicities.tolist(), points.integers.denominator
            rows = [[*row, 0] for row in points.integers.numerators]
        rows.append([*[0] * d, denominator])
        metric = dynamics.metric_integers or [[int(i == j) for j in range(d)] for i in range(d)]
        layer = Layer(dynamics, metric, [*counts, weight])
        start = Itinerary(IntegerCloud(rows, denominator), layer, {}, 0)
        cell: Cell = box
        if d == 2:
            left, left_above, right, right_above = box.corners
            cell = CellPolygon((left, right, right_above, left_above))
        self.law, self.box = law if isinstance(law, Gaussian) else Uniform(box), box
        self.with_law, self.token, self.numbers = law is not None, len(rows) - 1, count()
        self.ends: dict[tuple[int, ...], list[Cell]] = {}
        self.given_up: list[Cell] = []
        self.queue: list[tuple[float, int, _Open]] = []
        self.left = 0.0
        self._push(_Open(cell, start, start.anybody))

    def _push(self, left: _Open) -> None:
        weight = self.law.weight(left.cell)
        self.left += weight
        heapq.heappush(self.queue, (-weight, next(self.numbers), left))

    def step(self) -> None:
        """Decide the largest cell that is open, or cut it."""
        weight, _, (cell, itinerary, candidates) = heapq.heappop(self.queue)
        while itinerary.number < _MOST_LAYERS:
            sets, lead = itinerary.attended(cell, candidates)
            if lead is not None:
                parts = cell.split(lead, itinerary.layer.metric)
                for part in parts:
                    self._push(_Open(part, itinerary, sets))
                if parts:
                    self.left += weight
                    return
                break
            step = itinerary.step(sets)
            if step.lasts(cell):
                self.left += weight
                self.ends.setdefault(step.sets[self.token], []).append(cell)
                return
            itinerary = step.after
            candidates = itinerary.anybody
        self.given_up.append(cell)

    def regions(self, names: Sequence[int]) -> tuple[tuple[Region, ...], Region]:
        """What is proved of each end, the largest first, and what is not; points have these
        names."""
        undecided = [*self.given_up, *(left.cell for *_, left in self.queue)]
        rest, shares = arb(1), {}
        if self.with_law:
            shares = {end: self.law.probability(cells) for end, cells in self.ends.items()}
            rest -= sum(shares.values(), arb(0))
        regions = []
        for end, cells in self.ends.items():
            attended = tuple(sorted(names[point] for point in end))
            bounds = None
            if self.with_law:
                bounds = Enclosure.of_probability(shares[end], shares[end] + rest)
            area = total_volume(cells)
            regions.append(Region(attended, Enclosure.of(area, area), bounds, tuple(cells)))
        regions.sort(key=lambda region: -region.area.low)
        bounds = Enclosure.of_probability(arb(0), rest) if self.with_law else None
        area = total_volume(undecided)
        return tuple(regions), Region((), Enclosure.of(area, area), bounds, tuple(undecided))
