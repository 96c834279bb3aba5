"""Parallel loops on Python threads: kernels release the GIL.

numba's own threads come in layers of which one hangs after a fork, and another aborts when two
threads call at once. These work after a fork (a child starts its own) and from any number of
threads."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

# Seconds: less is done sooner by one thread than others are awake; a turn of a thread, and the
# longest one.
_SHORT, _TURN, _LONGEST = 2e-4, 5e-4, 0.1
_TURNS = 64  # a thread takes about as many
_MEASURABLE = 1.5e-5  # what takes as long shows how long the rest takes

T = TypeVar("T")
_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def max_threads() -> int:
    """The number of processors that this process may use, or NUMBA_NUM_THREADS."""
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """In this block kernels run on this many threads; None changes nothing."""
    before = _limit.set(threads or _limit.get())
    try:
        yield
    finally:
        _limit.reset(before)


def parallel_for(work: Callable[..., Any], tasks: int, arguments: tuple[Any, ...]) -> None:
    """Call `work(first, last, *arguments)` until all tasks are done; which thread does which
    changes nothing.

    The first tasks are done here, and show whether the others are worth waking threads for. A call
    does no more than takes a tenth of a second, unless that is a single task: Python sees Ctrl-C
    between two calls."""
    done, spent, began = 0, 0.0, time.perf_counter()
    while spent < _MEASURABLE:
        last = min(8 * done + 1, tasks)
        work(done, last, *arguments)
        if last == tasks:
            return
        done, spent = last, time.perf_counter() - began
    each = spent / done
    threads = 1 if (tasks - done) * each <= _SHORT else _limit.get() or max_threads()
    share = -(-(tasks - done) // threads)
    # The first tasks may take longer than the others: a turn is no tiny part of the whole.
    turn = max(1, int(min(max(_TURN / each, share / _TURNS), _LONGEST / each, share)))
    starts, stop = itertools.count(done, turn), threading.Event()  # `next` is atomic

    def take_turns() -> None:
        while not stop.is_set() and (start := next(starts)) < tasks:
            work(start, min(start + turn, tasks), *arguments)

    helpers: list[Future[None]] = []
    try:
        # Where the interpreter is shutting down, or there are too many already, no thread can be
        # started.
        with suppress(RuntimeError):
            for _ in range(threads - 1):
                helpers.append(
                    _pool().submit(take_turns)
                )  # one by one: those before a failure are awaited
        take_turns()
    finally:
        stop.set()  # after an interruption nobody begins another turn
        for helper in helpers:
            if not helper.cancel():  # one that has not begun would find nothing left to do
                helper.result()


def interruptible(work: Callable[[], T]) -> T:
    """The result of `work()` in a thread of its own: where a library does not see Ctrl-C, this one
    still does."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result.result()


@cache
def _pool() -> ThreadPoolExecutor:
    # Two threads that come first at once may make two: the one that is not kept does its work and
    # ends.
    return ThreadPoolExecutor(max(1, max_threads() - 1), thread_name_prefix="hardmax")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_child=_pool.cache_clear
    )  # a child has none of its parent's threads
