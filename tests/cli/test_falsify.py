"""`hardmax falsify`: a TOML file in, a counterexample and its proofs out."""

import json

import pytest

import hardmax as hm
from hardmax._questions.statements import STATEMENTS

STATEMENT = "all tokens meet"
DRAWN = {"tokens": [3, 4], "dimensions": 2, "alphas": ["1/2", 1], "metrics": ["identity"]}


@pytest.fixture
def spec(here):
    drawn = "".join(f"{name} = {json.dumps(value)}\n" for name, value in DRAWN.items())
    (here / "spec.toml").write_text(f'statement = "{STATEMENT}"\ntries = 20000\nseed = 3\n{drawn}')
    (here / "true.toml").write_text('statement = "Theorem 1.1"\ntries = 9\nmax_layers = 50')
    return here


def test_a_counterexample_is_printed_and_its_proofs_are_written(spec, hardmax):
    found = hm.falsify(STATEMENT, seed=3, tries=20_000, **DRAWN)
    ended = hardmax("falsify spec.toml -o proof.json")
    assert (ended.code, ended.out) == (0, f"{found}\n")
    assert ended.err == "wrote proof.json\n"
    assert hardmax("verify proof.json").code == 0
    document = json.loads(hardmax("falsify spec.toml --json").out)
    assert document == {"hardmax": hm.__version__} | found.to_dict()


def test_a_statement_is_typed_without_a_file(spec, hardmax):
    found = hm.falsify(STATEMENT, tries=9, seed=5)
    assert hardmax(f"falsify '{STATEMENT}' --tries 9 --seed 5").out == f"{found}\n"
    assert json.loads(hardmax("falsify true.toml --tries 4 --json").out)["tried"] == 4


def test_none_found_is_no_failure_and_no_proof(spec, hardmax):
    ended = hardmax("falsify true.toml -o proof.json")
    assert (ended.code, ended.err[:16]) == (0, "no proof written")
    assert ended.out == "Theorem 1.1\nno counterexample in 9 cases: this proves nothing\n"
    assert not (spec / "proof.json").exists()
    assert json.loads(hardmax("falsify true.toml --json").out)["tried"] == 9


def test_ctrl_c_prints_what_was_tried(spec, hardmax, monkeypatch):
    def interrupted(case):
        raise KeyboardInterrupt

    named = STATEMENTS["Theorem 1.1"]
    broken = type(named)("Theorem 1.1", interrupted, named.drawn)
    monkeypatch.setitem(STATEMENTS, "Theorem 1.1", broken)
    ended = hardmax("falsify true.toml")
    assert ended.code == 130
    assert "interrupted" in ended.out
