"""A recipe by name or from a file, with some of its entries given anew; or entries of one that is to be chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._files import read_json
from hardmax._validation import InputError
from hardmax.train.presets import PRESET_NAMES, find_preset
from hardmax.train.recipe import Recipe

if TYPE_CHECKING:
    from hardmax.train.suited import Suited


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a recipe: all of it, or some entries; then the others are to suit the texts."""

    recipe: Recipe | None
    given: dict[str, Any]
    seconds: float | None = None  # that a search may take

    def suit(
        self,
        texts: Any,
        labels: np.ndarray,
        progress: Callable[[str], None] | None = None,
        trials: Callable[[int, int], None] | None = None,
    ) -> "Suited":
        """The recipe for texts and their classes as numbers, and why it is so. A search tells `progress` in words what
        it tried; without one, `trials` is called with how many are done, and how many there are."""
        from hardmax.train.suited import Suited
        from hardmax.train.suiting import suit

        if self.recipe is not None:
            return Suited(self.recipe)
        if self.seconds is None:
            return suit(texts, labels, self.given, progress=trials)
        from hardmax.train.searching import search  # only now, since torch takes seconds to come

        return search(texts, labels, self.given, seconds=self.seconds, progress=progress)


def read_wish(name_or_file: str | None, seconds: float | None, **entries: int | float | None) -> Wish:
    """What is wanted, by the name of a recipe or its file, if there is one, and entries, those that are not None.

    >>> read_wish(None, None, dimension=3, layers=None)
    Wish(recipe=None, given={'dimension': 3}, seconds=None)
    """
    given = {name: value for name, value in entries.items() if value is not None}
    whole = read_recipe(name_or_file, **given)  # which says what is wrong with an entry
    if name_or_file is None:
        return Wish(None, given, seconds)
    if seconds is not None:
        raise InputError("`budget` is for a recipe that is to be chosen: leave `recipe` out.", argument="budget")
    return Wish(whole, {})


def read_recipe(name_or_file: str | None, **entries: int | float | None) -> Recipe:
    """A recipe by name or from a file, with the entries that are given, and are not None, in place of its own.

    >>> read_recipe(None, dimension=3, layers=None).dimension
    3
    """
    given = {name: value for name, value in entries.items() if value is not None}
    return replace(_named(name_or_file), **given)


def _named(name_or_file: str | None) -> Recipe:
    if name_or_file is None:
        return Recipe()
    preset = find_preset(name_or_file)
    if preset is not None:
        return preset
    if not name_or_file.endswith(".json"):
        names = ", ".join(PRESET_NAMES)
        raise InputError(f"`recipe` must be one of {names}, or a .json file, not {name_or_file!r}.", argument="recipe")
    try:
        return Recipe.from_dict(read_json(name_or_file, "`recipe` expected a recipe, as `Recipe.to_json` gives it"))
    except InputError as error:
        raise InputError(str(error), argument="recipe") from None
