"""Recipes by name: those that the shipped models are trained with. IMDb has a use for every token: no thrift."""

from dataclasses import replace

from hardmax.train.recipe import Recipe

# Readable first. Each place of a review counts once, and a token must recur, so that no names lead. Words that are not
# worth their place follow the neutral leader; who leads is set, in part, by evidence. Without a bias a review is what
# its words say, and nothing else: the words that count, by themselves, have the same label.
IMDB_2D = Recipe(
    dimension=2,
    neutral=0.2,
    bias=False,
    overlapping=False,
    min_df=20,
    thrift=0.0,
    epochs=16,
    bag_of_words_epochs=6.0,
    alpha_warmup_epochs=6.0,
    word_dropout=0.25,
    sparsity=0.05,
    relaxed_epochs=3,
    evidence=0.3,
    validation_fraction=0.05,
)

# Accuracy first: all phrases that stand in a review count, also rare ones, and more of them.
IMDB_2D_BEST = Recipe(
    dimension=2,
    neutral=0.2,
    bias=False,
    thrift=0.0,
    epochs=14,
    bag_of_words_epochs=4.0,
    alpha_warmup_epochs=4.0,
    sparsity=0.01,
    relaxed_epochs=2,
    validation_fraction=0.05,
)

# Room for many leaders, and half of every word left.
IMDB_16D = replace(IMDB_2D_BEST, dimension=16, layers=1)

# By the names of Python; people, and the shipped models, have dashes instead of underscores.
PRESETS = {"imdb_2d": IMDB_2D, "imdb_2d_best": IMDB_2D_BEST, "imdb_16d": IMDB_16D}
PRESET_NAMES = tuple(name.replace("_", "-") for name in PRESETS)


def find_preset(name: str) -> Recipe | None:
    """The recipe of a shipped model, by its name with dashes or underscores; None if there is none.

    >>> find_preset("imdb-2d") == find_preset("imdb_2d") == IMDB_2D, find_preset("imdb")
    (True, None)
    """
    return PRESETS.get(name.replace("-", "_"))
