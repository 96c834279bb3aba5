"""The tutorial runs from top to bottom, and its numbers are those that follow by hand."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hardmax as hm
from hardmax.text import Corpus, Vocabulary, make_synthetic_corpus

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
NEEDS = ("matplotlib", "sklearn")


def results_of(cell: str, names: dict[str, Any]) -> str:
    """The `repr` of the last expression of a cell, as a notebook shows it."""
    *before, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        exec(cell, names)
        return ""
    exec(compile(ast.Module(before, []), "tutorial", "exec"), names)
    return repr(eval(compile(ast.Expression(last.value), "tutorial", "eval"), names))


@pytest.mark.docs
def test_the_tutorial_runs_and_shows_what_follows_by_hand(tmp_path, monkeypatch, capsys):
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    cells = re.findall(
        r"^```{code-cell}\n(.*?)^```$", TUTORIAL.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    results = [results_of(cell, names) for cell in cells]
    plt.close("all")
    shown, printed = "\n".join(results), capsys.readouterr().out
    assert "AttendedSets([[0], [1], [2], [3], [0, 3], [1, 2], …])" in shown
    assert "array([Fraction(2, 3), Fraction(0, 1)], dtype=object)" in shown  # a third of the way
    assert "Polytope(dimension 2 in R^2, 4 points)" in shown
    assert "Verdict(accepted=True, " in shown
    assert "Verdict(accepted=False, " in shown
    assert "array([Fraction(3, 5), Fraction(4, 5)], dtype=object)" in shown
    assert "leaders [0 1 2 3] · settled at layer 0" in printed
    assert printed.count(" holds ") == 7
    assert "['negative' 'positive']" in printed
    assert float(results[-2]) > 0.9
    assert results[-1] == "True"


def test_the_repr_of_a_large_object_is_one_short_line():
    many = hm.limit(np.vstack([hm.clouds.gaussian(300, 3), np.zeros((1, 3))]), hm.Dynamics(1))
    # A token on the diagonal ties all forty unit vectors, and ends in the middle of their face.
    wide = hm.limit(np.vstack([np.eye(40), np.full((1, 40), 0.01)]), hm.Dynamics(1))
    known = Vocabulary([f"word{k}" for k in range(1000)], np.ones((1000, 2)))
    planted = make_synthetic_corpus(300)
    things = [many.clusters, wide.clusters, hm.check_theorem(wide), known, planted]
    things += [hm.Clouds(np.ones((3000, 2)), [0, 1, 3000]), Corpus(planted.texts, planted.labels)]
    for thing in things:
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) < 200
        assert "\n" not in repr(thing)
