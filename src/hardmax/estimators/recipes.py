"""The recipe that an estimator's parameters ask for."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hardmax._validation import InputError, check_int, shorten
from hardmax.train.presets import PRESET_NAMES, find_preset
from hardmax.train.recipe import LARGEST_SEED as LARGEST_GIVEN
from hardmax.train.recipe import Recipe

LARGEST_SEED = 2**31 - 1


def recipe_of(recipe: Any, random_state: Any, changes: dict[str, Any]) -> Recipe | dict[str, Any]:
    """The recipe, with the changes that are not None and the seed; without a recipe, these entries alone.

    >>> recipe_of({"epochs": 5}, 3, {"dimension": 4, "layers": None}).dimension
    4
    >>> recipe_of("imdb-2d", None, {"epochs": 3}).layers
    8
    >>> recipe_of(None, 3, {"dimension": 4, "layers": None})
    {'dimension': 4, 'seed': 3}
    """
    given = {name: _plain(value) for name, value in changes.items() if value is not None}
    seed = _seed(random_state)
    if seed is not None:
        given["seed"] = seed
    if recipe is None:
        Recipe(**given)  # which says what is wrong with an entry
        return given
    return replace(_read(recipe), **given)


def _read(recipe: Any) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, dict):
        return Recipe.from_dict(recipe)
    preset = find_preset(recipe) if isinstance(recipe, str) else None
    if preset is not None:
        return preset
    wish = f"a Recipe, its entries as a dict, or one of {', '.join(PRESET_NAMES)}"
    raise InputError(f"`recipe` must be {wish}, not {shorten(recipe)}.")


def _plain(value: Any) -> Any:
    # A grid of parameters is often a numpy array.
    return value.item() if isinstance(value, np.generic) else value


def _seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_int(random_state, "`random_state`", at_least=0, at_most=LARGEST_GIVEN)
    try:
        # True is 1 for scikit-learn, but nobody means it as a seed.
        known = check_random_state("no seed" if isinstance(random_state, bool | np.bool_) else random_state)
        return int(known.randint(LARGEST_SEED))
    except Exception:  # a ValueError of scikit-learn, or of whatever was given
        came = shorten(random_state)
        raise InputError(f"`random_state` must be a whole number or a RandomState, not {came}.") from None
