"""Where one token ends, by where it starts: `basins`.

The box of starts is cut into cells (`cells`). In each, the run is followed layer by layer
(`itineraries`) as long as every lead that is asked for has one sign in the whole cell; where one
has not, the cell is cut along it, exactly if it is linear in the start, else along lines beside the
curve. The largest cell that is not decided comes next."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

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
from hardmax._questions.cells import Cell, Quadratic
from hardmax._questions.chances import Estimate, estimate_unchanged
from hardmax._questions.itineraries import Itinerary, Layer, Sets
from hardmax._tokens.batches import Cloud, read_one, read_table
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import Number, read_number, to_fractions
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.infinite_depth import limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LAYERS = 200
_LARGEST = 10**60
_OFTEN = 64  # cells between two reports of progress
_THIN = Fraction(1, 2**60)  # a line is a strip of this height, as a share of its length

Intervals = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, eq=False)
class Region:
    """Starts from which a token attends to the same tokens in the end. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> basins([[0], [1], [3]], box=[(-1, 4)]).regions[0]
    Region(leader 2, 60.0 % of the box)
    """

    attended: tuple[int, ...]
    """Whom the token attends to in the end: one leader, itself if it leads, or all leaders of a
    face; of equal tokens the first. Nobody, if that is not decided."""
    name: str
    """The same in words: leader 3, itself, face 0, 1, or undecided."""
    share: float
    """Its share of the box, up to rounding: the probability of a start that is uniform there."""
    _cells: tuple[Cell, ...]
    _is_line: bool

    @cached_property
    def cells(self) -> list[np.ndarray]:
        """The corners of each cell as Fractions: convex polygons (k, 2), counterclockwise; on the
        line both ends (2, 1)."""
        cells = []
        for cell in self._cells:
            rows = [[Fraction(int(x), int(w)) for x in corner] for w, *corner in cell.corners]
            if self._is_line:
                places = [x for x, _ in rows]
                rows = [[min(places)], [max(places)]]
            cells.append(np.array(rows, dtype=object))
        return cells

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.array([cell.floats.min(axis=0) for cell in self._cells])
        high = np.array([cell.floats.max(axis=0) for cell in self._cells])
        slack = 1e-9 * (np.abs(low) + np.abs(high))
        return low - slack, high + slack

    def _holds(self, x: Fraction, y: Fraction) -> bool:
        low, high = self._bounds
        floats = np.array([float(x), float(y)])
        near = np.flatnonzero(((low <= floats) & (floats <= high)).all(axis=1))
        return any(self._cells[k].has_inside(x, y) for k in near)

    def __repr__(self) -> str:
        return f"Region({self.name}, {100 * self.share:.1f} % of the box)"


@dataclass(frozen=True, eq=False)
class Basins:
    """Where one token ends, by where it starts. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> basins([[0], [1], [3]], box=[(-1, 4)])
    Basins(token 3: leader 2 60.0 %, itself 40.0 %, undecided 0.0 %)
    """

    token: int
    """The token that is moved; the number of tokens, if it is one more."""
    tokens: np.ndarray
    """The others, (n, d), as Fractions."""
    box: Intervals
    """Where it starts: an interval in each coordinate."""
    regions: tuple[Region, ...]
    """What is proved, the largest region first."""
    undecided: Region
    """What is left of the box."""
    _dynamics: Dynamics
    _names: tuple[int, ...]
    """Of equal tokens the first, for each token of the cloud with the one that is moved."""

    def at(self, start: Any) -> tuple[int, ...] | None:
        """Whom the token attends to in the end if it starts there, as proved.

        Parameters
        ----------
        start : array_like of shape (d,)
            Where it starts.

        Returns
        -------
        tuple of int or None
            As `Region.attended`; None if that is undecided, on the border of a cell, or outside the
            box.

        Examples
        --------
        >>> from hardmax import basins
        >>> basins([[0], [1], [3]], box=[(-1, 4)]).at([-0.5])
        (3,)
        """
        (row,) = self._read([start], "`start`")
        return self._known(row)

    def estimates(self, starts: Any) -> dict[tuple[int, ...] | None, Estimate]:
        """How likely each end is, from starts that were drawn from some law.

        Parameters
        ----------
        starts : array_like of shape (m, d)
            Independent draws, also outside the box. Where no end is proved, a run decides.

        Returns
        -------
        dict of tuple of int to Estimate
            By whom the token attends to in the end, as `Region.attended`, the likeliest first. None
            stands for runs that have not settled.

        Examples
        --------
        >>> import numpy as np
        >>> from hardmax import basins
        >>> draws = np.random.default_rng(0).standard_normal((2000, 1))
        >>> basins([[0], [1], [3]]).estimates(draws)[3,]
        Estimate(0.517, 99 % interval 0.488 to 0.546, 2,000 draws)
        """
        rows = self._read(starts, "`starts`")
        ends = Counter(self._known(row) or self._run(row) for row in rows)
        return {end: Estimate(hits, len(rows)) for end, hits in ends.most_common()}

    def _read(self, values: Any, name: str) -> list[list[Any]]:
        table = to_fractions(read_table(values, name), name)
        if table.shape[1] != len(self.box):
            wish = f"{name} must have {len(self.box)} coordinates"
            raise InputError(f"{wish}, not {table.shape[1]}.")
        return table.tolist()

    def _known(self, start: list[Any]) -> tuple[int, ...] | None:
        place = [*start, _strip(self.box[0])[1] / 2][:2]
        return next((each.attended for each in self.regions if each._holds(*place)), None)

    def _run(self, start: list[Any]) -> tuple[int, ...] | None:
        place = min(self.token, len(self.tokens))
        lim = limit(np.insert(self.tokens, place, start, axis=0), self._dynamics)
        if lim.settled_at is None:
            return None
        attended = lim.run.attended(lim.settled_at)[place].tolist()
        return tuple(sorted({self._names[j] for j in attended}))

    def __repr__(self) -> str:
        regions = (*self.regions, self.undecided)
        shares = [f"{region.name} {100 * region.share:.1f} %" for region in regions]
        return f"Basins(token {self.token}: {', '.join(shares)})"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import table_card

        rows: list[list[object]] = [["ends at", "share of the box"]]
        for region in (*self.regions, self.undecided):
            rows.append([region.name, f"{100 * region.share:.1f} %"])
        return table_card(self, rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, texts and numbers, for JSON; exact numbers are texts."""
        regions = []
        for region in (*self.regions, self.undecided):
            cells = [[[str(x) for x in row] for row in cell] for cell in region.cells]
            known = {"attended": list(region.attended), "share": region.share}
            regions.append({**known, "cells": cells})
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


