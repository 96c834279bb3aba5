"""Parallel loops: every task once, on any number of threads, after a fork, from many threads at
once."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

import hardmax as hm
from hardmax._common.cached import cached_property
from hardmax._kernels.parallel import limit_threads, parallel_for

HALF = hm.Dynamics("1/2")


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize(("tasks", "pause"), [(0, 0.0), (1, 3e-4), (9, 0.0), (1000, 2e-5)])
def test_every_task_is_done_once(count, tasks, pause):
    done, wait = [], threading.Event()

    def work(first, last, name):
        assert name == "given"
        wait.wait(pause * (last - first))
        done.extend(range(first, last))

    with limit_threads(count):
        parallel_for(work, tasks, ("given",))
    assert sorted(done) == list(range(tasks))


@pytest.mark.parametrize("count", [1, 2])
def test_threads_take_part_as_far_as_the_limit_allows_and_no_call_does_much(count):
    seen, longest = set(), 0

    def work(first, last):
        nonlocal longest
        longest = max(longest, last - first)
        seen.add(threading.get_ident())
        threading.Event().wait(0.001 * (last - first))

    with limit_threads(count), limit_threads(None):
        parallel_for(work, 400, ())
    assert len(seen) == count
    assert longest <= 110  # a tenth of a second, and what clocks are off


def test_a_failure_in_a_thread_is_raised_and_the_rest_is_left():
    done = []

    def work(first, last):
        threading.Event().wait(0.001)
        done.append(first)
        if first > 3:
            raise KeyboardInterrupt

    with limit_threads(3), pytest.raises(KeyboardInterrupt):
        parallel_for(work, 10_000, ())
    assert len(done) < 1000


def test_many_threads_at_once_find_what_one_finds():
    clouds = np.random.default_rng(0).standard_normal((6, 20_000, 3))

    def leaders(cloud):
        return hm.limit(cloud, HALF).leaders.tolist()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(leaders, clouds)) == [leaders(cloud) for cloud in clouds]


# A child that hangs is killed by its alarm.
FORK_AMID_WORK = """
import os, signal, threading, time, warnings
import numpy as np
import hardmax as hm

warnings.simplefilter("ignore", DeprecationWarning)
model, generator = hm.load_model("sentiment-en"), np.random.default_rng(0)
small, large = generator.standard_normal((30, 2)), generator.standard_normal((400, 3))

def work():
    lim, told = hm.limit(small, hm.Dynamics("1/2")), model.explain("A great film, an awful script.")
    about = lim.leaders.tolist(), lim.polytope().facets, lim.radius(), lim.prove()
    return *about, told.leaders, told.removals, hm.limit(large, hm.Dynamics("1/3")).leaders.tolist()

def go_on():
    while not done.is_set():
        work()

work()  # so that no child has to load kernels
mine, done, children = work(), threading.Event(), []
threads = [threading.Thread(target=go_on) for _ in range(2)]
for thread in threads:
    thread.start()
for pause in generator.uniform(0, 0.02, 4):
    time.sleep(pause)
    children.append(os.fork())
    if not children[-1]:
        signal.alarm(1200)
        os._exit(0 if work() == mine else 1)
done.set()
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
for thread in threads:
    thread.join()
print(codes.count(0))
"""
FORK_AMID_COMPILING = """
import os, signal, threading, time, warnings
import numpy as np
import hardmax as hm

warnings.simplefilter("ignore", DeprecationWarning)
hm.limit(np.random.default_rng(0).standard_normal((20_000, 3)), hm.Dynamics("1/2"))
import numba
from numba.core.compiler_lock import global_compiler_lock

def compile():
    with global_compiler_lock:
        begun.set()
        time.sleep(0.5)

begun = threading.Event()
threading.Thread(target=compile).start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(1200)
    os._exit(numba.njit(lambda x: x - 1)(1))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), numba.njit(lambda x: x - 1)(1))
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.check
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize(
    ("program", "told"), [(FORK_AMID_WORK, "4\n"), (FORK_AMID_COMPILING, "0 0\n")]
)
def test_children_of_a_fork_wait_for_no_thread_of_their_parent(program, told):
    assert run(program) == told


def test_threads_that_compute_a_property_at_once_share_one_result():
    both, seen = threading.Barrier(2), []

    class Slow:
        @cached_property
        def result(self):
            both.wait(600)
            return object()

    slow = Slow()
    threads = [threading.Thread(target=lambda: seen.append(slow.result)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [slow.result] * 2


# What takes minutes, in kernels and in Qhull.
LONG = {
    "exact numbers": """
from hardmax._runs import walk
walk._MOST_WORK = 10**15
corners, turning = [(1, 0), (0, 1), (-1, 0), (0, -1)], hm.Dynamics("1/3", [[0, -1], [1, 0]])
hm.limit(corners, turning, max_layers=2, arithmetic="exact")
run = lambda: hm.limit(corners, turning, max_layers=10**6, arithmetic="exact")
""",
    "a kernel on one thread": """
from hardmax._float import search
cloud, cpu = rng.normal(size=(200_000, 32)), hm.Cpu(threads=1)
search.suited = lambda *_: "dense"
hm.simulate(cloud[:999], hm.Dynamics(1), layers=1, engine=cpu)
run = lambda: hm.simulate(cloud, hm.Dynamics(1), layers=1, engine=cpu)
""",
    "many clouds": """
clouds, turning = rng.normal(size=(64, 1000, 2)), hm.Dynamics("1/100", [[0, -1], [1, 0]])
hm.simulate(clouds[:, :9], turning, layers=1)
run = lambda: hm.simulate(clouds, turning, layers=50_000)
""",
    "facets": """
from hardmax.geometry.polytope import Polytope
sphere = rng.normal(size=(4000, 6))
polytope = Polytope(sphere / np.linalg.norm(sphere, axis=1)[:, None], all_vertices=True)
run = lambda: polytope.facets
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_whatever_takes_long_ends_soon_on_an_interruption(name):
    setup = f"import numpy as np, hardmax as hm\nrng = np.random.default_rng(0)\n{LONG[name]}"
    program = f"{setup}\nprint('ready', flush=True)\nrun()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as begun:
        try:
            assert begun.stdout is not None
            assert begun.stdout.readline() == b"ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                begun.wait(0.7)
            err = b""
            for _ in range(
                6
            ):  # one that comes while numba loads a kernel may be lost in a callback of its own
                begun.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    _, err = begun.communicate(
                        timeout=5
                    )  # one second, on a machine with nothing else to do
                    break
            assert err.rstrip().endswith(b"KeyboardInterrupt")
        finally:
            begun.kill()
