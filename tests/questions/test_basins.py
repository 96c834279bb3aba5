"""`basins`: what is proved agrees with exact limits, and nothing is counted twice."""

import json
from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from effort import examples
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm
from strategies import alphas, any_metrics, clouds

import hardmax as hm

pytestmark = pytest.mark.filterwarnings("ignore:the theorem does not apply")
TINY = Fraction(1, 9973)
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1]]


@st.composite
def problems(draw):
    """A cloud full of ties, dynamics, and which token is moved; None: one more."""
    cloud = draw(clouds(max_d=2, max_n=6))
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
@given(problems(), st.lists(st.fractions(0, 1, max_denominator=50), min_size=6, max_size=6))
def test_a_token_ends_where_its_region_says(problem, shares):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=60)
    d = len(found.box)
    starts = []
    for k in range(3):
        # Beside simple fractions, where cells have their borders.
        inside = zip(found.box, shares[d * k :], strict=False)
        starts.append(
            [low + (high - low) * (share + TINY) / (1 + 2 * TINY) for (low, high), share in inside]
        )
    ends = [end_of(cloud, dynamics, token, start) for start in starts]
    assert all(found.at(x) in (None, end) for x, end in zip(starts, ends, strict=True))
    for end, estimate in found.estimates(starts).items():
        assert estimate.hits == ends.count(end)


@settings(max_examples=examples(1000))
@given(problems())
def test_cells_fill_the_box_and_do_not_overlap(problem):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=60)
    regions = [*found.regions, found.undecided]
    assert sum(region.share for region in regions) == pytest.approx(1)
    cells = [cell for region in regions for cell in region._cells]
    size = np.prod([high - low for low, high in found.box], initial=Fraction(1))
    height = 1 if len(found.box) == 2 else (found.box[0][1] - found.box[0][0]) / 2**60
    total = sum((cell.area for cell in cells), fmpq(0))
    assert Fraction(int(total.p), int(total.q)) == size * height
    assert min(cell.area for cell in cells) > 0
    for cell in cells:
        corners = [[Fraction(y, w) for y in corner] for w, *corner in cell.corners]
        x, y = (sum(column) / len(corners) for column in zip(*corners, strict=True))
        assert [other for other in cells if other.has_inside(x, y)] == [cell]


def test_on_a_line_regions_are_exact():
    found = hm.basins([[0], [1], [3]], box=[(-1, 4)], tolerance=0)
    assert [region.attended for region in found.regions] == [(2,), (3,)]
    assert [region.share for region in found.regions] == pytest.approx([0.6, 0.4])
    assert found.undecided.cells == []
    assert found.at([0]) is None  # the border
    assert found.at([-2]) is None  # outside
    assert found.at([2.5]) == (2,)
    written = json.loads(json.dumps(found.to_dict()))
    assert written["box"] == [["-1", "4"]]
    cells = [[Fraction(x) for (x,) in cell] for cell in written["regions"][0]["cells"]]
    assert sum(high - low for low, high in cells) == 3


def test_in_the_square_starts_inside_go_to_the_leader_of_their_quarter():
    found = hm.basins(SQUARE, tolerance=0.01)
    assert {region.attended for region in found.regions} == {(0,), (1,), (2,), (3,), (4,)}
    assert found.at([0.31, 0.21]) == (0,)
    assert found.at([-0.31, 0.21]) == (3,)
    assert found.at([1.4, 1.3]) == (4,)
    # It leads itself where <x, x> > |x1| + |x2|: outside four half discs of area pi / 4 and the
    # square of side 1 that is turned between them.
    (itself,) = (region.share for region in found.regions if region.name == "itself")
    assert found.undecided.share <= 0.01
    assert itself <= 1 - (2 + np.pi) / 9 <= itself + found.undecided.share


def test_ties_of_others_last_where_nobody_lies_further_out():
    found = hm.basins([*SQUARE, [0.5, 0]], box=[(-1, 1), (-1, 1)], effort=100)
    assert {region.attended for region in found.regions} == {(0,), (1,), (2,), (3,)}
    assert found.undecided.cells == []


