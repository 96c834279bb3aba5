"""Defaults are those that docstrings name."""

import ast
import importlib
import inspect
import re
from typing import Any

import pytest

docscrape = pytest.importorskip("numpydoc.docscrape")
from test_docstrings import NAMED, OPEN, defined_in, members  # noqa: E402

pytestmark = pytest.mark.check


def find(path: str) -> Any:
    """A public name, or a member of a public class."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            thing = inspect.getattr_static(thing, name)
        return thing
    raise AssertionError(path)


def callables() -> list[str]:
    """Public functions and classes, and the methods of these."""
    found = sorted({*NAMED, *(name for module in OPEN for name in defined_in(module))})
    return [
        *found,
        *(
            member
            for path in found
            if inspect.isclass(find(path))
            for member in members(path, find(path))
        ),
    ]


def named_defaults(thing: Any) -> dict[str, Any]:
    """What the docstring says of parameters that may be left out: None of those that are
    optional."""
    told = {}
    for names, kind, _ in docscrape.NumpyDocString(inspect.getdoc(thing) or "")["Parameters"]:
        said = re.search(r"default:? (.+)$", kind)
        if said or kind.endswith(", optional"):
            told |= dict.fromkeys(names.split(", "), read(said[1]) if said else None)
    return told


def read(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def actual_defaults(thing: Any) -> dict[str, Any]:
    """Those of the signature; None where there is nothing in it, or it is made anew each time."""
    function = getattr(thing, "__func__", thing)
    try:
        found = {
            name: each.default for name, each in inspect.signature(function).parameters.items()
        }
    except (TypeError, ValueError):
        return {}
    return {
        name: None if value in ("", ()) or repr(value) == "<factory>" else value
        for name, value in found.items()
    }


def same(told: Any, actual: Any) -> bool:
    if isinstance(told, bool) or isinstance(actual, bool):
        return told is actual
    return (
        told in (actual, getattr(actual, "__name__", ""))
        or (not told and actual is None)
        or told == re.sub(r"\w+=", "", repr(actual))
    )


def test_there_are_many():
    assert sum(len(named_defaults(find(path))) for path in callables()) > 100


@pytest.mark.parametrize("path", callables())
def test_defaults_are_those_that_the_docstring_names(path):
    told, actual = named_defaults(find(path)), actual_defaults(find(path))
    assert [
        name for name, value in told.items() if name not in actual or not same(value, actual[name])
    ] == []
