"""`basins`: what is proved agrees with exact limits, and nothing is counted twice."""

import json
from fractions import Fraction
from itertools import product
from math import comb, factorial, log
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from effort import examples, some
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from strategies import alphas, any_metrics, clouds

import hardmax as hm
from hardmax._questions.cells import Box, CellPolygon
from hardmax._questions.laws import Normal, Uniform
from hardmax._questions.noise import Lead, distribution, examined

pytestmark = pytest.mark.filterwarnings("ignore:the theorem does not apply")
TINY = Fraction(1, 9973)


@st.composite
def problems(draw, max_d=3):
    """A cloud full of ties, dynamics, and which token is moved; None: one more."""
    cloud = draw(clouds(max_d=max_d, max_n=6))
    metric = draw(st.none() | any_metrics(len(cloud[0])))
    token = draw(st.none() | st.integers(0, len(cloud) - 1))
    return np.array(cloud, dtype=object), hm.Dynamics(draw(alphas), metric), token


def end_of(cloud, dynamics, token, start):
    """Whom the token attends to in the end if it starts there, by an exact run."""
    moved = cloud.copy() if token is not None else np.vstack([cloud, [start]])
    token = len(cloud) if token is None else token
    moved[token] = start
    lim = hm.limit(moved, dynamics, arithmetic="exact", max_layers=400)
    if lim.settled_at is None:
        return None
    rows = moved.tolist()
    attended = lim.run.attended(lim.settled_at)[token].tolist()
    # Of equal tokens the first, but for the one that is moved.
    return tuple(sorted({rows.index(rows[j]) if j != token else j for j in attended}))


@settings(max_examples=examples(1000))
@given(problems(), st.lists(st.fractions(0, 1, max_denominator=50), min_size=9, max_size=9))
def test_a_token_ends_where_its_region_says(problem, shares):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=60)
    d = len(found.box)
    for k in range(3):
        # Beside simple fractions, where cells have their borders.
        start = [
            low + (high - low) * (share + TINY) / (1 + 2 * TINY)
            for (low, high), share in zip(found.box, shares[d * k :], strict=False)
        ]
        if len(start) == d and (end := found.at(start)) is not None:
            assert end == end_of(cloud, dynamics, token, start)


@settings(max_examples=examples(1000))
@given(problems())
def test_cells_fill_the_box_and_do_not_overlap(problem):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=60)
    regions = [*found.regions, found.undecided]
    cells = [cell for region in regions for cell in region._cells]
    assert sum((cell.volume for cell in cells), fmpq(0)) == Box.of(found.box).volume
    assert min(cell.volume for cell in cells) > 0
    for cell in cells:
        middle = [Fraction(0)] * len(found.box)
        for w, *corner in cell.corners:
            shares = [Fraction(y, w * len(cell.corners)) for y in corner]
            middle = [x + share for x, share in zip(middle, shares, strict=True)]
        assert [other for other in cells if other.has_inside(middle)] == [cell]


def test_on_a_line_regions_are_exact():
    found: Any = hm.basins([[0], [1], [3]], box=[(-1, 4)], law="uniform", tolerance=0)
    assert [region.attended for region in found.regions] == [(2,), (3,)]
    for region, size in zip(found.regions, (3, 2), strict=True):
        assert region.area.low < size < region.area.high < size + 1e-9
    assert 3 / 5 in found.regions[0].probability
    assert found.undecided.cells == []
    assert found.at([0]) is None  # the border
    assert found.at([-2]) is None  # outside
    assert found.at([2.5]) == (2,)
    assert [2.5] in found.regions[0]


def test_in_the_square_starts_inside_go_to_the_leader_of_their_quarter():
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1]]
    found: Any = hm.basins(square, tolerance=0.01, law="uniform")
    assert {*(region.attended for region in found.regions)} == {(0,), (1,), (2,), (3,), (4,)}
    assert found.at([0.31, 0.21]) == (0,)
    assert found.at([-0.31, 0.21]) == (3,)
    assert found.at([1.4, 1.3]) == (4,)
    # It leads itself where <x, x> > |x1| + |x2|: outside four half discs of area pi / 4 and the
    # square of side 1 that is turned between them.
    leads = 9 - (2 + np.pi)
    (itself,) = (region for region in found.regions if region.attended == (4,))
    assert itself.area.low <= leads <= itself.area.high + found.undecided.area.high
    assert leads / 9 in itself.probability
    assert found.undecided.probability.high <= 0.01


