"""Properties that are computed once, without a lock."""

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """That of Python 3.11 holds a lock while it computes, one for all objects of a class: a process
    forked at that moment would wait for it for ever. Here threads that come at once all compute,
    and share the first result."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))
