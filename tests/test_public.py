"""The package as its users find it: names that are there, and no more of them than one can learn;
`typed_user.py` has types that check."""

import inspect
from types import ModuleType

import hardmax as hm


def test_every_name_that_is_listed_is_there():
    assert [name for name in dir(hm) if getattr(hm, name) is None] == []


def test_there_are_at_most_44_names_at_the_top_and_20_of_any_class():
    names = dir(hm)
    assert len(names) <= 44
    things = [getattr(hm, name) for name in names]
    modules = [thing for thing in things if isinstance(thing, ModuleType)]
    kinds = {
        kind
        for module in (hm, *modules)
        for name in getattr(module, "__all__", ())
        if inspect.isclass(kind := getattr(module, name))
    }
    assert len(kinds) > 30
    assert {kind: len(owned) for kind in kinds if len(owned := public(kind)) > 20} == {}


def public(kind: type) -> set[str]:
    """The names of a class and its fields; what it inherits from other packages is not ours."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("hardmax")]
    names = {name for base in ours for name in (*vars(base), *inspect.get_annotations(base))}
    return {name for name in names if not name.startswith("_")}
