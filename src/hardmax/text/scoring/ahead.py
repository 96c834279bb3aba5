"""Reading ahead and writing behind: what others can do meanwhile, in a thread each."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

Thing = TypeVar("Thing")
_END: Any = object()


def ahead(things: Generator[Thing, None, None]) -> Generator[Thing, None, None]:
    """The same things; while one is worked on, the next is made.

    >>> list(ahead(letter for letter in "abc"))
    ['a', 'b', 'c']
    """
    with closing(things), ThreadPoolExecutor(1, thread_name_prefix="hardmax reading") as pool:
        coming = pool.submit(next, things, _END)
        while (thing := coming.result()) is not _END:
            coming = pool.submit(next, things, _END)
            yield thing
            del thing


@contextmanager
def behind() -> Iterator[Callable[..., None]]:
    """A function that has another one called with arguments, one call after the other, while this thread goes on.

    No more than one call waits. What it raises is raised by the next one, or at the end.
    """
    before: list[Future[Any]] = []

    def do(function: Callable[..., Any], *arguments: Any) -> None:
        if before:
            before.pop().result()
        before.append(pool.submit(function, *arguments))

    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        yield do
        if before:
            before.pop().result()
