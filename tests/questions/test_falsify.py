"""`falsify`: what it calls a counterexample is one, by the oracle; searches are repeatable, small,
and leave nothing behind."""

from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from known import rational
from refusals import listed_refusals

import hardmax as hm
from hardmax._questions.statements import STATEMENTS

pytestmark = pytest.mark.filterwarnings("ignore:the theorem does not apply")
STEEP = [[1, 0], [0, 5]]
AXIS = "2 2, 2 -2, 2 0, 1 0"
NILPOTENT = {"value": [[0, 2], [0, 0]]}
# What each says of small cases: a statement, tokens, parts of the layer, and where it breaks, if it
# does.
BREAKS = [
    ("leaders are never lost", "-1 0, -1 -1", NILPOTENT, (1, 1)),
    ("the settling lemma", "2 1, 0 2, 1 0", {"metric": STEEP, "mask": "causal"}, (2, 2)),
    ("all tokens meet", "1, -1", {}, (None, 1)),
    ("vertices of the initial hull stay", "1, 2", {}, (1, 0)),
    ("every token ends at a leader", AXIS, {}, (None, 2)),
    ("the number of leaders never grows", "2 0, 2 2, 1 -1", {"alpha": "1/2"}, (2, 2)),
    ("norms strictly grow until the limit", "1 0, 0 -2, 1 -1, 1 1", {}, (0, 0)),
    ("leaders do not depend on alpha", "1 1, -2 2, 0 2", {"alpha": "1/4"}, (None, None)),
]
HOLDS = [("Theorem 1.1", AXIS), ("all tokens meet", "1, 2")]
HOLDS += [("vertices of the initial hull stay", "1, -1, 0")]
PLAIN = "leaders are never lost|every token ends at a leader|the number of leaders never grows"
PLAIN += "|norms strictly grow until the limit|leaders do not depend on alpha"
HOLDS += [(name, "3, 1") for name in PLAIN.split("|")]


def said_of(name, tokens, parts):
    dynamics = hm.Dynamics(**{"alpha": 1} | parts)
    lim = hm.limit(rational(tokens), dynamics, arithmetic="exact")
    return STATEMENTS[name].holds(lim)


@pytest.mark.parametrize(("name", "tokens", "parts", "place"), BREAKS)
def test_statements_break_at_a_layer_and_a_token(name, tokens, parts, place):
    broken = said_of(name, tokens, parts)
    assert not broken
    assert (broken.layer, broken.token) == place


@pytest.mark.parametrize(("name", "tokens"), HOLDS)
def test_statements_hold(name, tokens):
    assert said_of(name, tokens, {}) is True


def test_without_a_mask_the_settling_lemma_holds():
    assert said_of("the settling lemma", "2 1, 0 2, 1 0", {"metric": STEEP}) is True


def test_a_theorem_that_failed_would_be_reported(monkeypatch):
    from hardmax import theorem
    from hardmax._questions import statements

    failed = theorem.Statement("leaders exist", theorem.FAILS, "seen")
    monkeypatch.setattr(statements, "check_theorem", lambda lim: [failed])
    assert str(hm.falsify("Theorem 1.1", tries=5).broken) == "leaders exist: seen"


def matrix(table):
    if table is None:
        return None
    return [[*map(Fraction, row)] for row in table.tolist()]


def alone(cloud, dynamics):
    """Who attends to itself alone, by layers, by the oracle."""
    alpha, n = dynamics.alpha, len(cloud)
    mask = None
    if isinstance(dynamics.mask, str):
        mask = np.tri(n, dtype=bool).tolist()
    given = {name: matrix(getattr(dynamics, name)) for name in ("metric", "value")}
    parts = oracle.Parts(step=lambda layer: alpha, mask=mask, **given)
    for _, (sets,) in islice(oracle.any_walk(cloud, parts), 30):
        yield {i for i, chosen in enumerate(sets) if chosen == {i}}


@pytest.mark.parametrize("seed", [0, 1])
def test_a_counterexample_is_one_small_proved_and_the_same_again(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search: Any = {"values": ["any"], "dimensions": 2, "seed": seed, "tries": 200}
    found = hm.falsify("leaders are never lost", **search)
    lim = found.counterexample
    assert lim.n <= 3
    start = lim.run.at(0, exact=True)
    assert abs(start).max() <= 9
    leads = alone(start.tolist(), lim.run.dynamics)
    assert any(now - later for now, later in pairwise(leads))
    assert hm.verify(lim.prove(), of=start, dynamics=lim.run.dynamics)
    assert str(hm.falsify("leaders are never lost", **search)) == str(found)
    assert [*tmp_path.iterdir()] == []
    made: Any = {"hm": hm}  # what is printed makes it
    exec(str(found).partition("\n\n")[2], made)
    made_cloud = np.array(made["cloud"], dtype=object)
    assert (made_cloud == start).all()
    assert made["dynamics"] == lim.run.dynamics
    plain = found.to_dict()
    assert plain["false"] is True
    assert plain["broken"]["layer"] == found.broken.layer
    assert hm.Dynamics(**plain["dynamics"]) == lim.run.dynamics


def test_a_function_may_be_a_statement_of_what_is_drawn():
    seen = []

    def holds(lim):
        seen.append(lim)
        four = hm.results.Broken("four", layer=0)
        return four if lim.n == 4 else np.bool_(True)

    drawn: Any = {"tokens": (2, 4), "dimensions": 2, "alphas": ["1/3"]}
    found = hm.falsify(holds, masks=["random"], metrics=["symmetric"], **drawn)
    assert found.statement == "holds"
    assert str(found.broken) == "layer 0: four"
    lim = found.counterexample
    assert (lim.n, lim.d) == (4, 1)
    # Four distinct numbers other than 0, as simple as they get.
    assert sorted(lim.run.at(0, exact=True).ravel()) == [-2, -1, 1, 2]
    for lim in seen:
        dynamics, cloud = lim.run.dynamics, lim.run.at(0, exact=True)
        assert dynamics.alpha == Fraction(1, 3)
        assert dynamics.mask.diagonal().all()
        metric = dynamics.metric
        assert metric is None or (metric == metric.T).all()
        assert len(set(map(tuple, cloud.tolist()))) == lim.n
        assert (cloud != 0).any(axis=1).all()


def test_clouds_are_of_integers_or_of_halves():
    seen = []
    hm.falsify(lambda lim: seen.append(lim.run.at(0, exact=True)), tries=40)
    units = {max(x.denominator for x in cloud.flat) for cloud in seen}
    assert units == {1, 2}


def test_the_guide_names_every_statement():
    guide = (Path(__file__).parents[2] / "docs" / "falsify.md").read_text().replace("\n", " ")
    assert [name for name in STATEMENTS if f'"{name}"' not in guide] == []


def test_none_found_counts_what_is_undecided_and_what_was_tried(told):
    true = hm.falsify("Theorem 1.1", tries=20, seed=1)
    assert not true
    assert true.tried == 20
    assert told[-1] == ("cases", 20, 20)
    assert "this proves nothing" in str(true)
    never = hm.falsify(lambda lim: None, tries=9)
    assert repr(never) == "Falsification(none in 9 cases, 9 undecided)"
    assert never.to_dict()["false"] is False


def test_ctrl_c_gives_what_there_is():
    calls = []

    def holds(lim):
        calls.append(lim)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return len(calls) < 3

    found = hm.falsify(holds)
    assert found
    assert found.interrupted
    assert found.counterexample is calls[3]


def falsify(**arguments):
    return hm.falsify(**{"statement": "all tokens meet"} | arguments)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
