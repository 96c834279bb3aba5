"""Blocks whose layers are irrational: enclosures hold the truth that mpmath computes."""

from collections import Counter
from itertools import combinations, islice

import mpmath
import numpy as np
import pytest
from block_truth import draw, walk
from effort import THOROUGH

import hardmax as hm

RUNS = 2000 if THOROUGH else 100
KINDS = ("metric", "value", "mask", "heads", "feed_forward", "ties", "sphere", "layer", "softmax")
NEVER = {("metric", "heads"), ("sphere", "layer")}


@pytest.fixture(scope="module")
def runs():
    found = []
    for seed in range(RUNS):
        cloud, block, dynamics = draw(seed)
        found.append((cloud, block, hm.simulate(cloud, dynamics, layers=3 + seed % 3)))
    return found


def test_no_coordinate_is_outside_and_no_set_is_wrong(runs):
    counts = Counter()
    for seed, (cloud, block, run) in enumerate(runs):
        with mpmath.workdps(200):
            truth = list(islice(walk(cloud, block), run.layers + 1))
            assert len(truth) == run.layers + 1, seed
            for layer, (places, sets) in enumerate(truth):
                off = abs(np.array(places) - np.vectorize(mpmath.mpf)(run.at(layer))).max()
                # The truth, too, is rounded, to 200 digits.
                assert off <= run.error + mpmath.mpf(10) ** -150, (seed, layer)
                if layer < len(run.details.phases):
                    said = [{*chosen} for chosen in run.attended(layer).tolist()]
                    assert said == sets, (seed, layer)
                    counts["sets"] += len(sets)
                counts["coordinates"] += len(cloud) * len(cloud[0])
        counts["undecided"] += run.undecided_at is not None
        counts.update(block.kinds)
        counts.update(pair for pair in combinations(KINDS, 2) if {*pair} <= block.kinds)
    print(f"{RUNS} runs: {counts}")
    assert min(counts[kind] for kind in KINDS) >= RUNS // 10
    assert min(counts[pair] for pair in combinations(KINDS, 2) if pair not in NEVER) >= RUNS // 50
    assert RUNS // 100 <= counts["undecided"] <= RUNS // 4


def test_what_is_undecided_is_a_tie_or_a_token_that_is_zero(runs):
    undecided = [run for run in runs if run[2].undecided_at is not None]
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
            with pytest.raises(hm.InputError, match="beyond what is known: undecided at layer"):
                run.attended(last)
        with pytest.raises(hm.InputError, match="beyond what is known: undecided at layer"):
            run.at(last + 1)