@given(
    st.lists(st.tuples(*[st.integers(-9, 9)] * 3), max_size=3),
    st.tuples(*[st.fractions(-2, 2, max_denominator=9)] * 2),
    st.tuples(*[st.fractions("1/4", 2, max_denominator=9)] * 2),
)
def test_probabilities_of_parts_add_up(lines, mean, std):
    """Of a rectangle cut by lines: to what it has itself."""
    box = Box.of([(Fraction(-1), Fraction(2)), (Fraction(0), Fraction(3))])
    a, b, c, d = box.corners
    whole = CellPolygon((a, c, d, b))
    parts = [whole]
    for line in lines:
        parts = [part for cell in parts for part in cell.cut(line) or () if part]
    for law in (Normal([*zip(mean, std, strict=True)]), Uniform(box)):
        shares = [law.probability([part]) for part in parts]
        together = law.probability([box])
        assert sum(shares, arb(0)).overlaps(together)
        assert law.probability(parts).overlaps(together)
        assert together.rad() < 1e-9
        assert sum(share.rad() for share in shares) < 1e-9
        weights = [law.weight(part) for part in parts]
        assert sum(weights) >= float(together) - 1e-9
    assert sum(weights) == pytest.approx(1)  # of the uniform law


def test_on_a_line_a_gaussian_start_has_its_probabilities():
    found: Any = hm.basins([[0], [1], [3]], law=(0, 1))  # it leads below 0 and above 3
    half, above = 0.5, 0.0013498980316300946
    assert [region.attended for region in found.regions] == [(3,), (2,)]
    assert half + above in found.regions[0].probability
    assert half - above in found.regions[1].probability
    assert found.regions[0].probability.width < 1e-4


def test_ties_of_others_last_where_nobody_lies_further_out():
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    found: Any = hm.basins(square, box=[(-1, 1), (-1, 1)], effort=100)
    assert {region.attended for region in found.regions} == {(0,), (1,), (2,), (3,)}
    assert found.undecided.cells == []


@pytest.mark.parametrize("law", ["uniform", (0, "1/2")], ids=["uniform", "Gaussian"])
def test_draws_agree_with_probabilities(law):
    rng = np.random.default_rng(3)
    cloud = np.round(rng.standard_normal((6, 2)) * 16) / 16
    found: Any = hm.basins(cloud, law=law)
    draws = rng.standard_normal((4_000, 2)) / 2
    if law == "uniform":
        low, high = np.array(found.box, dtype=np.float64).T
        draws = low + (high - low) * rng.random((4_000, 2))
    added = np.concatenate([np.broadcast_to(cloud, (len(draws), 6, 2)), draws[:, None]], axis=1)
    limits = hm.limits(added, hm.Dynamics(1))
    points = np.asarray(limits.limit_points)
    for region in found.regions:
        (leader,) = region.attended
        if leader == found.token:
            continue
        leads = [leader in leaders for leaders in limits.leaders]
        share = ((points[:, -1] == points[:, leader]).all(axis=1) & leads).mean()
        assert region.probability.low - 0.04 < share < region.probability.high + 0.04
        assert region.probability.width < 0.02
    for region in found.regions:  # what is undecided may end anywhere
        assert region.probability.width == pytest.approx(found.undecided.probability.high, abs=1e-9)


@given(st.integers(1, 6), st.fractions(-1, 1, max_denominator=64))
def test_sums_of_equal_uniform_numbers_have_the_law_of_irwin_and_hall(count, share):
    x = (share * count + count) / 2
    terms = [(-1) ** k * comb(count, k) * (x - k) ** count for k in range(int(x) + 1)]
    exact = float(sum(terms) / factorial(count)) if x < count else 1.0
    value, error = distribution(np.ones((1, count)), np.array([float(share * count)]))
    assert abs(value[0] - exact) <= error[0] < 0.16**count


