"""Search in a tree of blocks of neighbours: who is furthest, who are the k furthest, and who comes
within a slack of that; with a mask that says which tokens may attend to which, or without.

Points lie in blocks of neighbours, blocks in larger blocks. Let c be the centre of the cloud, and y
a direction. No score in a block exceeds either of

* <y, b> + r |y|, where b is the middle of the block, and no point of it is further from b than r;
* <y, c> + R |y| cos(max(0, a - t)), where a is the angle between y and b - c, and every point of
  the block is p = c + q with |q| <= R and an angle of at most t between q and b - c.

The second is what counts on a sphere, or on the outside of any cloud. Where both are too little,
and where a row may not attend to any point yet, all of a block is passed over. So a causal mask
takes no list of n^2 pairs, and in few dimensions few points are looked at.

Rows whose directions are near look at blocks together: if they lie within an angle f of one, along
which a is measured, then a is less by f at most, and <y, b - c> is at most |y| |b - c| cos(max(0, a
- f)). A block that is too little for the row that asks for least is passed over for all.

Rounding moves a score, a distance and <y, c> by less than `search_rounding`: of what is measured,
by which r and R are larger, and of the largest coordinate, by which <y, c> is; t is larger, and a
smaller, by more than rounding does to a cosine. Where squares underflow, lengths are measured too
long and cosines too small: those of a and t shrink together, so that a - t shrinks, too; and what a
loses by a long |y| is made up for by the factor |y|.

Every score is known up to an error, `off` of the asker times the size of the point, and a hair. A
point whose score may reach the least that counts is a candidate."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hardmax._float.argmax import ArgmaxResult, search_dense
from hardmax._float.bounds import UNDERFLOW, norms_above, search_rounding
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._layer.attended import AttendedIndices, sort_rows

ROWS = 256  # a task for a thread
BLOCK, BRANCHES = 8, 4  # points in the smallest block, blocks in the next larger one
TOGETHER, MOST = 8, 64  # rows that look at the same blocks, if they are no more than this
_GUESSES = 8  # the last winners are tried first
_FEWEST_ROWS = 64  # are scored sooner than points are brought into a tree
_TINY = UNDERFLOW
_HAIR = 2.0**-40  # times the dimension: more than rounding does to a cosine


class Leaves(NamedTuple):
    """Points, neighbours next to one another. Point `order[p]` may be attended to by rows from
    `since[p]` on; and, unless the table is empty, if `table[row, order[p]]` says so."""

    points: np.ndarray
    sizes: np.ndarray
    widest: float  # the largest of these
    counts: np.ndarray
    order: np.ndarray
    since: np.ndarray
    table: np.ndarray


class Blocks(NamedTuple):
    """Blocks of all sizes, each before those in it."""

    centre: np.ndarray  # (1, d), of the cloud
    hair: float  # times |y|: more than rounding does to a bound, whatever R is multiplied by
    middles: np.ndarray  # seen from the centre
    inverses: np.ndarray  # of the lengths of these
    reach: np.ndarray  # r
    radius: np.ndarray  # R
    cosine: np.ndarray  # of t
    sine: np.ndarray
    since: np.ndarray  # the row from which on one of the points is allowed
    starts: np.ndarray  # the first leaf
    skip: np.ndarray  # the block after all that are in this one


class Tree(NamedTuple):
    leaves: Leaves
    blocks: Blocks


class Askers(NamedTuple):
    """Rows that attend: their numbers, directions, the lengths of these, and errors of scores."""

    rows: np.ndarray
    directions: np.ndarray
    lengths: np.ndarray
    off: np.ndarray


class Ranked(NamedTuple):
    """For each asker what the k-th largest score, counted with multiplicity, is sure to be, -inf
    where there are fewer; what the largest is; and who has it, unless others have it, too."""

    least: np.ndarray
    tops: np.ndarray
    firsts: np.ndarray


class Found(NamedTuple):
    """For each asker how many candidates there are, one of them, whether they are certain to be
    attended to, all of them, and what no other score exceeds."""

    sizes: np.ndarray
    firsts: np.ndarray
    certain: np.ndarray
    beyond: np.ndarray


def tree_of(
    points: np.ndarray,
    counts: np.ndarray | None = None,
    since: np.ndarray | None = None,
    table: np.ndarray | None = None,
) -> Tree:
    """Points in blocks; by default each counts once, and all may attend to it."""
    order, count = neighbours(points), len(points)
    points = points[order]
    counts = np.ones(count, dtype=np.int64) if counts is None else counts[order]
    since = np.zeros(count, dtype=np.int64) if since is None else since[order]
    able = np.empty((0, 0), dtype=bool) if table is None else table
    sizes = norms_above(points)
    leaves = Leaves(points, sizes, float(sizes.max()), counts, order, since, able)
    rounding, centre = search_rounding(points.shape[1]), points.mean(axis=0)
    hair = rounding * float(np.abs(points).max())
    away = points - centre
    lengths = norms_above(away)
    size, levels = BLOCK, []
    while not levels or size < BRANCHES * count:
        starts = np.arange(0, count, size)
        sizes = np.diff(np.append(starts, count))
        middles = np.add.reduceat(away, starts) / sizes[:, None]
        inverses, own = 1 / norms_above(middles), np.repeat(middles, sizes, axis=0)
        cosines = np.einsum("ij,ij->i", away, own) / lengths * np.repeat(inverses, sizes)
        cosine = np.minimum.reduceat(cosines, starts) - rounding
        cosine[cosine < 0.0] = -1.0
        reach, radius = (
            np.maximum.reduceat(numbers, starts) * (1 + rounding)
            for numbers in (norms_above(away - own), lengths)
        )
        sine = np.sqrt(np.maximum(1.0 - cosine**2, 0.0) + rounding)
        since_of = np.minimum.reduceat(since, starts)
        ends = starts + size
        levels.append((middles, inverses, reach, radius, cosine, sine, since_of, starts, ends))
        size *= BRANCHES
    parts = [np.concatenate(part) for part in zip(*levels, strict=True)]
    place = np.lexsort((-parts[-1], parts[-2]))
    *parts, ends = (part[place] for part in parts)
    skip = np.searchsorted(parts[-1], ends)
    return Tree(leaves, Blocks._make([centre[None], hair, *parts, skip]))


def neighbours(points: np.ndarray) -> np.ndarray:
    """Points in an order in which those of a block are near: halves of halves, along the widest
    axis of each."""
    order = np.arange(len(points))
    _halve(np.ascontiguousarray(points), order)
    return order


@njit
def _halve(points, order):
    parts = [(0, len(order))]
    while len(parts) > 0:
        first, end = parts.pop()
        half = BLOCK
        while 2 * half < end - first:
            half *= 2
        if end - first <= half:
            continue
        widest, some = -1.0, order[first:end].copy()
        along = points[some, 0]
        for axis in range(points.shape[1]):
            column = points[some, axis]
            width = column.max() - column.min()
            if width > widest:
                widest, along = width, column
        order[first:end] = some[np.argpartition(along, half)]
        parts.append((first, first + half))
        parts.append((first + half, end))


# Inlined, and without slices: threads would count references to the same arrays.
@njit(inline="always")
def _score(directions, i, points, place):
    score = 0.0
    for axis in range(directions.shape[1]):
        score += directions[i, axis] * points[place, axis]
    return score


@njit(inline="always")
def _furthest(length, base, ahead, spread, block, blocks):
    """What no score in a block exceeds along directions within an angle, of this cosine, from one:
    if that of the centre is at most `base` and that of the middle lies so far ahead of it."""
    hair = _HAIR * blocks.centre.size
    cosine = ahead * blocks.inverses[block] / length + hair
    if spread < 1.0:
        sines = np.sqrt(max(1.0 - cosine * cosine, 0.0) + hair)
        sines *= np.sqrt(max(1.0 - spread * spread, 0.0) + hair)
        cosine = cosine * spread + sines if cosine < spread else 1.0
        ahead = cosine * length / blocks.inverses[block]
    ball = ahead + length * blocks.reach[block]
    share = 1.0
    if cosine < blocks.cosine[block]:
        sine = np.sqrt(max(1.0 - cosine * cosine, 0.0) + hair)
        share = max(cosine * blocks.cosine[block] + sine * blocks.sine[block], 0.0)
    return base + min(ball, length * blocks.radius[block] * share)


@njit(inline="always")
def _insert(low, place, count, best, places, weights, kept, total, k):
    """Keep the largest of some scores that count k together; returns how many, and what they
    count."""
    at = kept
    while at > 0 and best[at - 1] < low:
        best[at], places[at], weights[at] = best[at - 1], places[at - 1], weights[at - 1]
        at -= 1
    best[at], places[at], weights[at] = low, place, count
    kept, total = kept + 1, total + count
    while total - weights[kept - 1] >= k:
        kept -= 1
        total -= weights[kept]
    return kept, total


@njit
def _list_blocks(start, end, least, askers, widest, blocks, middle, listed):
    """List the first leaves of the smallest blocks that matter to some rows of which something is
    known; returns how many, or 0 if they are too many."""
    rows, directions, lengths, off = askers
    latest, floor, spread, count, block = rows[start], np.inf, 1.0, 0, 0
    for axis in range(directions.shape[1]):
        middle[0, axis] = 0.0
        for i in range(start, end):
            middle[0, axis] += directions[i, axis] / lengths[i]
    length = np.sqrt(_score(middle, 0, middle, 0)) + _TINY
    for i in range(start, end):
        latest = max(latest, rows[i])
        base = _score(directions, i, blocks.centre, 0) + lengths[i] * blocks.hair
        floor = min(floor, (least[i] - off[i] * widest - _TINY - base) / lengths[i])
        spread = min(spread, _score(directions, i, middle, 0) / lengths[i] / length)
    spread -= _HAIR * blocks.centre.size
    while block < len(blocks.skip):
        ahead = _score(middle, 0, blocks.middles, block) / length
        far = _furthest(1.0, 0.0, ahead, spread, block, blocks)
        if latest < blocks.since[block] or far < floor:
            block = blocks.skip[block]
            continue
        block += 1
        if blocks.skip[block - 1] > block:  # there are smaller ones in it
            continue
        if count == len(listed):
            return 0
        listed[count] = blocks.starts[block - 1]
        count += 1
    return count


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _rank(first, last, askers, tree, k, ranked):
    rows, directions, lengths, off = askers
    leaves, blocks = tree
    points, sizes, widest, counts, order, since, table = leaves
    least, tops, firsts = ranked
    best, places = np.empty(k + 1), np.empty(k + 1, np.int64)
    weights, middle = np.empty(k + 1, np.int64), np.empty((1, directions.shape[1]))
    guesses, turn = np.arange(min(_GUESSES, len(order))), 0
    listed, number = np.empty(MOST, np.int64), 0
    last_block = len(blocks.skip)
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        # The first of some rows finds good guesses; the second asks for all that are left.
        looked, end = i % TOGETHER, i
        if looked < 2:
            number, end = 0, min(i + 1 + looked * (TOGETHER - 2), len(rows))
        for j in range(i, end):
            kept, total, least[j] = 0, 0, -np.inf
            for place in guesses:
                if rows[j] >= since[place] and (len(table) == 0 or table[rows[j], order[place]]):
                    low = _score(directions, j, points, place) - off[j] * sizes[place] - _TINY
                    if low > least[j]:
                        kept, total = _insert(
                            low, place, counts[place], best, places, weights, kept, total, k
                        )
                        if total >= k:
                            least[j] = best[kept - 1]
        if looked == 1:
            number = _list_blocks(i, end, least, askers, widest, blocks, middle, listed)
        # They come once more, but for those that are no better than the least of them.
        row, more = rows[i], off[i] * widest + _TINY
        kept, total, block = 0, 0, 0
        base = _score(directions, i, blocks.centre, 0) + lengths[i] * blocks.hair
        while block < (number or last_block):
            block += 1
            if number:
                start = listed[block - 1]
            else:
                ahead = _score(directions, i, blocks.middles, block - 1)
                far = _furthest(lengths[i], base, ahead, 1.0, block - 1, blocks)
                if row < blocks.since[block - 1] or far < least[i] - more:
                    block = blocks.skip[block - 1]
                    continue
                if blocks.skip[block - 1] > block:  # there are smaller ones in it
                    continue
                start = blocks.starts[block - 1]
            for place in range(start, min(start + BLOCK, len(order))):
                if row < since[place] or (len(table) and not table[row, order[place]]):
                    continue
                low = _score(directions, i, points, place) - off[i] * sizes[place] - _TINY
                if low > least[i]:
                    kept, total = _insert(
                        low, place, counts[place], best, places, weights, kept, total, k
                    )
                    if total >= k:
                        least[i] = best[kept - 1]
        tops[i], firsts[i] = least[i], 0
        if kept > 0:
            tops[i], firsts[i] = best[0], order[places[0]]
        for at in range(min(kept, 2)):
            if places[at] not in guesses:
                guesses[turn], turn = places[at], (turn + 1) % len(guesses)


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _collect(first, last, askers, tree, tops, least, enough, slack, found, offsets, indices):
    """Count the candidates, whose scores may be at least `least`; and write them, if there is a
    place for them. They are certain if without one of them there were not enough, or if none lags
    the first by more than a slack. If `enough` is positive, the smallest lead of the tops is found,
    and no other."""
    rows, directions, lengths, off = askers
    leaves, blocks = tree
    points, sizes, widest, counts, order, since, table = leaves
    sizes_of, firsts, certain, beyond = found
    smallest, last_block = np.inf if enough else -np.inf, len(blocks.skip)
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        row, more = rows[i], off[i] * widest + _TINY
        number, total, fewest, block = 0, 0, np.int64(2**62), 0
        highest, lowest, other = -np.inf, np.inf, -np.inf
        base = _score(directions, i, blocks.centre, 0) + lengths[i] * blocks.hair
        while block < last_block:
            floor = min(least[i], max(other, tops[i] - smallest)) - more
            ahead = _score(directions, i, blocks.middles, block)
            far = _furthest(lengths[i], base, ahead, 1.0, block, blocks)
            if row < blocks.since[block] or far < floor:
                block = blocks.skip[block]
                continue
            start, block = blocks.starts[block], block + 1
            if blocks.skip[block - 1] > block:  # there are smaller ones in it
                continue
            for place in range(start, min(start + BLOCK, len(order))):
                if row < since[place] or (len(table) and not table[row, order[place]]):
                    continue
                score = _score(directions, i, points, place)
                error = off[i] * sizes[place] + _TINY
                if score + error < least[i]:
                    other = max(other, score + error)
                    continue
                firsts[i] = order[place]
                if len(indices):
                    indices[offsets[i] + number] = order[place]
                number, total = number + 1, total + counts[place]
                fewest = min(fewest, counts[place])
                highest, lowest = max(highest, score + error), min(lowest, score - error)
        sizes_of[i], beyond[i] = number, other
        certain[i] = total - fewest < enough or (slack > 0.0 and lowest >= highest - slack)
        if enough:
            smallest = min(smallest, tops[i] - other)


def rank(askers: Askers, tree: Tree, k: int = 1) -> Ranked:
    """How far the k furthest points are at least."""
    count = len(askers.rows)
    ranked = Ranked(np.empty(count), np.empty(count), np.empty(count, dtype=np.int64))
    _rank(askers, tree, k, ranked)
    return ranked


def collect(
    askers: Askers,
    tree: Tree,
    least: np.ndarray,
    k: int = 0,
    slack: float = 0.0,
    tops: np.ndarray | None = None,
) -> tuple[AttendedIndices, Found]:
    """The candidates of each asker, increasing, and what is known of them: whether they are all, if
    the k furthest count. The smallest lead is that of `tops`, or of `least`, over no other."""
    tops = least if tops is None else tops
    rows, none = len(askers.rows), np.empty(0, dtype=np.int64)
    kinds = (np.int64, np.int64, bool, np.float64)
    found = Found(*(np.empty(rows, kind) for kind in kinds))
    _collect(askers, tree, tops, least, k, slack, found, none, none)
    sizes, several = found.sizes, np.flatnonzero(found.sizes > 1)
    offsets = np.append(0, np.cumsum(sizes))
    indices = np.repeat(found.firsts, sizes)
    if len(several):
        starts = np.append(0, np.cumsum(sizes[several]))
        written = np.empty(starts[-1], dtype=np.int64)
        some = Askers(*(part[several] for part in askers))
        again = Found(*(part[several] for part in found))
        _collect(some, tree, tops[several], least[several], 0, 0.0, again, starts, written)
        indices[np.repeat(sizes > 1, sizes)] = sort_rows(written, sizes[several])
    return AttendedIndices(indices, offsets), found


def search_tree(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Search in a tree; near directions, whose winners are near, come one after the other."""
    if len(directions) < _FEWEST_ROWS:
        return search_dense(directions, points, slack)
    lengths, tree = norms_above(directions), tree_of(points)
    are_same = np.array_equal(directions, points)
    order = tree.leaves.order if are_same else neighbours(directions / lengths[:, None])
    askers = Askers(order, directions[order], lengths[order], np.zeros(len(order)))
    ranked, winners = rank(askers, tree, 2), np.empty(len(order), dtype=np.int64)
    winners[order] = ranked.firsts
    leads = ranked.tops - ranked.least
    is_contested = leads <= slack[order]
    result = ArgmaxResult.clear(winners, float(leads[~is_contested].min(initial=np.inf)), "tree")
    (at,) = np.nonzero(is_contested)
    if not len(at):
        return result
    at = at[np.argsort(order[at])]
    contested, tops = order[at], ranked.tops[at]
    some = Askers(*(part[at] for part in askers))
    candidates, found = collect(some, tree, tops - slack[contested], 1, tops=tops)
    gap = min(result.gap, float((tops - found.beyond).min()))
    return replace(result, contested=contested, candidates=candidates, gap=gap)