@overload
def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    noise: None = None,
    tolerance: float = 0.004,
    effort: int = 4000,
    progress: Progress | None = None,
) -> Basins: ...


@overload
def basins(
    tokens: Any,
    *,
    dynamics: Dynamics | None = None,
    noise: Number,
    draws: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Estimate: ...


def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    noise: Number | None = None,
    tolerance: float = 0.004,
    effort: int = 4000,
    draws: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Basins | Estimate:
    """Where one token ends, by where it starts, proved; or, with noise, how likely all stays as it
    is, estimated.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud: in the plane or on a line, and of any dimension with `noise`.
    token : int, optional
        The token whose start is moved; by default one more token is added.
    box : sequence of d pairs (low, high), optional
        Where it starts. By default the box around the tokens, a quarter of its longest side larger
        on each side.
    dynamics : Dynamics, optional
        The paper's layer, with any metric; `Dynamics(1)` by default.
    noise : number, optional
        Move all tokens at once instead, each coordinate by up to this number, uniformly and
        independently, and estimate how likely it is that no attended set changes at any layer.
    tolerance : float, default 0.004
        Stop once no more than this share of the box is undecided.
    effort : int, default 4000
        Parts of the box looked at, at most.
    draws, seed : int, default 1000 and 0
        With `noise`: how many moves are drawn, and the seed of their random numbers.
    progress : callable, optional
        Called with how many parts or moves have been looked at, and with how many there may be.

    Returns
    -------
    Basins or Estimate
        A region for each end, and what is undecided. With noise, an estimate of the probability
        that nothing changes.

    Notes
    -----
    As long as attended sets are known, every token is at :math:`a + b x`, x the start. So all leads
    are quadratics :math:`c + \\langle b, x \\rangle + k \\langle A x, x \\rangle`, whose signs are
    proved on cells from their values at corners.

    Examples
    --------
    >>> from hardmax import basins
    >>> found = basins([[0], [1], [3]], box=[(-1, 4)])
    >>> found
    Basins(token 3: leader 2 60.0 %, itself 40.0 %, undecided 0.0 %)
    >>> found.at([2.5])
    (2,)
    >>> basins([[2], [1]], noise=1)  # 7 / 8
    Estimate(0.862, 99 % interval 0.832 to 0.889, 1,000 draws)
    """
    cloud = read_one(tokens)
    dynamics = Dynamics(1) if dynamics is None else check_dynamics(dynamics)
    check_plain(dynamics, "`basins`")
    n, d = cloud.tokens.shape
    check_dimension(dynamics, d)
    tolerance = check_real(tolerance, "`tolerance`", at_least=0, at_most=1)
    effort = check_int(effort, "`effort`", at_least=1)
    check_progress(progress)
    if noise is not None:
        if token is not None or box is not None:
            both = "`noise` moves all tokens: it goes with no `token` or `box`."
            raise InputError(both)
        return estimate_unchanged(cloud.tokens, dynamics, noise, draws, seed, progress)
    if d > 2:
        most = f"`tokens` have {d} coordinates; `basins` cuts the plane or the line"
        raise InputError(f"{most}.")
    starts = _read_box(box, cloud.tokens)
    names, weight = [*range(n), n], 1
    if token is not None:
        token = normalize_index(token, n, "`token`")
        counts = cloud.multiplicities
        others = None
        if counts is not None:
            weight, others = int(counts[token]), np.delete(counts, token)
        cloud = Cloud(np.delete(cloud.tokens, token, axis=0), others)
        names = [*(j for j in range(n) if j != token), token]
    search = _Search(cloud, weight, dynamics, starts)
    search.run(tolerance, effort, progress)
    moved = names[-1]
    table = to_fractions(cloud.tokens, "`tokens`")
    firsts = {point: names[token] for token, point in reversed([*enumerate(search.point_of)])}
    regions, undecided = search.regions([*(firsts[k] for k in range(len(firsts))), moved])
    first_of = [firsts[point] for point in search.point_of]
    first_of.insert(min(moved, n), moved)
    return Basins(moved, table, starts, regions, undecided, dynamics, tuple(first_of))


class _Open(NamedTuple):
    """A cell that is not decided."""

    cell: Cell
    itinerary: Itinerary
    candidates: Sets
    """Whom points may attend to there at this layer."""


class _Search:
    """Cells: those of which the end is known, and those that are not decided."""

    def __init__(self, cloud: Cloud, weight: int, dynamics: Dynamics, box: Intervals) -> None:
        self.is_line = len(box) == 1
        rows, counts, unit = [], [], 1
        self.point_of: list[int] = []
        if len(cloud.tokens):
            points = merge(cloud)
            self.point_of, counts = points.of_token.tolist(), points.multiplicities.tolist()
            unit = int(points.integers.denominator)
            rows = [[*row, 0] for row in points.integers.numerators]
        rows.append([*[0] * len(box), unit])
        metric: Any = dynamics.metric_integers
        if metric is None:
            metric = np.eye(len(box), dtype=int).tolist()
        if self.is_line:  # a thin strip of the plane, in which heights do not count
            rows = [[x, 0, b] for x, b in rows]
            metric, box = [[metric[0][0], 0], [0, 0]], (box[0], _strip(box[0]))
        layer = Layer(dynamics.alpha, metric, [*counts, weight])
        start = Itinerary(rows, layer, {}, 0)
        whole = Cell.of_box(box, metric)
        self.token, self.numbers, self.area = len(rows) - 1, count(), whole.area
        self.ends: dict[tuple[int, ...], list[Cell]] = defaultdict(list)
        self.given_up: list[Cell] = []
        self.queue: list[tuple[float, int, _Open]] = []
        self.left = 0.0
        self._push(_Open(whole, start, start.candidates))

    def run(self, tolerance: float, effort: int, progress: Progress | None) -> None:
        """Decide cells, the largest first, until little is left."""
        looked = 0
        while self.queue and looked < effort and self.left > tolerance:
            if progress is not None and looked % _OFTEN == 0:
                progress(looked, effort)
            self._step()
            looked += 1
        if progress is not None:
            progress(effort, effort)

    def _push(self, left: _Open) -> None:
        share = float(left.cell.area / self.area)
        self.left += share
        heapq.heappush(self.queue, (-share, next(self.numbers), left))

    def _step(self) -> None:
        """Decide the largest cell that is open, or cut it."""
        weight, _, (cell, itinerary, candidates) = heapq.heappop(self.queue)
        self.left += weight
        while itinerary.number < _MOST_LAYERS:
            sets, lead = self._narrowed(cell, itinerary, candidates)
            if lead is not None:
                parts = cell.split(lead)
                for part in parts:
                    self._push(_Open(part, itinerary, sets))
                if parts:
                    return
                break
            if itinerary.follows_leader(self.token, sets):
                self.ends[sets[self.token]].append(cell)
                return
            step = itinerary.step(sets)
            if step.lasts(cell):
                self.ends[step.sets[self.token]].append(cell)
                return
            itinerary = step.after
            candidates = itinerary.candidates
        self.left -= weight
        self.given_up.append(cell)

    def _narrowed(
        self, cell: Cell, itinerary: Itinerary, candidates: Sets
    ) -> tuple[Sets, Quadratic | None]:
        """Whom points attend to in the cell, or a lead that has no sign there. If the token attends
        to a leader alone, nobody else is asked in the plane."""
        asked = candidates if self.is_line else [self.token]
        sets, lead = itinerary.narrowed(cell, candidates, asked)
        if lead is None and len(sets[self.token]) == 1:
            sets, lead = itinerary.narrowed(cell, sets, sets[self.token])
        if lead is None and not itinerary.follows_leader(self.token, sets):
            sets, lead = itinerary.narrowed(cell, sets, sets)
        return sets, lead

    def regions(self, names: Sequence[int]) -> tuple[tuple[Region, ...], Region]:
        """What is proved of each end, the largest first, and what is not; points have these
        names."""
        found = []
        for end, cells in self.ends.items():
            attended = tuple(sorted(names[point] for point in end))
            found.append(self._region(attended, _name(attended, names[-1]), cells))
        found.sort(key=lambda region: -region.share)
        left = [*self.given_up, *(left.cell for *_, left in self.queue)]
        return tuple(found), self._region((), "undecided", left)

    def _region(self, attended: tuple[int, ...], name: str, cells: list[Cell]) -> Region:
        share = sum(float(cell.area / self.area) for cell in cells)
        return Region(attended, name, share, tuple(cells), self.is_line)


def _name(attended: Sequence[int], token: int) -> str:
    """Whom a token attends to in the end, in words."""
    if attended == (token,):
        return "itself"
    numbers = ", ".join(map(str, attended))
    return f"leader {numbers}" if len(attended) == 1 else f"face {numbers}"


def _strip(ends: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """The second coordinates of the strip that stands for an interval."""
    low, high = ends
    return Fraction(0), (high - low) * _THIN


def _read_box(box: Any, tokens: np.ndarray) -> Intervals:
    """The box that is meant."""
    if box is None:
        table = to_fractions(tokens, "`tokens`")
        lows, highs = table.min(axis=0), table.max(axis=0)
        more = max(highs - lows) / 4 or Fraction(1)
        return tuple(zip(lows - more, highs + more, strict=True))
    if not _is_list(box, tokens.shape[1]) or not all(_is_list(pair, 2) for pair in box):
        raise _no_box(box, tokens.shape[1])
    pairs = tuple((read_number(low, "`box`"), read_number(high, "`box`")) for low, high in box)
    if any(low >= high for low, high in pairs):
        raise _no_box(box, tokens.shape[1])
    if any((high - low) * _LARGEST < 1 or max(-low, high) > _LARGEST for low, high in pairs):
        sizes = "sides of at least 1e-60, and ends of at most 1e60"
        raise InputError(f"`box` must have {sizes}: measure tokens in another unit.")
    return pairs


def _no_box(box: Any, d: int) -> InputError:
    wish = f"`box` must be {d} pairs (low, high) with low < high"
    return InputError(f"{wish}, not {shorten(box)}.")


def _is_list(value: Any, length: int) -> bool:
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return is_list and len(value) == length