def test_two_tokens_stay_as_they_are_with_a_known_probability():
    # 2 + a leads and 1 + b follows as long as 2 + a > 1 + b.
    found = hm.basins([[2], [1]], noise=1, tolerance=0.01)
    assert found.radius < 1 / 2
    assert 7 / 8 in found.probability
    assert found.probability.width <= 0.011


def lost(leads, size, rounds):
    """Bounds of the probability that one of some leads is lost, all boxes halved so often."""
    boxes = examined(leads, np.zeros((1, size)), np.ones((1, size)))
    for _ in range(rounds):
        boxes = boxes.halved(leads, 2**rounds)
    shares = boxes.reaches.prod(axis=1)
    assert shares.sum() == 1
    return shares @ boxes.low, shares @ boxes.high


@pytest.mark.parametrize("t", [-0.5, -0.1, 0.25])
def test_products_and_squares_of_moves_are_low_with_known_probabilities(t):
    lead = Lead(np.array([0, 1]), -t, np.zeros(2), np.array([[0, 0.5], [0.5, 0]]))
    below = (1 - abs(t) * (1 - log(abs(t)))) / 2  # that x y <= -|t|
    low, high = lost([lead], 3, 9)
    assert low <= (below if t < 0 else 1 - below) <= high <= low + 0.06
    bowl = Lead(np.array([2]), -t, np.zeros(1), np.eye(1))
    low, high = lost([bowl], 3, 9)
    assert low <= max(t, 0) ** 0.5 <= high <= low + 0.03


@settings(max_examples=examples(200))
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4), st.integers(0, 6))
def test_draws_of_moves_agree_with_the_bounds(seed, size, count, rounds):
    rng = np.random.default_rng(seed)
    leads, kept = [], np.ones(20_000, dtype=bool)
    draws = 2 * rng.random((20_000, size)) - 1
    for _ in range(count):
        axes = np.sort(rng.permutation(size)[: rng.integers(1, size + 1)])
        bends = rng.standard_normal((2, len(axes), len(axes))).sum(axis=0) * rng.random()
        lead = Lead(axes, rng.random(), rng.standard_normal(len(axes)), bends + bends.T)
        leads.append(lead)
        moves = draws[:, axes]
        bent = (moves @ lead.curvatures * moves).sum(axis=1)
        kept &= lead.constant + moves @ lead.slopes + bent > 0
    low, high = lost(leads, size, rounds)
    slack = 5 * (max(low * (1 - low), high * (1 - high)) / len(draws)) ** 0.5 + 1e-3
    assert low - slack <= 1 - kept.mean() <= high + slack


@settings(max_examples=examples(200))
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.5, 3.0, 6.0]))
def test_draws_of_noise_agree_with_the_probability(seed, factor):
    rng = np.random.default_rng(seed)
    cloud = np.round(rng.standard_normal((rng.integers(2, 6), rng.integers(1, 4))) * 16) / 16
    lim = hm.limit(cloud, hm.Dynamics("1/2", rng.integers(-1, 2) + 2 * np.eye(cloud.shape[1])))
    if not lim.radius():
        return
    found = hm.basins(cloud, dynamics=lim.run.dynamics, noise=factor * lim.radius(), effort=100)
    draws = 2 * rng.random((150, *cloud.shape)) - 1
    moved: Any = hm.limit(cloud + float(found.noise) * draws, lim.run.dynamics)
    same = 0
    for other in moved:
        layers = range(max(other.settled_at, lim.settled_at or 0) + 1)
        same += all(
            np.array_equal(a, b)
            for k in layers
            for a, b in zip(other.run.attended(k), lim.run.attended(k), strict=True)
        )
    assert found.probability.low - 0.2 < same / 150 < found.probability.high + 0.2


