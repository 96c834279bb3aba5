"""Work shared out among threads of our own: kernels let go of Python's lock, so that plain threads are enough.

numba has threads of its own, in layers: one hangs after a fork, another aborts when two threads call at once. These
work after a fork (a child starts its own) and from any number of threads.
"""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

# Seconds: less is done sooner by one thread than others are awake; what a thread takes at a time; what one takes alone.
_SHORT, _A_WHILE, _LONGEST = 2e-4, 5e-4, 0.1
# A task that takes longer than this tells how long others take; else a few more are tried.
_MEASURABLE, _FEW = 1.5e-5, 8

_T = TypeVar("_T")
_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def max_threads() -> int:
    """As many as the processors that this process may use, or as NUMBA_NUM_THREADS says."""
    told = os.environ.get("NUMBA_NUM_THREADS", "")
    if told.isdecimal() and int(told):
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_now() -> int:
    """How many threads kernels run on here."""
    return _limit.get() or max_threads()


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """In this block kernels run on so many threads; None changes nothing."""
    if threads is None:
        yield
        return
    before = _limit.set(threads)
    try:
        yield
    finally:
        _limit.reset(before)


def parallel_for(work: Callable[..., Any], tasks: int, arguments: tuple[Any, ...]) -> None:
    """Do `work(first, last, *arguments)` for all tasks from 0 on; which thread does which changes nothing.

    The first tasks are done here, and tell whether the others are worth waking threads for. A call does no more than
    takes a tenth of a second, unless that is a single task: Python hears Ctrl-C between two calls.
    """
    if tasks <= 1:
        work(0, tasks, *arguments)
        return
    done, began, left, each = 0, time.perf_counter(), 0.0, 0.0
    for tried in (1, _FEW):
        last = min(done + tried, tasks)
        work(done, last, *arguments)
        done, each = last, (time.perf_counter() - began) / last
        left = (tasks - done) * each
        if left <= _SHORT or each >= _MEASURABLE:
            break
    threads = 1 if left <= _SHORT else threads_now()
    longest = _LONGEST if threads == 1 else _A_WHILE
    at_a_time = max(1, min(int(longest / each) if each else tasks, -(-(tasks - done) // threads)))
    _share_out_among(threads, work, done, tasks, at_a_time, arguments)


def _share_out_among(
    threads: int, work: Callable[..., Any], first: int, last: int, at_a_time: int, arguments: tuple[Any, ...]
) -> None:
    starts, over = itertools.count(first, at_a_time), threading.Event()  # `next` is one step for Python's lock

    def take_turns() -> None:
        while not over.is_set() and (start := next(starts)) < last:
            work(start, min(start + at_a_time, last), *arguments)

    helpers: list[Future[None]] = []
    try:
        # Where the interpreter is shutting down, or there are too many already, no thread can be started.
        with suppress(RuntimeError):
            for _ in range(threads - 1):
                helpers.append(_pool().submit(take_turns))  # one by one: those before a failure are waited for
        take_turns()
    finally:
        over.set()  # after an interruption nobody begins another turn
        for helper in helpers:
            # One that has not begun would find nothing left to do.
            if not helper.cancel():
                helper.result()


def interruptible(work: Callable[[], _T]) -> _T:
    """What `work()` gives, done by a thread: in a library that hears no Ctrl-C it goes on alone, and this one ends."""
    found: Future[_T] = Future()

    def do() -> None:
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return found.result()


_made: ThreadPoolExecutor | None = None
_making = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    global _made
    with _making:
        if _made is None:
            _made = ThreadPoolExecutor(max(1, max_threads() - 1), thread_name_prefix="hardmax")
        return _made


def _forget_threads() -> None:
    """A child of a fork has none of the threads of its parent."""
    global _made, _making
    _made, _making = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
