"""Where training starts: the vectors of the tokens, the decoder, and the bias.

From noise, a token learns what it says from the few texts that have it, and the rare ones learn these by heart.
Log-odds are estimates for which one text is enough, shrunk as rare tokens deserve; the weights of a linear model
know of one another, too. Training then has little left to do, and a few thousand short texts are enough.
"""

from typing import NamedTuple

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.bag import solve_bag
from hardmax.train.choosing import classes_told, log_odds, weigh
from hardmax.train.directions import axes_for, class_directions
from hardmax.train.recipe import Recipe

MOST_AXES = 64  # for classes; more of them than this have near-orthogonal directions all the same


class Start(NamedTuple):
    """Vectors (tokens, axes), decoder (rows, axes) and bias (rows,), without the axis of a neutral leader."""

    vectors: np.ndarray
    decoder: np.ndarray
    bias: np.ndarray


def dimension_for(classes: int, recipe: Recipe) -> int:
    """The dimension of the recipe; if it leaves that open, what the classes need, and an axis for a neutral leader.

    >>> [dimension_for(classes, Recipe()) for classes in (2, 3, 6)]
    [2, 2, 5]
    >>> [dimension_for(classes, Recipe(neutral=0.2)) for classes in (2, 3, 6, 150)]
    [2, 3, 6, 65]
    """
    if recipe.dimension is not None:
        return recipe.dimension
    return max(2, min(axes_for(classes), MOST_AXES) + (recipe.neutral > 0))


def start_training(encoded: Encoded, labels: np.ndarray, tokens: int, recipe: Recipe) -> Start:
    """The start that the recipe asks for, from training texts and their classes as numbers.

    The spread of the tokens as they are met in texts is `recipe.init_std`, or more, where a neutral leader would have
    every word otherwise.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> recipe = Recipe(dimension=2, init="odds", init_std=0.5)
    >>> start_training(texts, np.array([0, 0, 1, 1]), 3, recipe).vectors.round(2)[:, 0].tolist()
    [-0.61, 0.61, 0.0]
    """
    classes = int(labels.max()) + 1
    directions = _directions(classes, recipe)
    if recipe.init == "noise":
        return start_from_noise(tokens, classes, recipe)
    if recipe.init == "bag":
        return _from_bag(encoded, labels, tokens, directions, recipe)
    told = classes_told(labels)
    says = [log_odds(encoded, labels == c, tokens, recipe.smoothing) for c in told]
    if recipe.init == "linear":
        says = [weigh(encoded, labels == c, odds, recipe.strength) for c, odds in zip(told, says, strict=True)]
    met = np.array(says)[:, encoded.ids]
    vectors = _along(np.array(says), directions)
    scale = _scale((met**2).sum() / max(met.size, 1), vectors, encoded, recipe)
    return Start(vectors * scale, recipe.decoder_norm * directions, np.zeros(len(directions)))


def start_from_noise(tokens: int, classes: int, recipe: Recipe) -> Start:
    """Vectors anywhere; nothing is known of the texts."""
    directions = _directions(classes, recipe)
    rng = np.random.default_rng([recipe.seed, directions.shape[1]])
    vectors = rng.normal(size=(tokens, directions.shape[1])) * recipe.init_std
    return Start(vectors, recipe.decoder_norm * directions, np.zeros(len(directions)))


def _from_bag(encoded: Encoded, labels: np.ndarray, tokens: int, directions: np.ndarray, recipe: Recipe) -> Start:
    """The bag of words itself: without layers, the network that starts so decides every text as it does."""
    bag = solve_bag(encoded, labels, tokens, recipe.bag_strength)
    vectors = bag.says.T @ np.linalg.pinv(directions).T  # so that <direction, vector> is what a token says
    scale = _scale((vectors[encoded.ids] ** 2).sum() / max(len(encoded.ids), 1), vectors, encoded, recipe)
    return Start(vectors * scale, directions / scale, bag.bias)


def _directions(classes: int, recipe: Recipe) -> np.ndarray:
    return class_directions(classes, dimension_for(classes, recipe) - (recipe.neutral > 0))


def _scale(square: float, vectors: np.ndarray, encoded: Encoded, recipe: Recipe) -> float:
    """What makes the spread that of the recipe; more, if the neutral leader would have all words of a usual text.

    It is at 1, so the longest word of a text is to be as long as that: some word leads, then, and others can follow it.
    """
    scale = recipe.init_std / max(float(np.sqrt(square)), 1e-9)
    if not recipe.neutral or not len(encoded.ids):
        return scale
    lengths = np.sqrt((vectors**2).sum(axis=1))[encoded.ids]
    longest = np.maximum.reduceat(lengths, encoded.offsets[:-1][np.diff(encoded.offsets) > 0])
    return max(scale, 1 / max(float(np.median(longest)), 1e-9))


def _along(says: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Vectors along the directions of the classes, as far as each token speaks for each."""
    return (says[:, :, None] * directions[:, None, :]).sum(axis=0)