def test_many_tokens_are_decided_and_effort_ends_the_search():
    cloud = np.round(np.random.default_rng(0).standard_normal((200, 2)) * 64) / 64
    told: Any = []
    found = hm.basins(cloud, effort=100, progress=lambda *now: told.append(now))
    assert told == [(0, 100), (64, 100), (100, 100)]
    assert 0.1 < found.undecided.share < 0.5
    assert hm.basins(cloud).undecided.share < 0.004


def test_starts_of_any_law_have_estimates():
    found = hm.basins([[0], [1], [3]])  # it leads below 0 and above 3
    estimates = found.estimates(np.random.default_rng(1).standard_normal((4000, 1)))
    assert {*estimates} == {(2,), (3,)}
    low, high = estimates[3,].interval
    assert low < norm.cdf(0) + norm.sf(3) < high < low + 0.05
    assert sum(estimate.share for estimate in estimates.values()) == 1


@pytest.mark.parametrize(("hits", "draws"), [(0, 9), (3, 9), (9, 9)])
def test_intervals_are_those_of_clopper_and_pearson(hits, draws):
    low, high = hm.results.Estimate(hits, draws).interval
    assert low == (pytest.approx(beta.ppf(0.005, hits, draws - hits + 1)) if hits else 0)
    assert high == (pytest.approx(beta.ppf(0.995, hits + 1, draws - hits)) if hits < draws else 1)


def test_noise_keeps_two_tokens_with_a_known_probability():
    # 2 + a leads and 1 + b follows as long as 2 + a > 1 + b.
    found = hm.basins([[2], [1]], noise=1, draws=400)
    low, high = found.interval
    assert low < 7 / 8 < high
    assert found == hm.basins([[2], [1]], noise=1, draws=400, seed=0)
    assert found != hm.basins([[2], [1]], noise=1, draws=400, seed=1)


def test_within_the_radius_nothing_changes_and_ties_always_break():
    cloud = [[2, 0], [-1, 0.5], [0.5, 0.25]]
    radius = hm.limit(cloud, hm.Dynamics(1)).radius()
    assert hm.basins(cloud, noise=Fraction(radius) / 2, draws=50).share == 1
    assert hm.basins([*SQUARE, [0.5, 0]], noise="1/100", draws=20).share == 0


def test_equal_tokens_have_the_name_of_the_first():
    found = hm.basins([[2, 0], [2, 0], [0, 1]], 0, box=[(-1, 1), (-1, 1)])
    assert {region.attended for region in found.regions} >= {(1,)}
    assert found.token == 0
    tied = hm.basins(
        [[0, 1], [0, -1]], box=[(1, 2), (1, 2)], dynamics=hm.Dynamics(1, [[1, 0], [0, 0]])
    )
    assert [region.name for region in tied.regions] == ["itself"]


@pytest.mark.parametrize("cloud", [[[0], [1], [3]], [[2, 1], [-1, 2], [0, -2]]])
def test_regions_are_drawn_with_their_names(cloud):
    found = hm.basins(cloud, effort=200)
    ax: Any = found.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[: len(found.regions)] == [region.name for region in found.regions]
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
        ({"box": [(0, 1e-70), (0, 1)]}, "another unit"),
        ({"tolerance": 2}, "`tolerance`"),
        ({"effort": 0}, "`effort`"),
        ({"progress": 3}, "`progress`"),
        ({"dynamics": hm.Dynamics(1, mask="causal")}, "`basins` knows the paper's layer only"),
        ({"noise": 0}, "`noise` must be from 1e-60"),
        ({"noise": 1, "token": 0}, "`noise` moves all tokens"),
        ({"noise": 1, "draws": 0}, "`draws`"),
        ({"tokens": np.eye(3)}, "3 coordinates"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(options, words):
    with pytest.raises(hm.InputError, match=words) as error:
        hm.basins(**{"tokens": [[1, 0], [0, 1]]} | options)
    assert "\n" not in str(error.value)
