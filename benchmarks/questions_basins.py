"""Basins and probabilities beside what runs say: `python benchmarks/questions_basins.py starts 200`.

`starts`: the regions of one start, against exact limits of 500 random starts of each cloud.
`draws`: enclosed probabilities, uniform and Gaussian, against the 99.99 % interval of draws.
`noise`: the probability that noise of twice and five times the radius changes nothing, likewise.
Clouds are Gaussian, in the plane; seconds are of the processor."""

import sys
import time
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta

import hardmax as hm

STARTS, DRAWS, OF_NOISE = 500, 100_000, 2_000
LEVEL = 1e-4


def interval(hits, draws):
    """Clopper and Pearson's."""
    low = beta.ppf(LEVEL / 2, hits, draws - hits + 1) if hits else 0.0
    high = beta.ppf(1 - LEVEL / 2, hits + 1, draws - hits) if hits < draws else 1.0
    return low, high


def ends_of(cloud, starts, dynamics):
    """At which leader one more token ends, for each of its starts; -1: at a face."""
    ends = []
    for some in np.array_split(starts, -(-len(starts) // 10_000)):
        added = np.concatenate(
            [np.broadcast_to(cloud, (len(some), *cloud.shape)), some[:, None]], axis=1
        )
        limits = hm.limits(added, dynamics)
        points = np.asarray(limits.limit_points)
        leading = np.zeros(points.shape[:2], dtype=bool)
        for row, leaders in zip(leading, limits.leaders, strict=True):
            row[leaders] = True
        there = leading & (points == points[:, -1:]).all(axis=2)
        assert there.sum(axis=1).max() <= 1
        ends.append(np.where(there.any(axis=1), there.argmax(axis=1), -1))
    return np.concatenate(ends)


def problems(clouds):
    """Clouds with their dynamics."""
    rng = np.random.default_rng(4711)
    for number in range(clouds):
        n = int(rng.integers(3, 11))
        cloud = np.round(rng.standard_normal((n, 2)) * 256) / 256
        yield cloud, hm.Dynamics(["1/2", 1, 2, "1/10"][number % 4]), rng


def timed(*arguments, **options):
    """Basins, and processor time."""
    began = time.process_time()
    found = hm.basins(*arguments, **options)
    return found, time.process_time() - began


def random_starts(found, draws, rng):
    """Starts of the law."""
    low, high = (np.array([float(pair[k]) for pair in found.box]) for k in (0, 1))
    if found.law == "uniform":
        return np.round((low + (high - low) * rng.random((draws, 2))) * 2**40) / 2**40
    return rng.standard_normal((draws, 2))


def starts(clouds):
    wrong, unknown, left, costs = 0, 0, [], []
    for cloud, dynamics, rng in problems(clouds):
        found, cost = timed(cloud, dynamics=dynamics, law="uniform")
        area = float(np.prod([high - low for low, high in found.box]))
        left.append(found.undecided.area.high / area)
        costs.append(cost)
        places = random_starts(found, STARTS, rng)
        for place, end in zip(places, ends_of(cloud, places, dynamics), strict=True):
            proved = found.at(place)
            unknown += proved is None
            wrong += proved not in (None, (end,))
    print(f"{clouds} clouds, {clouds * STARTS:,} starts: {wrong} wrong, {unknown} undecided")
    print(f"area undecided: at most {max(left):.2%}; {said(costs)}")


def draws(clouds):
    missed, asked, wide, costs = 0, 0, [], []
    for cloud, dynamics, rng in problems(clouds):
        for law in ("uniform", (0, 1)):
            found, cost = timed(cloud, dynamics=dynamics, law=law)
            costs.append(cost)
            counts = Counter(ends_of(cloud, random_starts(found, DRAWS, rng), dynamics).tolist())
            enclosed = {region.attended[0]: region.probability for region in found.regions}
            wide.append(max(bounds.width for bounds in enclosed.values()))
            for end in counts.keys() | enclosed.keys():
                low, high = interval(counts[end], DRAWS)
                proved = enclosed.get(end, found.undecided.probability)
                missed += proved.low > high or proved.high < low
                asked += 1
    print(f"{clouds} clouds, two laws, {asked} intervals, at most {max(wide):.4f} wide")
    print(f"{missed} missed by the interval of {DRAWS:,} draws; {said(costs)}")


def noise(clouds):
    for factor in (2, 5):
        widths, costs, missed = [], [], 0
        for cloud, dynamics, rng in problems(clouds):
            cloud = cloud[:8]
            lim = hm.limit(cloud, dynamics)
            most = Fraction(factor * lim.radius)
            found, cost = timed(cloud, dynamics=dynamics, noise=most)
            costs.append(cost)
            widths.append(found.probability.width)
            moves = float(most) * (2 * rng.random((OF_NOISE, *cloud.shape)) - 1)
            walked: Any = hm.limit(cloud + moves, dynamics)
            same = sum(is_same(lim, moved) for moved in walked)
            low, high = interval(same, OF_NOISE)
            missed += found.probability.low > high or found.probability.high < low
        narrow = sum(width <= 0.05 for width in widths)
        worst = f"median {np.median(widths):.3f}, widest {max(widths):.3f}"
        print(f"noise {factor} radius: {narrow} of {clouds} at most 0.05 wide, {worst}", flush=True)
        print(f"{missed} missed by the interval of {OF_NOISE:,} draws; {said(costs)}", flush=True)


def is_same(lim, moved):
    """Whether no attended set is another."""
    return moved.settled_at == lim.settled_at and all(
        np.array_equal(a, b)
        for k in range(lim.settled_at + 1)
        for a, b in zip(moved.run.attended(k), lim.run.attended(k), strict=True)
    )


def said(costs):
    """Seconds in words."""
    return f"{np.mean(costs):.2f} s on average, at most {max(costs):.2f}"


if __name__ == "__main__":
    {"starts": starts, "draws": draws, "noise": noise}[sys.argv[1]](int(sys.argv[2]))
