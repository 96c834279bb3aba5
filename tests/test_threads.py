"""Work shared out among threads: every task once, on any number of them, after a fork, from many threads at once."""

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from effort import some

import hardmax as hm
from hardmax import _parallel as threads
from hardmax._parallel import limit_threads, parallel_for, threads_now

HALF = hm.Dynamics("1/2")


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("tasks", [0, 1, 2, 9, 10, 1000])
@pytest.mark.parametrize("pause", [0.0, 2e-5, 3e-4])
def test_every_task_is_done_once(count, tasks, pause):
    done, wait = [], threading.Event()

    def work(first, last, name):
        assert name == "given"
        wait.wait(pause * (last - first))
        done.extend(range(first, last))

    with limit_threads(count):
        parallel_for(work, tasks, ("given",))
    assert sorted(done) == list(range(tasks))


def test_threads_take_part_where_there_is_much_to_do():
    seen, both = set(), threading.Barrier(2, timeout=60)

    def work(first, last):
        if threading.current_thread() not in seen and first > 0:
            seen.add(threading.current_thread())
            both.wait()  # nobody goes on before the other has come
        elif first == 0:
            threading.Event().wait(0.001)

    with limit_threads(2):
        parallel_for(work, 100, ())
    assert len(seen) == 2


def test_what_goes_wrong_in_a_thread_is_told_and_the_rest_is_left():
    done = []

    def work(first, last):
        threading.Event().wait(0.001)
        done.append(first)
        if first > 3:
            raise KeyboardInterrupt

    with limit_threads(3), pytest.raises(KeyboardInterrupt):
        parallel_for(work, 10_000, ())
    assert len(done) < 1000


def test_a_limit_holds_in_its_block_alone():
    before = threads_now()
    with limit_threads(1):
        assert threads_now() == 1
        with limit_threads(None):
            assert threads_now() == 1
    assert threads_now() == before


@pytest.mark.parametrize(("told", "used"), [("3", 3), ("0", None), ("many", None), ("", None)])
def test_the_environment_may_tell_how_many(monkeypatch, told, used):
    monkeypatch.setenv("NUMBA_NUM_THREADS", told)
    assert threads.most_threads() == (used or threads.most_threads())
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    assert threads.most_threads() >= 1


CLOUDS = np.random.default_rng(0).standard_normal((12, 20_000, 3))


def test_many_threads_at_once_find_what_one_finds():
    def leaders(cloud):
        return hm.limit(cloud, HALF).leaders.tolist()

    alone = [leaders(cloud) for cloud in CLOUDS[:6]]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(leaders, CLOUDS[:6])) == alone


# `os.fork` by hand: a child that hangs is seen, and killed, without a pool that waits for it.
FORK = """
import os, signal, sys, time, warnings
import numpy as np
import hardmax as hm

warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks while threads are there
cloud = np.random.default_rng(0).standard_normal((20_000, 3))
texts = ["A great film.", "Awful!"] * 5000
model = hm.load("imdb-2d")
work = lambda: (hm.limit(cloud, hm.Dynamics("1/2")).leaders.tolist(), model.predict_proba(texts).tobytes())
mine = work()
children = []
for _ in range(3):
    child = os.fork()
    if not child:
        os._exit(0 if work() == mine else 1)
    children.append(child)
deadline, left = time.monotonic() + 120, set(children)
codes = []
while left and time.monotonic() < deadline:
    for child in list(left):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            left.remove(child)
            codes.append(os.waitstatus_to_exitcode(status))
    time.sleep(0.05)
for child in left:
    os.kill(child, signal.SIGKILL)
assert work() == mine
print(codes, len(left))
"""


@pytest.mark.skipif(not hasattr(threads.os, "fork"), reason="this system cannot fork")
def test_children_of_a_fork_work_as_their_parent_did():
    told = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=300, check=False)
    assert (told.stdout, told.returncode) == ("[0, 0, 0] 0\n", 0), told.stderr


