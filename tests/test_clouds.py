"""Named clouds: what they hold, that they can be repeated, and that bad sizes are refused in one line."""

import doctest
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest

from hardmax import clouds
from hardmax._validation import InputError

HALF = Fraction(1, 2)
SIZES = {"polygon": {"sides": 5}, "grid": {"side": 3}} | {
    name: {"n": 7, "d": 3} for name in ("gaussian", "sphere", "lattice")
}
RANDOM = (clouds.gaussian, clouds.sphere, clouds.lattice)


def exactly(cloud: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in token] for token in cloud.tolist()]


def leader_layers(cloud: np.ndarray, layers: int = 30) -> dict[int, int]:
    return oracle.leaders(exactly(cloud), HALF, layers=layers)


def test_the_examples_of_the_documentation_run():
    assert doctest.testmod(clouds).failed == 0


def test_only_the_vertices_of_the_triangle_lead():
    assert leader_layers(clouds.triangle()) == {0: 0, 1: 0, 2: 0}


def test_the_second_token_of_the_emerging_leader_leads_from_layer_one():
    assert leader_layers(clouds.emerging_leader()) == {0: 0, 1: 1, 2: 0}


@pytest.mark.parametrize("cloud", [clouds.square(), clouds.nonleader_clusters()], ids=["square", "clusters"])
def test_only_the_vertices_of_a_square_lead(cloud):
    assert leader_layers(cloud) == {0: 0, 1: 0, 2: 0, 3: 0}


def test_figure_2_has_the_papers_numbers_of_tokens():
    sizes = {name: len(clouds.named(name)) for name in ("emerging_leader", "square", "nonleader_clusters")}
    assert sizes == {"emerging_leader": 8, "square": 4 + 6, "nonleader_clusters": 4 + 2 + 4}


def test_clusters_without_a_leader_form_at_the_middles_of_two_edges():
    last = oracle.run(exactly(clouds.nonleader_clusters()), HALF, layers=60)[-1]
    assert np.allclose(np.array(last[4:6], dtype=float), [(1, 0), (-1, 0)])


def test_a_square_takes_what_is_put_inside_at_its_word():
    assert clouds.square(inside=[(0.5, 0.0)]).dtype == np.float64
    assert clouds.square(inside=[(HALF, 0)]).dtype == np.float64
    assert clouds.square(inside=[(Fraction(1, 3), 0)])[4, 0] == Fraction(1, 3)
    assert clouds.square(inside=[(0.1, 0)])[4, 0] == 0.1
    assert clouds.square(inside=[("0.1", "0")])[4, 0] == Fraction(1, 10)


def test_changing_a_cloud_leaves_the_next_one_alone():
    for name in ("triangle", "square", "nonleader_clusters"):
        clouds.named(name)[:] = 7
        assert not (clouds.named(name) == 7).any()
    clouds.square(inside=[])[:] = 7
    assert clouds.square(inside=[]).max() == 1


def test_a_turned_square_keeps_its_ties():
    cloud = clouds.square(inside=[(0.5, 0.0)])
    sets = oracle.attended_sets(exactly(clouds.rotated(cloud)))
    assert sets == oracle.attended_sets(exactly(cloud))
    assert sets[4] == {0, 3}


def test_turning_leaves_further_coordinates_and_the_given_cloud_alone():
    cloud = np.array([[Fraction(5), Fraction(0), Fraction(7)]])
    assert clouds.rotated(cloud).tolist() == [[3, 4, 7]]
    assert cloud.tolist() == [[5, 0, 7]]


def test_a_turned_turn_has_the_angle_twice():
    assert clouds.rotated(clouds.rotated([[1, 0]])).tolist() == [[Fraction(-7, 25), Fraction(24, 25)]]


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7, 8, 12, 100])
def test_a_polygon_is_regular_and_runs_counterclockwise(sides):
    turns = 2 * np.pi * np.arange(sides) / sides
    assert np.allclose(clouds.polygon(sides), np.stack([np.cos(turns), np.sin(turns)], axis=1), atol=1e-15)


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7, 8, 12, 100])
def test_a_polygon_is_its_own_mirror_image_to_the_last_bit(sides):
    def points(cloud):
        return {tuple(token) for token in cloud.tolist()}

    x, y = clouds.polygon(sides).T
    assert points(np.stack([x, -y], axis=1)) == points(clouds.polygon(sides))
    if sides % 4 == 0:
        assert points(np.stack([y, x], axis=1)) == points(clouds.polygon(sides))


