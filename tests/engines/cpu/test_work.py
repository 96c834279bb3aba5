"""What searches save: how many scores they compute, and how little they leave to slower ways."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float import active_set, general, policies, rounded, shells, tree
from hardmax._float.argmax import sample_rows, search_dense
from hardmax._float.batch import UNDECIDED, walk_batch
from hardmax._float.bounds import Frame, float_metric
from hardmax._float.search import suited


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("with_metric", [False, True])
def test_random_clouds_are_all_decided_in_the_kernel(d, with_metric):
    random = np.random.default_rng(d)
    sizes = random.integers(1, 60, 50)
    offsets = np.append(0, np.cumsum(sizes))
    tokens = random.normal(size=(offsets[-1], d))
    metric = np.eye(d) + np.ones((d, d)) / 3 if with_metric else None
    outcome = walk_batch(tokens, offsets, hm.Dynamics("1/2", metric), 100)
    assert (outcome.settled != UNDECIDED).all()
    assert outcome.errors.max() < 1e-12


@pytest.mark.parametrize(("d", "share"), [(2, 0.2), (3, 0.15), (5, 0.335)])
def test_the_tree_computes_few_scores_on_a_sphere(monkeypatch, d, share):
    random = np.random.default_rng(0)
    points = random.normal(size=(1500, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    directions, slack = points[::30], np.full(50, 1e-12)
    scores = []

    def counted(directions, i, points, place):
        scores.append(place)
        return float(directions[i] @ points[place])

    truth = search_dense(directions, points, slack)
    monkeypatch.setattr(tree, "_FEWEST_ROWS", 0)
    monkeypatch.setattr(tree, "_score", counted)
    for name in ("_rank", "_collect"):
        kernel = getattr(tree, name)
        assert callable(kernel.python)
        monkeypatch.delitem(vars(kernel), "python")  # it is made anew, and calls `counted`
        in_python = partial(kernel.python, 0, -(-len(directions) // tree.ROWS))
        monkeypatch.setattr(tree, name, in_python)
    found = tree.search_tree(directions, points, slack)
    assert found.winners.tolist() == truth.winners.tolist()
    assert len(scores) < share * len(directions) * len(points)


@pytest.mark.parametrize(("n", "d", "share"), [(2000, 2, 0.018), (2000, 3, 0.022)])
def test_of_a_gaussian_cloud_the_outermost_points_are_enough(monkeypatch, n, d, share):
    points = np.random.default_rng(n).normal(size=(n, d))
    directions, slack = points[::25], np.full(n // 25, 1e-12)
    find_winners, read = shells._find_winners, []

    class Watched(np.ndarray):
        def __getitem__(self, where):
            read.append(where)
            return super().__getitem__(where)

    def watched(some, lengths, sure, places, *others):
        find_winners.python(0, 1, some, lengths, sure, places.view(Watched), *others)

    monkeypatch.setattr(shells, "_find_winners", watched)
    monkeypatch.setattr(shells, "search_tree", None)
    monkeypatch.setattr(shells, "_TRIED", 4)
    found = shells.search_shells(directions, points, slack)
    assert found.winners.tolist() == search_dense(directions, points, slack).winners.tolist()
    assert found.by == ("shells",)
    assert len(read) < share * points.size * len(directions)


@pytest.mark.parametrize(("n", "d"), [(100, 7), (700, 20)])
def test_bytes_use_their_range_and_margins_are_hardly_more_than_the_smallest_lead(
    monkeypatch, n, d
):
    points = np.random.default_rng(n).normal(size=(n, d)) + 3
    slack, search, seen = np.full(n, 1e-12), rounded._search, []

    def watched(*arguments):
        seen.append(arguments)
        search(*arguments)

    monkeypatch.setattr(rounded, "_search", watched)
    rounded.search_rounded(points, points, slack)
    ((vectors, _, rows, _, tiles, floors, margins, *_),) = seen
    lengths = np.linalg.norm(points, axis=1)
    sample = sample_rows(lengths, rounded._SAMPLED)
    known = search_dense(points[sample], points, slack[sample]).gap
    assert known <= margins.min()
    assert margins.max() <= known + 1e-9
    tops = (vectors @ (points - points.mean(axis=0)).T).max(axis=1)
    assert (floors <= tops).all()
    assert rows.packed.view(np.int8).max() == 127
    # In each coordinate a byte is half of its step off, at most.
    for parts in (rows, tiles):
        assert (parts.errors <= 0.51 * parts.scales * d**0.5).all()
        assert parts.scales.max() <= parts.lengths.max() / 120


SIZES = [
    (10, 10, 2, "dense"),
    (10, 10, 50, "dense"),
    (5000, 5000, 2, "plane"),
    (5000, 5000, 3, "shells"),
    (5000, 5000, 50, "rounded"),
    (400, 400, 50, "dense"),
    (1, 10**6, 2, "plane"),
    (1, 10**5, 9, "dense"),
]


@pytest.mark.parametrize(("directions", "points", "d", "name"), SIZES)
def test_a_search_suits_its_size(directions, points, d, name):
    assert suited(directions, points, d) == name


whole_numbers = st.lists(st.integers(-100, 100), min_size=4, max_size=4)


@settings(max_examples=examples(200))
@given(whole_numbers, st.integers(-300, 300), st.sampled_from([1, 3]))
def test_a_metric_in_floats_is_of_size_1_and_says_whether_it_is_exact(numbers, exponent, divisor):
    a, b, c, _ = numbers
    exact = [
        [Fraction(x, divisor) * Fraction(2) ** exponent for x in row] for row in ((a, b), (b, c))
    ]
    try:
        given = np.array(exact)
        if divisor == 1:
            given = given.astype(float)  # without rounding
        dynamics = hm.Dynamics("1/2", given)
    except hm.InputError:
        return
    metric = float_metric(dynamics)
    matrix = metric.matrix
    assert matrix is not None
    assert 0.5 <= np.abs(matrix).max() <= 2 or not any(map(any, exact))
    errors = [
        Fraction(float(matrix[i, j])) - exact[i][j] * metric.scale
        for i in range(2)
        for j in range(2)
    ]
    assert sum(error**2 for error in errors) <= Fraction(float(metric.error)) ** 2
    assert (metric.error == 0.0) == (not any(errors))


@settings(max_examples=examples(200))
@given(st.lists(st.integers(-320, 300), min_size=1, max_size=6))
def test_tokens_in_floats_neither_vanish_nor_overflow(exponents):
    tokens = np.array([[10.0**exponent, -(10.0**exponent) / 3] for exponent in exponents])
    if (tokens == 0).any():
        return
    points = hm.simulate(tokens, hm.Dynamics(1), layers=0).points
    frame = Frame.of(points)
    numbers = np.abs(frame.numbers)
    assert numbers.max() < 2.0**501
    assert len(exponents) > 1 or 2.0**-100 <= numbers.max() <= 2.0**100
    if max(exponents) - min(exponents) < 290:
        assert (numbers > 0).all()
    back = [[Fraction(float(x)) * frame.unit for x in row] for row in frame.numbers]
    least = Fraction(frame.error) * frame.unit
    for row, truth in zip(back, points.coordinates.tolist(), strict=True):
        assert all(abs(x - Fraction(y)) <= least for x, y in zip(row, truth, strict=True))


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("kind", ["causal", "mask", "heads", "steps"])
def test_of_a_random_cloud_in_any_layer_integers_look_at_hardly_any_lead(monkeypatch, scale, kind):
    random = np.random.default_rng(1)
    n = 70
    tokens = scale * random.normal(size=(n, 2))
    some = (random.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
    parts = {
        "causal": {"mask": "causal"},
        "mask": {"mask": some},
        "heads": {"heads": [hm.Head(), hm.Head(np.eye(2) + 1, 2)], "mask": "causal"},
        "steps": {"alpha": ["1", "1/3", "1/2"], "mask": "causal"},
    }
    looked = {"rivals": 0, "among": 0}
    soonest, among = general.FloatHead._soonest_change, general.FloatHead._among

    def counted_soonest(self, course, rivals):
        several = list(rivals)
        looked["rivals"] += len(several)
        return soonest(self, course, several)

    def counted_among(self, *arguments):
        looked["among"] += 1
        return among(self, *arguments)

    monkeypatch.setattr(general, "FEW_SCORES", 0)
    monkeypatch.setattr(general.FloatHead, "_soonest_change", counted_soonest)
    monkeypatch.setattr(general.FloatHead, "_among", counted_among)
    hm.simulate(tokens, hm.Dynamics(**{"alpha": "1/2"} | parts[kind]), layers=6)
    assert looked["among"] == 0
    assert looked["rivals"] <= 8


@pytest.mark.parametrize("exponent", [0, -280, 300])
@pytest.mark.parametrize("d", [3, 4])
def test_of_a_gaussian_cloud_few_points_stay_in_searches_and_floats_decide_them_all(
    monkeypatch, d, exponent
):
    tokens = np.random.default_rng(d).normal(size=(6000, d)) * 10.0**exponent
    search, sizes = active_set.find_furthest, []

    def watched(directions, points, slack):
        sizes.append(len(points))
        return search(directions, points, slack)

    monkeypatch.setattr(active_set, "find_furthest", watched)
    monkeypatch.setattr(policies.TieResolver, "_decide_exactly", None)
    run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=6)
    assert sizes[0] == len(tokens)
    assert sizes[-1] < 0.12 * len(tokens)
    assert run.error < 1e-14 * np.abs(tokens).max()


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e100])
@pytest.mark.parametrize("kind", ["topk", "localmax", "causal localmax"])
def test_of_thresholds_in_a_random_cloud_integers_look_at_few(monkeypatch, scale, kind):
    tokens = scale * np.random.default_rng(2).normal(size=(70, 2))
    slack = Fraction(3, 2) * Fraction(scale) ** 2
    attention = hm.TopK(3) if kind == "topk" else hm.Localmax(slack)
    mask = "causal" if kind.startswith("causal") else None
    looked = {"leads": 0, "among": 0}
    leads, among = general.threshold_leads, general.FloatHead._among

    def counted_leads(*arguments):
        looked["leads"] += 1
        return leads(*arguments)

    def counted_among(self, *arguments):
        looked["among"] += 1
        return among(self, *arguments)

    monkeypatch.setattr(general, "FEW_SCORES", 0)
    monkeypatch.setattr(general, "threshold_leads", counted_leads)
    monkeypatch.setattr(general.FloatHead, "_among", counted_among)
    hm.simulate(tokens, hm.Dynamics("1/2", attention=attention, mask=mask), layers=8)
    assert looked == {"leads": 0, "among": 0}
