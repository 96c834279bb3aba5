"""Blocks whose layers are irrational: enclosures hold the truth that mpmath computes."""

from collections import Counter
from itertools import combinations, islice
from typing import Any

import mpmath
import numpy as np
import pytest
from block_truth import draw, walk
from effort import THOROUGH
from refusals import listed_refusals

import hardmax as hm

RUNS = 2000 if THOROUGH else 100
KINDS = ("metric", "value", "mask", "heads", "feed_forward", "ties", "sphere", "layer", "softmax")
PAIRS = [*combinations(KINDS, 2)]
NEVER = {("metric", "heads"), ("sphere", "layer")}


@pytest.fixture(scope="module")
def runs():
    found = []
    for seed in range(RUNS):
        cloud, block, dynamics = draw(seed)
        run = hm.simulate(cloud, dynamics, layers=3 + seed % 3)
        found.append((cloud, block, run))
    return found


def test_no_coordinate_is_outside_and_no_set_is_wrong(runs):
    counts = Counter()
    for seed, (cloud, block, run) in enumerate(runs):
        with mpmath.workdps(200):
            truth = list(islice(walk(cloud, block), run.layers + 1))
            assert len(truth) == run.layers + 1, seed
            for layer, (places, sets) in enumerate(truth):
                said = np.vectorize(mpmath.mpf)(run.at(layer))
                off = abs(np.array(places) - said).max()
                # The truth, too, is rounded, to 200 digits.
                assert off <= run.error + mpmath.mpf(10) ** -150, (seed, layer)
                if run.phases[layer].choices is not None:
                    chosen = [{*one} for one in run.attended(layer).tolist()]
                    assert chosen == sets, (seed, layer)
                    counts["sets"] += len(sets)
                counts["coordinates"] += len(cloud) * len(cloud[0])
        counts["undecided"] += "undecided" in run.stop_reason
        counts.update(block.kinds)
        counts.update(pair for pair in PAIRS if {*pair} <= block.kinds)
    print(f"{RUNS} runs: {counts}")
    assert min(counts[kind] for kind in KINDS) >= RUNS // 10
    assert min(counts[pair] for pair in PAIRS if pair not in NEVER) >= RUNS // 50
    assert RUNS // 100 <= counts["undecided"] <= RUNS // 4


def test_what_is_undecided_is_a_tie_or_a_token_that_is_zero(runs):
    undecided = [run for run in runs if "undecided" in run[2].stop_reason]
    assert undecided
    for cloud, block, run in undecided:
        last, nothing = run.layers, "may be 0" in run.stop_reason
        with mpmath.workdps(200):
            layers = list(islice(walk(cloud, block), last + 2))
        if nothing:
            assert len(layers) == last + 1
        else:  # of several places that are attended to, exactly as far
            assert f"undecided at layer {last}" in run.stop_reason
            assert any(len(chosen) > 1 for chosen in layers[last][1])
            with pytest.raises(hm.InputError, match="undecided at layer"):
                run.attended(last)
        with pytest.raises(hm.InputError, match="undecided at layer"):
            run.at(last + 1)


SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [0.5, 0.0]]
TILTED = [[3, 1], [1, 1]]
BLOCK = hm.FeedForward([[1, 0]], [0], [["1/4"], [0]])
FULL = hm.Dynamics(1, TILTED, normalise="sphere", feed_forward=BLOCK)
test_what_is_wrong = listed_refusals(globals())


def fed(cloud):
    """What the feed-forward block makes of a cloud, on the sphere."""
    moved = cloud + np.maximum(cloud[:, :1], 0) / 4 * [1, 0]
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)


def test_the_paper_s_three_kinds_of_networks():
    # Attention to oneself is none: z + z, divided by its length, is z on the sphere.
    cloud, alone = np.array(SQUARE[:4]) / np.sqrt(2), np.eye(4, dtype=bool)
    network = hm.Dynamics(1, mask=alone, normalise="sphere", feed_forward=BLOCK)
    pure = hm.Dynamics(1, TILTED, normalise="sphere")
    kinds = network, FULL, pure
    deep, full, attention = (hm.simulate(cloud, one, layers=1).at(1) for one in kinds)
    assert np.allclose(deep, fed(cloud))
    assert np.allclose(full, fed(attention))


