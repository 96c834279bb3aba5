"""Where one token ends, by where it starts: `basins`.

As long as attended sets are known, each point is at a + b x, with the start x, a point a and a
number b, since layers take means. So the score <A z_i, z_j> is a quadratic c + <b, x> + k <A x, x>,
and so is the lead of one point over another. The box of starts is cut into cells. In each, the run
is followed layer by layer as long as every lead that is asked for has one sign in the whole cell;
where one has not, the cell is cut: along it if it is linear in the start, else in halves. The
largest cell that is not decided comes next."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
from flint import fmpz_mat

from hardmax._common.cached import cached_property
from hardmax._common.format import abridge
from hardmax._common.progress import Search
from hardmax._common.validation import (
    InputError,
    check_int,
    check_real,
    normalize_index,
    shorten,
)
from hardmax._layer.rules import check_dimension, check_plain
from hardmax._questions.cells import Cell
from hardmax._tokens.batches import Cloud, read_one
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import dot, read_number, to_fractions
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.figures.pictured import Pictured

_MOST_LAYERS = 100
_OFTEN = 64  # cells between two reports of progress
_STRIP = Fraction(1, 2**60)  # the height of the strip that stands for an interval

Intervals = Sequence[tuple[Fraction, Fraction]]
Sets = dict[int, Sequence[int]]
"""Points that each of some points attends to, or may attend to."""


@dataclass(frozen=True, eq=False)
class Region:
    """Starts from which a token ends at one leader. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> basins([[0], [1], [3]], box=[(-1, 4)]).regions[0]
    Region(leader 2, 60.0 % of the box)
    """

    leader: int | None
    """The leader, or the token itself if it leads; of equal tokens the first. None if that is not
    decided."""
    name: str
    """The same in words: leader 3, itself, or undecided."""
    share: float
    """Its share of the box, up to rounding: the probability of a start that is uniform there."""
    _cells: Sequence[Cell]
    _dimension: int

    @cached_property
    def cells(self) -> list[np.ndarray]:
        """The corners of each cell as Fractions: convex polygons (k, 2), counterclockwise; on the
        line both ends (2, 1)."""
        cells = []
        for cell in self._cells:
            rows = [[Fraction(int(x), int(w)) for x in corner] for w, *corner in cell.corners]
            if self._dimension == 1:
                rows = [[x] for x in sorted({x for x, _ in rows})]
            cells.append(np.array(rows, dtype=object))
        return cells

    def __repr__(self) -> str:
        return f"Region({self.name}, {100 * self.share:.1f} % of the box)"


@dataclass(frozen=True, eq=False)
class Basins(Pictured):
    """Where one token ends, by where it starts. Made by `basins`.

    Its picture: the regions in the plane, or on the line.
    """

    _figure = "plot_basins"
    token: int
    """The token that is moved; the number of tokens, if it is one more."""
    tokens: np.ndarray
    """The others, (n, d), as Fractions."""
    box: Intervals
    """Where it starts: an interval in each coordinate."""
    regions: Sequence[Region]
    """What is proved, the largest region first."""
    undecided: Region
    """What is left of the box."""
    interrupted: bool = False
    """Whether the search ended by Ctrl-C."""

    def __repr__(self) -> str:
        regions = (*self.regions, self.undecided)
        shares = [f"{region.name} {100 * region.share:.1f} %" for region in regions]
        left = ", interrupted" * self.interrupted
        return f"Basins(token {self.token}: {abridge(shares, 4)}{left})"


def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    tolerance: float = 0.004,
    effort: int = 4000,
) -> Basins:
    """Where one token ends, depending on where it starts, with proofs.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud, in the plane or on a line.
    token : int, optional
        The token whose start is moved; by default one more token is added.
    box : sequence of d pairs (low, high), optional
        Where it starts. By default the box around the tokens, a quarter of its longest side larger
        on each side.
    dynamics : Dynamics, optional
        The paper's layer, with any metric; `Dynamics(1)` by default.
    tolerance : float, default 0.004
        Stop once no more than this share of the box is undecided.
    effort : int, default 4000
        The largest number of parts of the box to look at.

    Returns
    -------
    Basins
        A region for each end, and what is undecided; after Ctrl-C, what was found so far.

    Notes
    -----
    As long as attended sets are known, every token is at :math:`a + b x`, x the start. So all leads
    are quadratics :math:`c + \\langle b, x \\rangle + k \\langle A x, x \\rangle`, whose signs are
    proved on cells from their values at corners.

    Examples
    --------
    >>> from hardmax import basins
    >>> basins([[0], [1], [3]], box=[(-1, 4)])
    Basins(token 3: leader 2 60.0 %, itself 40.0 %, undecided 0.0 %)
    """
    cloud = read_one(tokens).tokens
    dynamics = Dynamics(1) if dynamics is None else check_dynamics(dynamics)
    check_plain(dynamics, "`basins`")
    n, d = cloud.shape
    check_dimension(dynamics, d)
    if d > 2:
        raise InputError(f"`tokens` have {d} coordinates; `basins` cuts the plane or the line.")
    tolerance = check_real(tolerance, "`tolerance`", at_least=0, at_most=1)
    effort = check_int(effort, "`effort`", at_least=1)
    starts = _read_box(box, cloud)
    names = [*range(n + 1)]
    if token is not None:
        moved = normalize_index(token, n, "`token`")
        cloud = np.delete(cloud, moved, axis=0)
        names = [*names[:moved], *names[moved + 1 : n], moved]
    search = _Search(cloud, names, dynamics, starts)
    with Search("parts of the box") as report:
        search.run(tolerance, effort, report)
    others, interrupted = to_fractions(cloud, "`tokens`"), report.interrupted
    return Basins(names[-1], others, starts, *search.regions(), interrupted)


def _read_box(box: Any, tokens: np.ndarray) -> Intervals:
    """The box that is meant."""
    d = tokens.shape[1]
    if box is None:
        table = to_fractions(tokens, "`tokens`")
        lows, highs = table.min(axis=0), table.max(axis=0)
        more = max(highs - lows) / 4 or Fraction(1)
        return tuple(zip(lows - more, highs + more, strict=True))
    # Of what has no parts, or others; not of numbers.
    with suppress(TypeError, ValueError, NotImplementedError):
        ends = [(read_number(low, "`box`"), read_number(high, "`box`")) for low, high in box]
        if len(ends) == d and all(low < high for low, high in ends):
            return ends
    wish = f"{d} pairs (low, high) with low < high"
    raise InputError(f"`box` must be {wish}, not {shorten(box)}.")


class _Positions:
    """All points at a layer before which their attended sets are known: rows (a, b), up to a common
    positive factor. The last point starts at x."""

    def __init__(
        self, rows: Sequence[Sequence[int]], followers: Sets, metric: Any, layer: int = 0
    ) -> None:
        self.rows, self.followers, self.metric, self.layer = rows, followers, metric, layer
        self._after: dict[Any, _Positions] = {}

    @cached_property
    def candidates(self) -> Sets:
        """What points that follow no leader may attend to. Points with b = 0 are where they are
        whatever x is: who of them is furthest is known at once."""
        everybody = range(len(self.rows))
        moving = [j for j in everybody if self.rows[j][-1]]
        still = [j for j in everybody if not self.rows[j][-1]]
        found: Sets = {i: everybody for i in everybody if i not in self.followers}
        for i in found.keys() & {*still}:
            scores = [row[0] for row in self.scores(i, still).tolist()]
            furthest = max(scores)
            ahead = [j for j, score in zip(still, scores, strict=True) if score == furthest]
            found[i] = ahead + moving
        return found

    def scores(self, i: int, candidates: Sequence[int]) -> fmpz_mat:
        """The coefficients (c, b, k) of <A z_i, z_j> for each candidate j, times a common positive
        factor."""
        *a, b = self.rows[i]
        look = [dot(line, a) for line in self.metric]
        pairs = zip(look, self.metric, strict=True)
        weights = [[x, *(b * y for y in line), 0] for x, line in pairs]
        weights.append([0, *look, b])
        return fmpz_mat([self.rows[j] for j in candidates]) * fmpz_mat(weights)

    def follows_leader(self, i: int, sets: Sets) -> bool:
        """Whether a point attends to a leader alone, as it then does for ever."""
        known = {**self.followers, **sets}
        return len(known[i]) == 1 and [*known[known[i][0]]] == [*known[i]]

    def after(self, sets: Sets, alpha: Fraction, counts: Sequence[int]) -> "_Positions":
        """All points one layer on, if they attend to these."""
        key = tuple(map(tuple, sets.values()))
        if key in self._after:
            return self._after[key]
        sets = {**self.followers, **sets}
        totals = {i: sum(counts[j] for j in chosen) for i, chosen in sets.items()}
        common = math.lcm(*totals.values())
        stay, moved = alpha.denominator * common, []
        for i, row in enumerate(self.rows):
            weights = [alpha.numerator * (common // totals[i]) * counts[j] for j in sets[i]]
            columns = zip(*(self.rows[j] for j in sets[i]), strict=True)
            steps = [dot(weights, column) for column in columns]
            moved.append([stay * x + y for x, y in zip(row, steps, strict=True)])
        followers = {i: sets[i] for i in sets if self.follows_leader(i, sets)}
        later = self._after[key] = _Positions(moved, followers, self.metric, self.layer + 1)
        return later


class _Search:
    """Cells of which the end is known, and those that are not decided."""

    def __init__(
        self, cloud: np.ndarray, names: Sequence[int], dynamics: Dynamics, box: Intervals
    ) -> None:
        self.alpha, self.d = dynamics.alpha_at(0), len(box)
        self.names, self.counts = [], []
        unit, rows = 1, []
        if len(cloud):
            points = merge(Cloud(cloud))
            self.names = [names[members[0]] for members in points.members]
            self.counts = points.multiplicities.tolist()
            unit = int(points.integers.denominator)
            rows = [[*row, 0] for row in points.integers.numerators]
        self.names.append(names[-1])
        self.counts.append(1)
        rows.append([*[0] * self.d, unit])
        self.metric = dynamics.metric_integers or np.eye(self.d, dtype=int).tolist()
        if self.d == 1:  # a thin strip of the plane, in which heights do not count
            ((low, high),) = box
            rows = [[x, 0, b] for x, b in rows]
            box = [(low, high), (Fraction(0), (high - low) * _STRIP)]
            self.metric = [[self.metric[0][0], 0], [0, 0]]
        self.token, self.numbers = len(rows) - 1, count()
        self.ends: dict[int | None, list[Cell]] = defaultdict(list)
        self.queue: list[Any] = []
        self.left = 0.0
        whole, start = Cell.of_box(box, self.metric), _Positions(rows, {}, self.metric)
        self.area = whole.area
        self._push(whole, start, start.candidates)

    def run(self, tolerance: float, effort: int, report: Search) -> None:
        """Decide cells, the largest first, until little is left."""
        for looked in range(effort):
            if not self.queue or self.left <= tolerance:
                break
            if looked % _OFTEN == 0:
                report(looked, effort)
            # It stays in the queue until it is decided: Ctrl-C loses no cell.
            weight, _, cell, *known = self.queue[0]
            end, parts = self._decide(cell, *known)
            heapq.heappop(self.queue)
            self.left += weight
            for part in parts:
                self._push(*part)
            if not parts:
                self.ends[end].append(cell)
        report(effort, effort)

    def _push(self, cell: Cell, at: _Positions, candidates: Sets) -> None:
        share = float(cell.area / self.area)
        self.left += share
        heapq.heappush(self.queue, (-share, next(self.numbers), cell, at, candidates))

    def _decide(
        self, cell: Cell, at: _Positions, candidates: Sets
    ) -> tuple[int | None, list[tuple[Cell, _Positions, Sets]]]:
        """Where the token ends if it starts in a cell; if that depends, the parts of the cell."""
        while at.layer < _MOST_LAYERS:
            sets = dict(candidates)
            for asked in self._asked(at, sets):
                lead = self._narrow(cell, at, sets, asked)
                if lead is None:
                    continue
                parts = cell.split(lead)
                return None, [(part, at, sets) for part in parts] if len(parts) > 1 else []
            if at.follows_leader(self.token, sets):
                (leader,) = sets[self.token]
                return self.names[leader], []
            at = at.after(sets, self.alpha, self.counts)
            candidates = at.candidates
        return None, []

    def _asked(self, at: _Positions, sets: Sets) -> Iterator[Iterable[int]]:
        """The points to ask: others than the token and what it attends to only if these do not
        decide."""
        yield [self.token]
        yield sets[self.token]
        if not at.follows_leader(self.token, sets):
            yield [*sets]

    def _narrow(
        self, cell: Cell, at: _Positions, sets: Sets, asked: Iterable[int]
    ) -> list[int] | None:
        """Keep what the points asked attend to at almost all x in the cell; returns a lead
        without a sign there, if there is one, a linear one first."""
        doubts = []
        for i in asked:
            if len(sets.get(i, ())) < 2:
                continue
            scores = at.scores(i, sets[i])
            values, scores = (scores * cell.pairs).tolist(), scores.tolist()
            best = max(range(len(values)), key=lambda k: sum(values[k]))
            kept = []
            for k, j in enumerate(sets[i]):
                lead = [x - y for x, y in zip(values[best], values[k], strict=True)]
                least = min(lead)
                if least < 0 or not any(lead):
                    kept.append(j)
                if least < 0:
                    pairs = zip(scores[best], scores[k], strict=True)
                    coefficients = [int(x - y) for x, y in pairs]
                    doubts.append((bool(coefficients[-1]), least, coefficients))
            sets[i] = kept
        return min(doubts)[-1] if doubts else None

    def regions(self) -> tuple[tuple[Region, ...], Region]:
        """What is proved of each end, the largest first, and what is not."""
        undecided = [*self.ends.pop(None, ()), *(cell for _, _, cell, *_ in self.queue)]
        found = [self._region(leader, cells) for leader, cells in self.ends.items()]
        found.sort(key=lambda region: -region.share)
        return tuple(found), self._region(None, undecided)

    def _region(self, leader: int | None, cells: list[Cell]) -> Region:
        name = "undecided" if leader is None else f"leader {leader}"
        if leader == self.names[-1]:
            name = "itself"
        share = sum(float(cell.area / self.area) for cell in cells)
        return Region(leader, name, share, tuple(cells), self.d)
