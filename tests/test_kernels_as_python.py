"""Kernels run as Python do a little work without waiting for numba, and to the same bits as compiled ones."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import hardmax as hm
from hardmax import _compile as compiling
from hardmax._float.search import ONLY_IN, SEARCHES

TEXTS = [
    "",
    "A great film, the best of the year. Not bad at all!",
    "Awful.<br />The worst; I'd rather watch paint dry — really!?",
    "Ödön’s “große” film… 电影 很好 🙂 <b>GOOD</b> good GOOD",
    "\ud800 great \x00 film \u202e odd",
    "qzx qzx",
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
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_kernels_as_python import answers
found = answers()
print(json.dumps([found, "numba" in sys.modules, "scipy" in sys.modules]))
"""


def answers() -> list:
    """All that is said of the texts and clouds, with floats to the bit."""
    model, half = hm.load("imdb-2d"), hm.Dynamics("1/2", [[2, 1], [1, 3]])
    told = []
    for text in TEXTS:
        why = model.explain(text)
        spans = [share.spans for share in why.ledger]
        told.append([why.logit.hex(), [share.mass.hex() for share in why.ledger], [share.word for share in why.ledger]])
        told.append([spans, model.predict_proba([text]).tobytes().hex()])
    told.append(model.predict_proba(TEXTS).tobytes().hex())
    for cloud in CLOUDS:
        dynamics = half if len(cloud[0]) == 2 else hm.Dynamics("1/2")
        limit = hm.limit(cloud, dynamics)
        told.append([limit.leaders.tolist(), limit.settled_at, limit.points.tobytes().hex(), limit.run.decided_by[0]])
    return json.loads(json.dumps(told))


def test_without_numba_all_is_as_compiled_kernels_have_it(monkeypatch):
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, __file__.rpartition("/")[0]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    interpreted, numba, scipy = json.loads(told.stdout)
    assert not numba
    assert not scipy
    monkeypatch.setattr(compiling.Kernel, "_is_sooner_interpreted", lambda *_: False)
    assert answers() == interpreted


FIRST = """
import time, numpy as np, hardmax as hm
from hardmax._float.bounds import norms_above
norms_above(np.ones((1, 2)))  # numba is imported, and a kernel compiled
cloud, text = hm.clouds.square(inside=[(0.5, 0)]), "An awful script, but the cast is great."
model = hm.load("imdb-2d")
began = time.process_time()
model.explain(text).removals, model.flip(text), model.predict([text, text])
lim = hm.limit(cloud, hm.Dynamics("1/2"))
hm.verify(lim.certificate), hm.check_theorem(lim), hm.limit([cloud, cloud], hm.Dynamics("1/2")).points
print(time.process_time() - began)
"""


def test_with_nothing_compiled_a_little_work_takes_less_than_a_second_whatever_was_called_before(tmp_path):
    cold = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", FIRST], env=cold, capture_output=True, text=True, check=True)
    assert float(told.stdout) < 1
    assert [line.partition(",")[0] for line in told.stderr.splitlines()] == ["hardmax: compiling kernels"]


def test_every_search_can_be_the_first_thing_that_is_asked_for():
    code = """
import numpy as np, hardmax as hm
from hardmax.engines import Cpu
cloud = np.random.default_rng(0).standard_normal((12, {dimension}))
print(hm.simulate(cloud, hm.Dynamics("1/2"), layers=2, engine=Cpu("{search}")).leaders.tolist())
"""
    for search in SEARCHES:
        dimension = ONLY_IN.get(search, 6)
        cloud = np.random.default_rng(0).standard_normal((12, dimension))
        told = subprocess.run(
            [sys.executable, "-c", code.format(search=search, dimension=dimension)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, (search, told.stderr)
        assert json.loads(told.stdout) == hm.simulate(cloud, hm.Dynamics("1/2"), layers=2).leaders.tolist()


def test_after_a_while_there_is_work_worth_compiling_for():
    code = (
        "import sys, time, hardmax as hm\n"
        "from hardmax import compiling\n"
        "compiling._IMPORTING = 0.01\n"
        "rounds = 0\n"
        "while 'numba' not in sys.modules:\n"
        "    hm.limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], hm.Dynamics('1/2'))\n"
        "    rounds += 1\n"
        "print(rounds > 1)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "True\n"


@pytest.mark.parametrize("name", ["imdb-2d", "imdb-16d"])
def test_a_short_text_is_read_alike_by_the_definition_and_by_the_kernels(name):
    from hardmax.text.tokens.lexicon import lexicon_of
    from hardmax.text.tokens.places import read_long

    model = hm.load(name)
    for text in TEXTS:
        short = model.read(text)
        long = read_long(text, lexicon_of(model.vocabulary, model.tokeniser), model.tokeniser, model.extra is not None)
        assert short.encoded.ids.tolist() == long.encoded.ids.tolist()
        assert short.encoded.counts.tolist() == long.encoded.counts.tolist()
        assert [place.tolist() for place in short.places] == [place.tolist() for place in long.places]


ADVERSARIAL = """
import sys
sys.path.insert(0, sys.argv[1])
from hardmax import compiling
from hardmax._float.kernels import mark_furthest
from soak.checks import judge
from soak.problems import problem
from soak.problems import QUICK
from soak.problems import Tier

compiling._IMPORTING = 1e9
small = [asked for asked in map(problem, QUICK[:400]) if asked.tier is Tier.SMALL and asked.engine.name == "processor"]
chosen = [asked for asked in small if asked.engine.search is None and asked.tokens.size * len(asked.tokens) <= 2**14]
with compiling.interpreted(mark_furthest):
    wrong = [str(asked) for asked in chosen if judge(asked).wrong]
print(len(chosen) > 10, wrong, "numba" in sys.modules)
"""


def test_kernels_run_as_python_answer_adversarial_problems_as_integers_do():
    command = [sys.executable, "-c", ADVERSARIAL, __file__.rpartition("/")[0]]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.stdout == "True [] False\n", told.stdout + told.stderr
