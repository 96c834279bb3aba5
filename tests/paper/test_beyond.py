"""What goes beyond the paper: the numbers say what is so."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import clouds as tie_clouds

from hardmax import Dynamics, clouds, limit, simulate, step
from hardmax.paper.beyond import basins, floats
from hardmax.paper.beyond.random_clouds import KINDS, on_grid
from hardmax.paper.beyond.walks import naive_walk, softmax_walk
from hardmax.paper.piece import Numbers

NumbersOf = Callable[[str], Numbers]


def after(walk: object, layers: int) -> np.ndarray:
    return next(islice(walk, layers, None))  # pyright: ignore[reportArgumentType]


@settings(deadline=None, max_examples=30)
@given(tie_clouds(min_d=2, max_d=3))
def test_one_naive_layer_of_whole_numbers_is_the_definition(cloud: list):
    # Times 840, all small fractions of the strategies are whole numbers, and floats decide their ties exactly.
    tokens = np.array([[int(840 * number) for number in token] for token in cloud], dtype=np.float64)
    assert after(naive_walk(tokens, 1.0), 1) == pytest.approx(step(tokens, Dynamics(1)), rel=1e-12, abs=1e-9)


def test_softmax_tends_to_hardmax_as_it_cools_and_never_overflows():
    tokens = 100 * clouds.gaussian(30, 2, seed=1)
    hard = simulate(tokens, Dynamics("1/2"), layers=3).at(3)
    gaps = [np.abs(after(softmax_walk(tokens, 0.5, heat), 3) - hard).max() for heat in (1000.0, 10.0, 1e-9)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-9


def test_softmax_walks_many_clouds_as_one_by_one():
    batch = np.random.default_rng(0).standard_normal((3, 8, 2))
    together = after(softmax_walk(batch, 0.5, 0.1), 4)
    assert together.tolist() == [after(softmax_walk(cloud, 0.5, 0.1), 4).tolist() for cloud in batch]


@pytest.mark.parametrize("kind", KINDS)
def test_random_clouds_are_of_their_kind(kind: str):
    batch = KINDS[kind]((5, 400, 3), np.random.default_rng(0))
    assert batch.shape == (5, 400, 3)
    lengths = np.linalg.norm(batch, axis=2)
    assert (np.ptp(lengths) < 1e-12) == (kind == "sphere")
    assert (np.abs(batch).max() <= 1) == (kind != "Gaussian")


def test_rounded_clouds_are_those_of_the_theorem():
    for cloud in on_grid(list(np.random.default_rng(0).standard_normal((20, 20, 2))), 0.5):
        assert limit(cloud, Dynamics(1), max_layers=40).theorem_applies


def test_on_a_sphere_everybody_leads_and_elsewhere_more_do_in_higher_dimension(numbers_of: NumbersOf):
    rows = numbers_of("beyond.leaders")["rows"]
    assert all(row["fewest"] == row["n"] for row in rows if row["kind"] == "sphere")
    for kind in ("Gaussian", "cube"):
        means = [row["mean"] for row in rows if row["kind"] == kind and row["n"] == 1000]
        assert means == sorted(means)
        assert means[0] < 12 < 500 < means[-1]


def test_the_counts_of_leaders_are_those_of_single_clouds(numbers_of: NumbersOf):
    rng = np.random.default_rng(0)
    first = numbers_of("beyond.leaders")["rows"][0]
    batch = KINDS["Gaussian"]((numbers_of("beyond.leaders")["trials"], first["n"], first["d"]), rng)
    counts = [len(limit(cloud, Dynamics("1/2")).leaders) for cloud in batch]
    assert first["mean"] == round(float(np.mean(counts)), 3)
    assert (first["fewest"], first["most"]) == (min(counts), max(counts))


def test_settling_takes_fewer_layers_with_larger_steps(numbers_of: NumbersOf):
    for d in (2, 4, 8):
        rows = [row for row in numbers_of("beyond.settling")["rows"] if row["d"] == d]
        for measure in ("mean", "most", "layers_until_near"):
            assert rows[0][measure] > rows[5][measure] >= rows[-1][measure]
        assert all(row["layers_until_near"] >= row["mean"] for row in rows)


def test_clouds_without_ties_have_no_limits_on_faces_and_no_limit_is_anything_else(numbers_of: NumbersOf):
    numbers = numbers_of("beyond.faces")
    shares = {row["kind"]: row["share_of_clouds"] for row in numbers["kinds"]}
    assert [shares[kind] for kind in KINDS] == [0, 0, 0]
    assert shares["whole numbers to ±2"] > shares["whole numbers to ±8"] > 0
    assert sum(row["tokens_elsewhere"] for row in (*numbers["kinds"], *numbers["rounding"])) == 0


def test_basins_of_the_square_are_its_cells(numbers_of: NumbersOf):
    square = next(shown for shown in numbers_of("beyond.basins")["maps"] if shown["name"] == "square")
    assert square["to_another_leader"] == square["lead_themselves"] == 0
    side = numbers_of("beyond.basins")["side"]
    quarter = {row[x] for row in square["rows"][: side // 2] for x in range(side // 2)} - {basins.OUTSIDE}
    assert quarter == {basins.LEADERS[square["leaders"].index(2)]}  # (-1, -1) has all that lies below and to the left


def test_where_the_map_says_that_a_token_goes_it_goes(numbers_of: NumbersOf):
    side = numbers_of("beyond.basins")["side"]
    for shown in numbers_of("beyond.basins")["maps"]:
        left, right, bottom, top = shown["window"]
        for y, x in ((side // 2, side // 3), (side // 3, side // 2), (side // 2, side // 2)):
            letter = shown["rows"][y][x]
            if letter in (basins.OUTSIDE, basins.ITSELF, basins.FACE):
                continue
            probe = [left + (x + 0.5) / side * (right - left), bottom + (y + 0.5) / side * (top - bottom)]
            lim = limit([*shown["tokens"], probe], Dynamics("1/2"))
            leader = shown["leaders"][basins.LEADERS.index(letter.upper())]
            assert lim.points[-1].tolist() == lim.points[leader].tolist()


def test_ties_do_not_survive_a_temperature_but_without_inner_tokens_they_do(numbers_of: NumbersOf):
    numbers = numbers_of("beyond.temperature")
    rows = {(row["cloud"], row["temperature"]): row["tokens"] for row in numbers["figure_2"]}
    assert rows["non-leader clusters", 0.001] == [4, 5]
    assert rows["triangle", 0.001] == rows["square", 0.001] == []
    assert numbers["apart_without_inner_tokens"] == []


def test_colder_is_nearer_and_only_narrow_choices_part(numbers_of: NumbersOf):
    gaussian = numbers_of("beyond.temperature")["gaussian"]
    cold, mild, warm = gaussian["share_apart"]
    assert all(a < b < c for a, b, c in zip(cold, mild, warm, strict=True))
    for counts in gaussian["apart_and_all_by_bin_after_one_layer"]:
        assert [apart for apart, _ in counts[-2:]] == [0, 0]
        assert sum(every for _, every in counts) == gaussian["clouds"] * gaussian["n"]


def test_floats_lose_the_ties_of_every_turned_cloud(numbers_of: NumbersOf):
    assert {row["missed"] for row in numbers_of("beyond.floats")["angles"]} <= {1, 2}


def test_followers_vote_in_floats_with_some_alphas_and_stop_short_at_that_of_the_authors(numbers_of: NumbersOf):
    rows = {row["alpha"]: row for row in numbers_of("beyond.floats")["alphas"]}
    assert (rows["1/2"]["astray"], rows["1/2"]["arrived"]) == (None, 0)
    assert rows["2"]["astray"] == 34
    assert rows["2"]["arrived"] > 0


def test_the_truth_keeps_both_tokens_on_their_edges_whatever_alpha(numbers_of: NumbersOf):
    for row in numbers_of("beyond.floats")["alphas"][::7]:
        lim = limit(clouds.nonleader_clusters(), Dynamics(row["alpha"]))
        assert lim.points[list(floats.WATCHED)].tolist() == [[1, 0], [-1, 0]]