def test_the_middle_of_a_mirrored_edge_ties_exactly():
    # Edge 1-2 of the hexagon joins (1/2, √3/2) to (-1/2, √3/2), and its middle is token 6 + 1.
    cloud = exactly(clouds.polygon(6, midpoints=True))
    assert oracle.attended_sets(cloud)[7] == {1, 2, 7}


def test_midpoints_lie_between_their_vertices():
    vertices, middles = np.split(clouds.polygon(5, midpoints=True), 2)
    for middle, (a, b) in zip(middles, pairwise([*vertices, vertices[0]]), strict=True):
        assert np.allclose(middle, (a + b) / 2)


def test_a_grid_is_centred_and_exact():
    assert clouds.grid(3, d=1).tolist() == [[-1.0], [0.0], [1.0]]
    assert clouds.grid(1, d=100).tolist() == [[0.0] * 100]
    assert clouds.grid(4, d=3).shape == (64, 3)
    assert not clouds.grid(4, d=3).sum(axis=0).any()


def test_a_lattice_holds_whole_numbers_up_to_its_span():
    cloud = clouds.lattice(1000, 2, span=3)
    assert set(cloud.flat) == {-3, -2, -1, 0, 1, 2, 3}


@pytest.mark.parametrize("make", RANDOM, ids=lambda make: make.__name__)
def test_one_seed_gives_one_cloud(make):
    assert np.array_equal(make(9, 2, seed=4), make(9, 2, seed=4))
    assert not np.array_equal(make(9, 2, seed=4), make(9, 2, seed=5))
    assert np.array_equal(make(9, 2, seed=np.random.default_rng(4)), make(9, 2, seed=4))


@pytest.mark.parametrize("make", RANDOM, ids=lambda make: make.__name__)
def test_a_generator_goes_on_where_it_was(make):
    generator = np.random.default_rng(4)
    assert not np.array_equal(make(9, 2, seed=generator), make(9, 2, seed=generator))


@pytest.mark.parametrize("name", clouds.NAMES)
def test_every_name_makes_a_table_of_exact_numbers(name):
    cloud = clouds.named(name, **SIZES.get(name, {}))
    assert cloud.ndim == 2
    assert cloud.dtype == np.float64 or all(isinstance(x, Fraction) for x in cloud.flat)


def test_every_name_is_explained():
    assert all(maker.__doc__ for maker in clouds.MAKERS.values())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: clouds.named("circle"), "`name` must be one of triangle, emerging-leader, square"),
        (lambda: clouds.named("gaussian"), "takes `n`, `d`, `seed`: `n` is missing"),
        (lambda: clouds.named("triangle", n=3), "takes no options: `n` is none of them"),
        (lambda: clouds.named("polygon", n=3), "takes `sides`, `midpoints`: `n` is none of them"),
        (lambda: clouds.gaussian(0, 2), "`n` must be a whole number from 1 up, not 0"),
        (lambda: clouds.sphere(5, 0), "`d` must be a whole number from 1 up, not 0"),
        (lambda: clouds.gaussian(2.5, 2), "`n` must be a whole number from 1 up, not 2.5"),  # pyright: ignore
        (lambda: clouds.lattice(True, 2), "`n` must be a whole number from 1 up, not True"),
        (lambda: clouds.lattice(4, 2, span=0), "`span` must be a whole number from 1 to 9007199254740992, not 0"),
        (lambda: clouds.polygon(2), "`sides` must be a whole number from 3 to 576460752303423488, not 2"),
        (lambda: clouds.grid(0), "`side` must be a whole number from 1 up, not 0"),
        (lambda: clouds.grid(10, d=20), r"`side`\^`d` must be at most 1000000, not 10\^20 tokens"),
        (lambda: clouds.gaussian(3, 2, seed=-1), "`seed` must be a whole number from 0 up, not -1"),
        (lambda: clouds.gaussian(3, 2, seed=None), "`seed` must be"),  # pyright: ignore
        (lambda: clouds.square(inside=[(1, 2, 3)]), r"`inside` must hold tokens \(x, y\) of the plane"),
        (lambda: clouds.square(inside=5), "`inside` must be a table"),
        (lambda: clouds.rotated([[1.0]]), "`cloud` must have tokens of dimension 2 or more"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(make, words):
    with pytest.raises(InputError, match=words) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_clouds_import_neither_scipy_nor_numba():
    # Listing the names on the command line must not wait for compilers.
    code = "import sys, hardmax.clouds; sys.exit(bool({'scipy', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
