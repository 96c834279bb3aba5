"""A recipe with what was chosen in it."""

from dataclasses import dataclass, replace
from typing import Any

from hardmax.train.recipe import Recipe


@dataclass(frozen=True)
class Choice:
    """One entry of a recipe, and why it is so."""

    name: str
    value: Any
    why: str


@dataclass(frozen=True)
class Suited:
    """A recipe, with what was chosen in it."""

    recipe: Recipe
    choices: tuple[Choice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The choices by name, as JSON can hold them."""
        return {choice.name: {"value": choice.value, "why": choice.why} for choice in self.choices}

    def and_choose(self, choice: Choice) -> "Suited":
        """The same with one choice more."""
        return Suited(replace(self.recipe, **{choice.name: choice.value}), (*self.choices, choice))
