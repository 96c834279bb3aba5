"""What docs/claims.md says is found is found by its script, and so is each counterexample."""

import re
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
# How the page puts the outcome of each claim: cases tried, cases that break it.
TOLD = {
    "2407.01602, Theorem 1.1": "holds on all {0} clouds tried, full of ties",
    "2508.09628 v1, Theorem 3.1": "by {1} of {0} random pairs within 60 layers",
    "the same, origin always in the hull": "none of {0} clouds breaks it",
    "2508.09628 v1, Theorem 4.2": "holds on all {0} clouds tried, and follows from",
    "the same, any shares in (0, 1)": "following the leader 1, ends at 3/4",
    "the same, without its hypothesis": "the vertex (0, 1/4) leaves for (1, 1/3)",
    "2508.09628 v1, abstract": "meet at 1/3 with alpha 1/2, at 1519/14641 with alpha 1/10",
    "2508.09628 v1, Proposition 4.5": "holds on all {0} clouds tried ($A = I$",
    "2604.14727 v1, power cells": "holds on all {0} clouds tried, and is an identity",
    "2509.15958 v1, hull to polytope": "as it is for {0} of 100 clouds",
    "2509.15958 v1, not in finite time": "holds on all {0} clouds tried: one that moves",
    "2509.15958 v1, vanishing slack": "in all {0} clouds tried",
}
BROKEN = {
    "2508.09628 v1, Theorem 3.1",
    "the same, any shares in (0, 1)",
    "the same, without its hypothesis",
    "2508.09628 v1, abstract",
}


pytestmark = pytest.mark.check  # the script takes a while


@pytest.fixture(scope="module")
def audit():
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    names = runpy.run_path(str(ROOT / "examples" / "beyond" / "plot_claims.py"))
    plt.close("all")
    return names


def test_the_page_says_of_each_claim_what_the_script_finds(audit):
    assert audit["tally"].keys() == TOLD.keys()
    for claim, outcome in audit["tally"].items():
        assert TOLD[claim].format(*outcome) in PAGE, claim
        assert (outcome[1] > 0) == (claim in BROKEN), claim


def test_every_figure_of_tried_clouds_on_the_page_is_one_of_the_script(audit):
    tried = {outcome[0] for outcome in audit["tally"].values()}
    found = {int(number) for number in re.findall(r"all (\d+) clouds tried", PAGE)}
    assert found <= tried
    assert len(re.findall(r"all \d+ clouds tried", PAGE)) == len(
        [told for told in TOLD.values() if "all {0} clouds tried" in told]
    )


@pytest.mark.parametrize(("tokens", "layer"), [((1, "-1/1000"), 35), ((3, -1), 575)])
def test_the_printed_bound_is_exceeded_at_the_layer_that_the_page_says(audit, tokens, layer):
    cloud = np.array([[Fraction(token)] for token in tokens])
    assert audit["within_bound"](cloud, layer)
    assert not audit["within_bound"](cloud, layer + 1)
    assert f"$t = {layer}$" in PAGE
