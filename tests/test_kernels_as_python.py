"""Kernels run as Python do a little work without waiting for numba, and to the same bits as
compiled ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardmax as hm
from hardmax._kernels import compiling

TEXTS = [
    "",
    "A great film, the best of the year. Not bad at all!",
    "Awful.<br />The worst; I'd rather watch paint dry — really!?",
    "Ödön’s “große” film… 电影 很好 🙂 <b>GOOD</b> good GOOD",
    "\ud800 great \x00 film \u202e odd",
    "qzx qzx",
    "I wouldn’t say it isn't very good, but never boring: not dull, no",
    "the " * 300 + "good bad",
]
# Repeated, tied, zero, on a line, far apart in size, more than the plane.
CLOUDS = [
    [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]],
    [[0.1, 0.2], [0.1, 0.2], [0.0, 0.0]],
    [[2.0], [1.0], [-3.5]],
    [[1e-200, 1.0], [1e100, 3.0], [-1.0, 5.0]],
    np.random.default_rng(0).standard_normal((40, 3)).tolist(),
    np.random.default_rng(1).integers(-3, 4, (60, 2)).tolist(),
    np.round(np.random.default_rng(2).standard_normal((50, 2)), 1).tolist(),
]


def answers() -> list:
    """All that is found in the texts and clouds, with floats to the bit."""
    model, half = hm.load_model("sentiment-en"), hm.Dynamics("1/2", [[2, 1], [1, 3]])
    found: list = [model.predict_proba(TEXTS).tobytes().hex()]
    for text in TEXTS:
        why = model.explain(text)
        ledger = [
            [entry.word, entry.vote.hex(), entry.factor.hex(), entry.spans] for entry in why.ledger
        ]
        found.append(
            [why.logit.hex(), ledger, why.links, model.predict_proba([text]).tobytes().hex()]
        )
    for cloud in CLOUDS:
        lim = hm.limit(cloud, half if len(cloud[0]) == 2 else hm.Dynamics("1/2"))
        found.append(
            [
                lim.leaders.tolist(),
                lim.settled_at,
                lim.limit_points.tobytes().hex(),
                lim.run.decided_by[0],
            ]
        )
    return json.loads(json.dumps(found))


def run(program: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    command = [
        sys.executable,
        "-c",
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n{program}",
    ]
    done = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_without_numba_all_is_as_compiled_kernels_have_it(monkeypatch):
    program = """
import json, warnings
warnings.simplefilter("error")
from test_kernels_as_python import answers
print(json.dumps([answers(), "numba" in sys.modules, "scipy" in sys.modules]))
"""
    interpreted, numba, scipy = json.loads(run(program).stdout)
    assert not numba
    assert not scipy
    monkeypatch.setattr(compiling.Kernel, "is_ready", True)
    assert answers() == interpreted


def test_with_nothing_compiled_a_little_work_takes_less_than_a_second_whatever_was_called_before(
    tmp_path,
):
    program = """
import time, numpy as np, hardmax as hm
from hardmax._tokens.points import table_size, find_equal_rows
rows = np.ones((1, 2), dtype=int)
find_equal_rows(rows, np.empty(table_size(1), np.int32), *np.empty((2, 1), dtype=int))
assert 'numba' in sys.modules
cloud, text = hm.clouds.square(inside=[(0.5, 0)]), "An awful script, but the cast is great."
model = hm.load_model("sentiment-en")
began = time.process_time()
model.explain(text).removals, model.flip(text), model.predict([text, text])
lim = hm.limit(cloud, hm.Dynamics("1/2"))
hm.verify(lim.prove()), hm.check_theorem(lim)
hm.limits([cloud, cloud], hm.Dynamics("1/2")).limit_points
print(time.process_time() - began)
"""
    done = run(program, NUMBA_CACHE_DIR=str(tmp_path))
    assert float(done.stdout) < 1
    assert [line.partition(",")[0] for line in done.stderr.splitlines()] == [
        "hardmax: compiling kernels"
    ]


@pytest.mark.check
def test_after_a_while_there_is_work_worth_compiling_for():
    program = """
import hardmax as hm
from hardmax._kernels import compiling
compiling._PATIENCE = 0.1
rounds = 0
while 'numba' not in sys.modules:
    hm.simulate(hm.clouds.gaussian(80, 2), hm.Dynamics('1/2', mask='causal'), 2)
    rounds += 1
print(rounds > 1)
"""
    assert run(program).stdout == "True\n"


@pytest.mark.check
def test_kernels_run_as_python_answer_adversarial_problems_as_integers_do():
    program = """
from hardmax._kernels import compiling
from hardmax._float.kernels import keep_well_inside
from soak.checks import judge
from soak.problems import problem

compiling._PATIENCE = 1e9
chosen = [asked for asked in map(problem, range(200)) if asked.answerer == "processor"]
chosen = [asked for asked in chosen if asked.tokens.size * len(asked.tokens) <= 2**14]
with compiling.interpreted(keep_well_inside, if_small=True):
    wrong = [str(each) for each in chosen if judge(each)]
print(len(chosen) > 10, wrong, "numba" in sys.modules)
"""
    assert run(program).stdout == "True [] False\n"