def attended(tokens, metric, layers):
    """Whom the tokens of clouds attend to at some layers, in floats: (layers, clouds, n)."""
    found = []
    for _ in range(layers):
        scores = np.einsum("cia,ba,cjb->cij", tokens, metric, tokens, optimize=True)
        found.append(scores.argmax(axis=2))
        tokens = (tokens + np.take_along_axis(tokens, found[-1][..., None], axis=1)) / 2
    return np.stack(found)


@pytest.mark.parametrize(("factor", "seed"), some(product([6, 3, 1.5], range(4))))
def test_a_million_draws_of_noise_agree_with_the_probability(factor, seed):
    rng = np.random.default_rng(seed)
    cloud = np.round(rng.standard_normal((rng.integers(3, 6), 2)) * 16) / 16
    metric = rng.integers(-1, 2) + 2 * np.eye(2)
    lim = hm.limit(cloud, hm.Dynamics(1, metric))
    found = hm.basins(cloud, dynamics=lim.run.dynamics, noise=factor * lim.radius(), effort=4_000)
    layers = int(lim.settled_at or 0) + 1
    same = 0
    for _ in range(20):
        moves = 2 * rng.random((50_000, *cloud.shape)) - 1
        moved = attended(cloud + float(found.noise) * moves, metric, layers)
        same += (moved == attended(cloud[None], metric, layers)).all(axis=(0, 2)).sum()
    low, high = binomtest(int(same), 10**6).proportion_ci(0.9999, method="wilson")
    assert found.probability.low <= high
    assert low <= found.probability.high
    assert found.probability.width <= 0.2


def test_within_the_radius_nothing_changes_and_ties_always_break():
    cloud = [[2, 0], [-1, 0.5], [0.5, 0.25]]
    radius = hm.limit(cloud, hm.Dynamics(1)).radius()
    assert hm.basins(cloud, noise=Fraction(radius) / 2).probability == (1, 1)
    assert hm.basins(cloud, noise=Fraction(radius)).probability.low > 0.99
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    assert hm.basins(square, noise="1/100").probability == (0, 0)
    nothing = hm.Dynamics(1, [[0, 0], [0, 0]])
    assert hm.basins(cloud, dynamics=nothing, noise=1).probability == (0, 1)


@pytest.mark.parametrize(
    "cloud", [[[-4], [2], [7]], [[-3, 8], [-1, -2], [8, -5]], [[2, 6], [-2, -1], [1, 1], [8, -5]]]
)
def test_moves_do_not_break_a_tie_of_tokens_that_have_met(cloud):
    # Two attend to each other, and meet at the point in the middle; who attends to one, to both.
    dynamics = hm.Dynamics(1, -np.eye(len(cloud[0])))
    lim = hm.limit(cloud, dynamics)
    found = hm.basins(cloud, dynamics=dynamics, noise="1/1000")
    rng = np.random.default_rng(0)
    moves: Any = rng.integers(-1000, 1001, (5, *np.shape(cloud)))
    for moved in np.array(cloud) + moves * Fraction(1, 10**6):
        other = hm.limit(moved, dynamics, arithmetic="exact")
        for k in range(max(lim.settled_at or 0, other.settled_at or 0) + 1):
            sets = zip(lim.run.attended(k), other.run.attended(k), strict=True)
            assert all(np.array_equal(a, b) for a, b in sets)
    assert 1 in found.probability


def test_more_effort_leaves_less_undecided():
    cloud = [[2, 1], [-1, 2], [0, -2], [0.5, 0.25]]
    left = [hm.basins(cloud, effort=effort).undecided.area.high for effort in (1, 50, 400)]
    assert left[0] > left[1] > left[2]
    assert left[2] < 2  # cuts follow the curves
    noise = 3 * hm.limit(cloud, hm.Dynamics(1)).radius()
    found = [hm.basins(cloud, noise=noise, tolerance=0, effort=effort) for effort in (1, 300)]
    assert found[0].probability.width > found[1].probability.width


