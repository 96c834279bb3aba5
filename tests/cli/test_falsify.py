"""`hardmax falsify`: a TOML file in, a counterexample and its proofs out."""

import json

import pytest
from test_simulate import table

import hardmax as hm
from hardmax._questions.statements import STATEMENTS

SPEC = """
statement = "leaders do not depend on alpha"
seed = 3
tries = 20000

[family]
tokens = [3, 4]
dimensions = 2
size = 3
alphas = ["1/2", 1]
metrics = ["identity"]
"""


@pytest.fixture
def spec(here):
    (here / "spec.toml").write_text(SPEC)
    (here / "true.toml").write_text('statement = "Theorem 1.1"\ntries = 9\nmax_layers = 50')
    (here / "bound.toml").write_text('statement = "J(t + 1) <= 2 λ diam² / (t + 1)"')
    return here


def test_statements_with_names_are_listed(hardmax):
    rows = table(hardmax("falsify --list").out)
    assert {row["statement"]: row["about"] for row in rows} == {
        name: named.about for name, named in STATEMENTS.items()
    }
    assert {*json.loads(hardmax("falsify --list --json").out)["statements"]} == {*STATEMENTS}


def test_a_counterexample_is_printed_and_its_proofs_are_written(spec, hardmax):
    family = {"tokens": (3, 4), "dimensions": 2, "size": 3, "alphas": ["1/2", 1]}
    statement = "leaders do not depend on alpha"
    found = hm.falsify(statement, family | {"metrics": ["identity"]}, seed=3, tries=20_000)
    ended = hardmax("falsify spec.toml -o proof.json")
    assert (ended.code, ended.out) == (0, f"{found}\n")
    assert ended.err == "wrote proof.json\nwrote proof-2.json\n"
    alphas = [
        json.loads((spec / name).read_text())["layer"]["alpha"]
        for name in ("proof.json", "proof-2.json")
    ]
    assert alphas[0] != alphas[1]
    for name in ("proof.json", "proof-2.json"):
        assert hardmax(f"verify {name}").code == 0
    document = json.loads(hardmax("falsify spec.toml --json").out)
    assert document.pop("hardmax") == hm.__version__
    assert document == found.to_dict()
    other = json.loads(hardmax("falsify spec.toml --json --seed 4").out)
    assert other["drawn"] != document["drawn"]


def test_none_found_is_no_failure_and_no_proof(spec, hardmax):
    ended = hardmax("falsify true.toml -o proof.json")
    assert (ended.code, ended.err) == (0, "no proof written: there is no counterexample\n")
    assert ended.out == "Theorem 1.1\nno counterexample in 9 cases: this proves nothing\n"
    assert not (spec / "proof.json").exists()
    assert json.loads(hardmax("falsify true.toml --json --tries 4").out)["tried"] == 4


def test_full_steps_have_no_proof_to_write(spec, hardmax):
    ended = hardmax("falsify bound.toml -o proof.json")
    assert ended.code == 0
    assert ended.err == "no proof written: the layers that break it are all there is\n"
    assert "'inf', 2, 1, '2/3'" in ended.out
    assert not (spec / "proof.json").exists()


def test_ctrl_c_prints_what_was_tried(spec, hardmax, monkeypatch):
    def interrupted(case):
        raise KeyboardInterrupt

    named = STATEMENTS["Theorem 1.1"]
    monkeypatch.setitem(
        STATEMENTS, "Theorem 1.1", type(named)("Theorem 1.1", "", interrupted, named.family)
    )
    ended = hardmax("falsify true.toml")
    assert ended.code == 130
    assert ended.out.endswith("no counterexample in 1 case, interrupted: this proves nothing\n")
