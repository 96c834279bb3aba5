"""Clouds whose layers are too many, or whose exact numbers are too long, to be walked one by one."""

import json
import re
from fractions import Fraction

import oracle
import pytest
from hostile_certificates import endless

import hardmax as hm
from hardmax import _run as walking
from hardmax import theorem

# One token ties leaders, until another overtakes them: after 1.335 / alpha layers.
OVERTAKEN = [[0, -2, 2], [-4, 4, -4], [-1, 4, 1], [-3, 4, -3], [0, -3, 2], [-4, 1, 1], [-1, 1, 2]]
# The last token ties two that move for ever: it overtakes them after some 1.5 / (alpha delta) layers.
RESONANT = [(2 - 2.0**-14, 2), (2 - 2.0**-14, -2), (2, 1), (2, -1), (0.5, 0)]
EPS = ("1e-3", "1", "2", "3", "4", "5", "6", "7", "7.3", "100")


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_layers_to_a_distance_are_those_of_the_definition_also_within_an_event(arithmetic):
    lim = hm.limit(OVERTAKEN, hm.Dynamics("1/20"), arithmetic=arithmetic)
    assert lim.settled_at == 28
    squares = []
    for tokens, _ in oracle.walk([[Fraction(x) for x in z] for z in OVERTAKEN], Fraction(1, 20), None, 250):
        ways = zip(tokens, lim.exact_points.tolist(), strict=True)
        squares.append(max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in ways))
    for eps in EPS:
        beyond = [layer for layer, square in enumerate(squares) if square > Fraction(eps) ** 2]
        assert lim.layers_to(eps) == (beyond[-1] + 1 if beyond else 0)
    assert lim.distance_to_limit(20) ** 2 == pytest.approx(float(squares[20]), rel=1e-15)


@pytest.mark.parametrize("alpha", ["1/5000", "1e-6", "1e-12"])
def test_a_limit_with_a_long_event_answers_at_once(alpha):
    lim = hm.limit(OVERTAKEN, hm.Dynamics(alpha), at_most=10**13)
    assert lim.settled_at is not None
    assert float(Fraction(alpha)) * lim.settled_at == pytest.approx(1.335, abs=1e-3)
    assert lim.to_dict()["layers_to_1e-6"] == lim.layers_to("1e-6")
    for eps in EPS:
        layer = lim.layers_to(eps)
        assert lim.distance_to_limit(layer) <= float(eps)
        assert layer == 0 or lim.distance_to_limit(layer - 1) >= float(eps) * (1 - 1e-15)


def test_the_theorem_is_checked_on_as_many_layers_as_can_be_afforded(monkeypatch):
    monkeypatch.setattr(theorem, "MOST_WORK", 10**7)
    lim = hm.limit(OVERTAKEN, hm.Dynamics("1e-6"), at_most=10**7)
    report = hm.check_theorem(lim)
    assert report
    assert report.undecided


@pytest.mark.parametrize("alpha", ["1e-14", "1e-17"])
def test_a_cloud_whose_exact_numbers_would_fill_memory_is_given_up_with_what_is_known(alpha):
    lim = hm.limit(OVERTAKEN, hm.Dynamics(alpha), at_most=10**20)
    assert lim.settled_at is None
    assert len(lim.leaders) == 4
    assert re.fullmatch(r"gave up at layer 133[\d,]+: exact positions would have more than 100,000 digits", lim.stopped)
    assert lim.run.attended(lim.run.layers)[4].tolist() == [4]
    assert lim.bound < 20
    with pytest.raises(hm.InputError, match="`layer` 133"):
        hm.simulate(OVERTAKEN, hm.Dynamics(alpha), layers=10**19, record="last")


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_a_tie_of_tokens_that_move_for_ever_is_given_up(arithmetic, monkeypatch):
    monkeypatch.setattr(walking, "_MOST_WORK", 10**5)
    lim = hm.limit(RESONANT, hm.Dynamics("1/2"), arithmetic=arithmetic)
    assert lim.settled_at is None
    assert lim.leaders.tolist() == [0, 1]
    assert re.fullmatch(
        r"gave up at layer \d\d\d: exact positions have \d+ digits by now, and more with every layer", lim.stopped
    )
    assert lim.points.shape == (5, 2)


def test_a_checker_that_gives_up_names_the_effort_that_all_layers_need():
    proof = hm.limit(OVERTAKEN, hm.Dynamics("1/200")).certificate
    verdict = hm.verify(proof, effort=0.02)
    assert not verdict.decided
    (needed,) = map(int, re.findall(r"effort=(\d+)", verdict.reason))
    assert needed == 1
    assert hm.verify(proof, effort=needed)
    reason = hm.verify(json.loads(endless()), effort=0.01).reason
    (needed,) = map(int, re.findall(r"effort=(\d+)", reason))
    assert needed > 10**20
