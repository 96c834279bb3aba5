"""A recipe by name or from a file, with some of its entries given anew."""

from dataclasses import replace

from hardmax.errors import InputError
from hardmax.tokens.reading import read_json
from hardmax.train.presets import PRESET_NAMES, find_preset
from hardmax.train.recipe import Recipe


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