def test_a_run_that_is_enclosed_is_a_trajectory_like_others(tmp_path, told):
    run = hm.simulate(SQUARE, FULL, layers=4)
    assert isinstance(run, hm.Run)
    assert len(run) == 5
    assert run.settled_at is None
    assert run.certified
    led = []
    for layer in range(5):
        sets = run.attended(layer).tolist()
        led.append({i for i, chosen in enumerate(sets) if chosen == [i]})
    assert run.leaders.tolist() == sorted(led[4])
    since = []
    for leader in sorted(led[4]):
        lost = [layer for layer in range(5) if leader not in led[layer]]
        since.append(max(lost, default=-1) + 1)
    assert run.leader_layers.tolist() == since
    columns = run.to_arrow().to_pydict()
    assert columns["layer"] == np.repeat(range(5), 5).tolist()
    assert columns["attends"][:5] == run.attended(0).tolist()
    assert sum(columns["leader"]) == sum(5 - layer for layer in since)
    run.save(tmp_path / "run.gif")
    low, high = run.plot().get_xlim()
    first = np.asarray(run)[..., 0]
    assert low < first.min() < first.max() < high
    told.clear()
    hm.simulate(SQUARE, FULL, layers=3)
    assert told == [("layers", done, 3) for done in range(4)]
    several = hm.simulate([SQUARE, SQUARE[:3]], FULL, layers=2)
    assert [len(one) for one in several.at(2)] == [5, 3]


def test_copies_stay_together_and_a_choice_between_them_is_no_tie():
    cloud = [[1, 2], [1, 2], [-1, "1/3"], [-1, "1/3"], [2, -1]]
    everybody = np.ones((5, 5), dtype=bool)
    masked = hm.Dynamics(1, TILTED, mask=everybody, normalise="sphere")
    run: Any = hm.simulate(cloud, masked, layers=6)
    assert "undecided" not in run.stop_reason
    places = np.asarray(run)
    assert (places[:, 0] == places[:, 1]).all()
    whole = hm.simulate(cloud, hm.Dynamics(1, TILTED, normalise="sphere"), layers=6)
    for layer in range(7):
        assert run.attended(layer).tolist() == whole.attended(layer).tolist()


def test_in_one_dimension_a_sphere_has_two_places_and_all_is_exact():
    sphere = hm.Dynamics(1, normalise="sphere")
    line = hm.simulate([[3], [1], [-2], [-1]], sphere, layers=2)
    assert line.at(2).ravel().tolist() == [1, 1, -1, -1]
    assert line.attended(2).tolist() == [[0, 1], [0, 1], [2, 3], [2, 3]]
    scaled = hm.Dynamics(1, normalise="layer")
    signs = hm.simulate([[3, 1], [1, 2], [0, 5]], scaled, layers=2)
    assert signs.at(2).tolist() == [[1, -1], [-1, 1], [-1, 1]]
    assert signs.attended(2).tolist() == [[0], [1, 2], [1, 2]]


def test_a_zero_vector_ends_the_run():
    # Token 0 attends to its opposite.
    away = hm.Dynamics(1, [[-1, 0], [0, -1]], normalise="sphere")
    run: Any = hm.simulate([[1, 2], [-1, -2]], away, layers=3)
    assert run.layers == 0
    assert run.attended(0).tolist() == [[1], [0]]
    assert "may be 0" in run.stop_reason


@pytest.mark.parametrize("heads", [None, [hm.Head(), hm.Head()]])
def test_softmax_attends_to_all_that_it_may_at_every_layer(heads):
    soft = hm.Dynamics(1, mask="causal", attention=hm.Softmax(2), heads=heads)
    run = hm.simulate(SQUARE[:3], soft, layers=2)
    for layer in range(3):
        assert run.attended(layer).tolist() == [[0], [0, 1], [0, 1, 2]]
    assert len(run) == 3
    assert run.leaders.tolist() == [0]
    assert run.stop_reason == "2 layers asked for and done"


def test_a_lead_that_is_the_slack_is_a_tie():
    # From layer 1 on the tokens are at a right angle: their lead is 1.
    for slack, is_tie in (("1", True), ("9/10", False), ("11/10", False)):
        local = hm.Dynamics(1, normalise="sphere", attention=hm.Localmax(slack))
        run: Any = hm.simulate([[1, 1], [1, -1]], local, layers=1)
        assert ("undecided" in run.stop_reason) == is_tie
    assert run.attended(1).tolist() == [[0, 1], [0, 1]]
