"""Recipes by name: those that the shipped models are trained with. IMDb has a use for every token: no thrift."""

from hardmax.train.recipe import Recipe

# The paper's architecture: eight layers leave a word 1/256 of itself, so that a review is what its leaders say.
IMDB_2D = Recipe(dimension=2, layers=8, alpha=1.0, thrift=0.0, validation_fraction=0.05)

# Two layers with a longer step: leaders carry nine tenths of the mass, and what is left of the words still speaks. A
# little decay pulls all words to one line: two leaders remain in every review, one at either end.
IMDB_2D_BEST = Recipe(dimension=2, layers=2, alpha=3.0, weight_decay=1e-6, thrift=0.0, validation_fraction=0.05)

# Room for many leaders, and half of every word left.
IMDB_16D = Recipe(dimension=16, layers=1, alpha=1.0, thrift=0.0, validation_fraction=0.05)

# By the names of Python; people, and the shipped models, have dashes instead of underscores.
PRESETS = {"imdb_2d": IMDB_2D, "imdb_2d_best": IMDB_2D_BEST, "imdb_16d": IMDB_16D}
PRESET_NAMES = tuple(name.replace("_", "-") for name in PRESETS)


def find_preset(name: str) -> Recipe | None:
    """The recipe of a shipped model, by its name with dashes or underscores; None if there is none.

    >>> find_preset("imdb-2d") == find_preset("imdb_2d") == IMDB_2D, find_preset("imdb")
    (True, None)
    """
    return PRESETS.get(name.replace("-", "_"))
