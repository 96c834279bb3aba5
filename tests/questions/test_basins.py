"""`basins`: what is proved agrees with exact limits, and nothing is counted twice."""

from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import listed_refusals
from strategies import alphas, any_metrics, clouds

import hardmax as hm

pytestmark = pytest.mark.filterwarnings("ignore:the theorem does not apply")
TINY = Fraction(1, 9973)
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1]]


def has_inside(cell, point):
    """Whether a point is inside a convex polygon, or an interval, and not on its border."""
    if len(point) == 1:
        return cell[0][0] < point[0] < cell[1][0]
    sides, ways = np.roll(cell, -1, axis=0) - cell, point - cell
    turns = sides[:, 0] * ways[:, 1] - sides[:, 1] * ways[:, 0]
    return (turns > 0).all()


def size(cell):
    """The length or the area."""
    if cell.shape[1] == 1:
        return cell[1, 0] - cell[0, 0]
    x, y = cell.T
    return (x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def leader_at(found, start):
    """Where the token ends from there, as proved; None if that is not said."""
    for region in found.regions:
        place = np.array(start, dtype=object)
        if any(has_inside(cell, place) for cell in region.cells):
            return region.leader
    return None


def end_of(cloud, dynamics, token, start):
    """What the token attends to in the end if it starts there, by an exact run."""
    moved = cloud.copy() if token is not None else np.vstack([cloud, [start]])
    token = len(cloud) if token is None else token
    moved[token] = start
    lim = hm.limit(moved, dynamics, arithmetic="exact", max_layers=400)
    assume(lim.settled_at is not None)
    rows = moved.tolist()
    attended = lim.run.attended(lim.settled_at)[token].tolist()
    # Of equal tokens the first, but for the one that is moved.
    return {rows.index(rows[j]) if j != token else j for j in attended}


@st.composite
def problems(draw):
    """A cloud full of ties, dynamics, and which token is moved; None: one more."""
    cloud = draw(clouds(max_d=2, max_n=6))
    metric = draw(st.none() | any_metrics(len(cloud[0])))
    token = draw(st.none() | st.integers(0, len(cloud) - 1))
    return np.array(cloud, dtype=object), hm.Dynamics(draw(alphas), metric), token


six_shares = st.lists(st.fractions(0, 1, max_denominator=50), min_size=6, max_size=6)


@given(problems(), six_shares)
def test_a_token_ends_where_its_region_says(problem, shares):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=60)
    d = len(found.box)
    for k in range(3):
        # Beside simple fractions, where cells have their borders.
        inside = zip(found.box, shares[d * k :], strict=False)
        start = []
        for (low, high), share in inside:
            start.append(low + (share + TINY) / (1 + 2 * TINY) * (high - low))
        leader = leader_at(found, start)
        assert leader is None or end_of(cloud, dynamics, token, start) == {leader}


@given(problems())
def test_cells_fill_the_box_and_do_not_overlap(problem):
    cloud, dynamics, token = problem
    found = hm.basins(cloud, token, dynamics=dynamics, effort=30)
    regions = [*found.regions, found.undecided]
    assert sum(region.share for region in regions) == pytest.approx(1)
    cells = [cell for region in regions for cell in region.cells]
    sizes = [size(cell) for cell in cells]
    assert min(sizes) > 0
    sides = [high - low for low, high in found.box]
    assert sum(sizes) == np.prod(sides, initial=Fraction(1))
    for cell in cells:
        middle = cell.sum(axis=0) / Fraction(len(cell))
        owners = [other for other in cells if has_inside(other, middle)]
        assert len(owners) == 1
        assert owners[0] is cell


def test_on_a_line_and_in_the_square_regions_are_known():
    line = hm.basins([[0], [1], [3]], box=[(-1, 4)], tolerance=1e-6)
    first, second = line.regions
    assert (first.leader, second.leader) == (2, 3)
    assert first.share == pytest.approx(0.6, abs=1e-6)
    assert second.share == pytest.approx(0.4, abs=1e-6)
    found = hm.basins(SQUARE, tolerance=0.01)
    assert {region.leader for region in found.regions} == {0, 1, 2, 3, 4}
    starts = [[0.31, 0.21], [-0.31, 0.21], [1.4, 1.3]]
    assert [leader_at(found, start) for start in starts] == [0, 3, 4]
    # It leads itself where <x, x> > |x1| + |x2|: outside four half discs of area pi / 4 and the
    # square of side 1 that is turned between them.
    (itself,) = (region.share for region in found.regions if region.name == "itself")
    assert found.undecided.share <= 0.01
    assert itself <= 1 - (2 + np.pi) / 9 <= itself + found.undecided.share


def test_many_tokens_are_decided_and_effort_ends_the_search(told):
    drawn = np.random.default_rng(0).standard_normal((60, 2))
    cloud = np.round(drawn * 64) / 64
    found = hm.basins(cloud, effort=100)
    assert told == [("parts of the box", done, 100) for done in (0, 64, 100)]
    assert 0.02 < found.undecided.share < 0.5
    assert hm.basins(cloud, tolerance=0.02).undecided.share < 0.02


def test_equal_tokens_have_the_name_of_the_first():
    found = hm.basins([[2, 0], [2, 0], [0, 1]], 0, box=[(-1, 1), (-1, 1)])
    assert {region.leader for region in found.regions} >= {1}
    assert found.token == 0
    away = hm.Dynamics(1, -np.eye(2))
    tied = hm.basins([[1, 1], [-1, 1]], box=[(-1, 1), (1, 2)], dynamics=away)
    assert tied.regions == ()  # it never settles


TRIANGLE = [[2, 1], [-1, 2], [0, -2]]


@pytest.mark.parametrize("cloud", [[[0], [1], [3]], TRIANGLE])
def test_regions_are_drawn_with_their_names(cloud):
    found = hm.basins(cloud, effort=200)
    ax: Any = found.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[: len(found.regions)] == [region.name for region in found.regions]
    assert ("undecided" in names) == bool(found.undecided.cells)
    looks = [(patch.get_facecolor(), patch.get_hatch()) for patch in ax.patches]
    assert len({*looks}) == len(looks) == len(names)
    plt.close(ax.figure)


def basins(**options):
    return hm.basins(**{"tokens": [[1, 0], [0, 1]]} | options)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
