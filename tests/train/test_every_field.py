"""Every field of a recipe does what it says. Each has checks, and each check fails if its field is ignored."""

# pyright: reportMissingImports=false
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

import fields_of_the_model
import fields_of_the_training

from hardmax.train import Recipe

CHECKS = [*fields_of_the_model.CHECKS, *fields_of_the_training.CHECKS]


def pairs() -> list[Any]:
    def told(check: Callable[[], None]) -> str:
        return check.__name__.replace("_", " ")

    return [pytest.param(name, check, id=f"{name}: {told(check)}") for name, check in CHECKS]


@pytest.mark.parametrize(("name", "check"), pairs())
def test_a_field_does_what_it_says(name: str, check: Callable[[], None]):
    check()


def test_no_field_is_without_a_test():
    assert {name for name, _ in CHECKS} == {f.name for f in fields(Recipe)}


@pytest.mark.parametrize(("name", "check"), pairs())
def test_a_field_that_is_ignored_is_noticed(name: str, check: Callable[[], None], monkeypatch):
    read, usual = Recipe.__post_init__, getattr(Recipe(), name)

    def forget(recipe: Recipe) -> None:
        read(recipe)
        object.__setattr__(recipe, name, usual)

    monkeypatch.setattr(Recipe, "__post_init__", forget)
    with pytest.raises(AssertionError):
        check()