@pytest.mark.skipif(not hasattr(threads.os, "fork"), reason="this system cannot fork")
def test_a_child_of_a_fork_starts_threads_of_its_own():
    code = (
        "import os, threading, time, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from hardmax._parallel import limited_to, parallel_for\n"
        "def count():\n"
        "    who = set()\n"
        "    def work(first, last): time.sleep(0.05 * (last - first)); who.add(threading.get_ident())\n"
        "    with limited_to(2): parallel_for(work, 10, ())\n"
        "    return len(who)\n"
        "assert count() == 2\n"
        "child = os.fork()\n"
        "if not child: os._exit(count())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert told.stdout == "2\n", told.stderr


LOADER = """
import numpy as np, torch
import hardmax as hm

half = hm.Dynamics("1/2")
clouds = np.random.default_rng(0).standard_normal((6, 5_000, 3))

class Leaders(torch.utils.data.Dataset):
    def __len__(self):
        return len(clouds)
    def __getitem__(self, number):
        return len(hm.limit(clouds[number], half).leaders)

here = [Leaders()[number] for number in range(6)]
loader = torch.utils.data.DataLoader(Leaders(), num_workers=2, timeout=120, multiprocessing_context="fork")
print([int(count) for count in loader] == here)
"""


@pytest.mark.skipif(not hasattr(threads.os, "fork"), reason="this system cannot fork")
def test_the_workers_of_a_data_loader_work_as_their_parent_did():
    pytest.importorskip("torch", reason="needs torch")
    told = subprocess.run([sys.executable, "-c", LOADER], capture_output=True, text=True, timeout=300, check=False)
    assert told.stdout == "True\n", told.stderr


def test_work_at_the_end_of_the_interpreter_is_done_by_one_thread():
    code = (
        "import atexit, numpy as np, hardmax as hm\n"
        "cloud = np.random.default_rng(0).standard_normal((20_000, 3))\n"
        "def last(): print(len(hm.limit(cloud, hm.Dynamics('1/2')).leaders) > 3)\n"
        "last(); atexit.register(last)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (told.stdout, told.stderr) == ("True\nTrue\n", "")


@pytest.mark.parametrize("starting", [0, 1, 2])
def test_where_no_more_threads_can_be_started_those_that_were_are_waited_for(starting, monkeypatch):
    done = []

    class Crowded(ThreadPoolExecutor):
        def submit(self, *arguments):  # pyright: ignore[reportIncompatibleMethodOverride]
            if starting == len(done_by):
                raise RuntimeError("can't start new thread")
            done_by.append(super().submit(*arguments))
            return done_by[-1]

    def work(first, last):
        threading.Event().wait(0.002 if threading.current_thread() is threading.main_thread() else 0.05)
        done.extend(range(first, last))

    done_by: list = []
    with Crowded(4) as pool, limit_threads(4):
        monkeypatch.setattr(threads, "_pool", lambda: pool)
        parallel_for(work, 64, ())
        assert sorted(done) == list(range(64))


@pytest.mark.parametrize("count", [1, 2])
def test_no_call_does_more_than_a_moment_of_work(count):
    longest = 0

    def work(first, last):
        nonlocal longest
        longest = max(longest, last - first)
        threading.Event().wait(0.001 * (last - first))

    with limit_threads(count):
        parallel_for(work, 400, ())
    assert longest <= 110  # a tenth of a second, and what clocks are off


# What takes minutes, in Python, in kernels and in Qhull.
LONG = {
    "exact numbers": """
from hardmax.runs import walking
walking._MOST_WORK = 10**15
x = 2 - 2.0**-14
cloud = [(x, 2), (x, -2), (2, 1), (2, -1), (0.5, 0)]
hm.limit(cloud, hm.Dynamics("1/2"), at_most=2)
run = lambda: hm.limit(cloud, hm.Dynamics("1/2"), at_most=10**6)
""",
    "a kernel on one thread": """
cloud, cpu = rng.normal(size=(200_000, 32)), hm.Cpu(search="all", threads=1)
hm.simulate(cloud[:999], hm.Dynamics(1), layers=1, engine=cpu)
run = lambda: hm.simulate(cloud, hm.Dynamics(1), layers=1, engine=cpu)
""",
    "many clouds": """
clouds, turning = rng.normal(size=(64, 1000, 2)), hm.Dynamics("1/100", [[0, -1], [1, 0]])
hm.simulate(clouds[:, :9], turning, layers=1)
run = lambda: hm.simulate(clouds, turning, layers=50_000, record="last")
""",
    "facets": """
sphere = rng.normal(size=(4000, 6))
polytope = Polytope(sphere / np.linalg.norm(sphere, axis=1)[:, None], all_vertices=True)
run = lambda: polytope.facets
""",
}


@pytest.mark.parametrize("name", some(LONG))
def test_whatever_takes_long_ends_soon_on_an_interruption(name):
    imports = "import numpy as np, hardmax as hm\nfrom hardmax.geometry.polytope import Polytope\n"
    program = f"{imports}rng = np.random.default_rng(0)\n{LONG[name]}\nprint('ready', flush=True)\nrun()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as begun:
        try:
            assert begun.stdout is not None
            assert begun.stdout.readline() == b"ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                begun.wait(0.7)
            told = b""
            for _ in range(6):  # one that comes while numba loads a kernel may be lost in a callback of its own
                begun.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    _, told = begun.communicate(timeout=5)  # one second, on a machine with nothing else to do
                    break
            assert told.rstrip().endswith(b"KeyboardInterrupt")
        finally:
            begun.kill()