def test_progress_is_reported_and_interrupts():
    cloud = [[2, 1], [-1, 2], [0, -2], [0.5, 0.25]]

    def stop(done, total):
        raise KeyboardInterrupt

    for options in ({}, {"noise": "1/2", "tolerance": 0}):
        seen: list[tuple[int, int]] = []

        def see(*pair, seen=seen):
            seen.append(pair)

        hm.basins(cloud, **options, effort=200, progress=see)
        assert seen[-1] == (200, 200)
        assert seen == sorted(seen)
        assert len(seen) > 2
        with pytest.raises(KeyboardInterrupt):
            hm.basins(cloud, **options, progress=stop)


def test_what_it_prints_and_writes():
    found = hm.basins([[0], [1], [3]], 1, box=[(-1, 4)], law="uniform")
    assert repr(found) == "Basins(token 1: leader 2 60.0%, itself 40.0%, undecided 0.0%)"
    assert repr(found.regions[0]) == "Region(leader 2, area 3.0000 to 3.0000)"
    assert "leader 2" in found._repr_html_()
    written = json.loads(json.dumps(found.to_dict()))
    assert written["token"] == 1
    assert written["box"] == [["-1", "4"]]
    assert [region["attended"] for region in written["regions"]] == [[2], [1]]
    cells = [[Fraction(x) for (x,) in cell] for cell in written["regions"][0]["cells"]]
    assert sum(high - low for low, high in cells) == 3
    assert found.undecided.name == "undecided"
    tied = hm.basins(
        [[0, 1], [0, -1]], box=[(1, 2), (1, 2)], dynamics=hm.Dynamics(1, [[1, 0], [0, 0]])
    )
    assert [region.name for region in tied.regions] == ["itself"]
    assert str(hm.basins([[2], [1]], noise=1).probability).count(" to ") == 1


@pytest.mark.parametrize("cloud", [[[0], [1], [3]], [[2, 1], [-1, 2], [0, -2]]])
def test_regions_are_drawn_with_their_names(cloud):
    found = hm.basins(cloud, effort=200)
    ax: Any = found.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[: len(found.regions)] == [r.name for r in found.regions]
    assert ("undecided" in names) == bool(found.undecided.cells)
    looks = [(patch.get_facecolor(), patch.get_hatch()) for patch in ax.patches]
    assert len({*looks}) == len(looks) == len(names)
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"token": 5}, "`token` must be a whole number from -2 to 1"),
        ({"box": [(0, 1)]}, "`box` must be 2 pairs"),
        ({"box": [(0, 1), (1, 0)]}, "`box` must be 2 pairs"),
        ({"box": [0, 1]}, "`box` must be 2 pairs"),
        ({"law": "normal"}, "`law` must be None, 'uniform' or a pair"),
        ({"law": ([0, 0, 0], 1)}, "`mean` has 3 numbers for 2 coordinates"),
        ({"tolerance": 2}, "`tolerance`"),
        ({"effort": 0}, "`effort`"),
        ({"progress": 3}, "`progress`"),
        ({"box": [(0, 1e-70), (0, 1)]}, "another unit"),
        ({"noise": "1e-70"}, "another unit"),
        ({"dynamics": hm.Dynamics(1, mask="causal")}, "`basins` knows the paper's layer only"),
        ({"noise": 0}, "`noise` must be positive"),
        ({"noise": 1, "law": "uniform"}, "`noise` moves all tokens"),
        ({"tokens": np.eye(5)}, "at most 4"),
        ({"tokens": np.arange(41)[:, None], "noise": 1}, "41 coordinates"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(options, words):
    with pytest.raises(hm.InputError, match=words) as error:
        hm.basins(**{"tokens": [[1, 0], [0, 1]]} | options)
    assert "\n" not in str(error.value)


def test_a_gaussian_needs_a_width():
    with pytest.raises(hm.InputError, match="`std` must be positive"):
        hm.basins([[1, 0], [0, 1]], law=(0, [1, 0]))


def test_basins_in_space_are_not_drawn():
    with pytest.raises(hm.InputError, match="not in 3 dimensions"):
        hm.basins(np.eye(3), effort=1).plot()
