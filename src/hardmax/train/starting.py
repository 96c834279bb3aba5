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
from hardmax.train.corpus import way_of
from hardmax.train.directions import axes_for, class_directions
from hardmax.train.recipe import Recipe

_LOOKED_AT, _WORDS = 300, 1000  # texts, and words of each, to see how far out words have to be
_MARGINAL = 0.05  # the share of the words, those that say least, which need not count at the start
_SLACK = 1.05  # so that words which are alike in strength count rather than not
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


def start_training(encoded: Encoded, labels: np.ndarray, loud: np.ndarray, recipe: Recipe) -> Start:
    """The start that the recipe asks for, from training texts and their classes as numbers; `loud` says which tokens
    say something, and from a bag of words the others start, and stay, at nothing.

    The spread of the tokens as they are met in texts is `recipe.init_std`; with a neutral leader, it is such that
    most of the words do not follow it.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> recipe = Recipe(dimension=2, init="odds", init_std=0.5)
    >>> start_training(texts, np.array([0, 0, 1, 1]), np.ones(3, dtype=bool), recipe).vectors.round(2)[:, 0].tolist()
    [-0.61, 0.61, 0.0]
    """
    classes, tokens = int(labels.max()) + 1, len(loud)
    directions = _directions(classes, recipe)
    if recipe.init == "noise":
        return start_from_noise(tokens, classes, recipe)
    if recipe.init == "bag":
        return _from_bag(encoded, labels, loud, directions, recipe)
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


def _from_bag(encoded: Encoded, labels: np.ndarray, loud: np.ndarray, directions: np.ndarray, recipe: Recipe) -> Start:
    """The bag of words itself: without layers, the network that starts so decides every text as it does."""
    bag = solve_bag(encoded, labels, loud, way_of(recipe))
    vectors = bag.says.T @ np.linalg.pinv(directions).T  # so that <direction, vector> is what a token says
    scale = _scale((vectors[encoded.ids] ** 2).sum() / max(len(encoded.ids), 1), vectors, encoded, recipe)
    return Start(vectors * scale, directions / scale, bag.bias)


def _directions(classes: int, recipe: Recipe) -> np.ndarray:
    return class_directions(classes, dimension_for(classes, recipe) - (recipe.neutral > 0))


def _scale(square: float, vectors: np.ndarray, encoded: Encoded, recipe: Recipe) -> float:
    """What makes the spread that of the recipe or, where there is a neutral leader, lets most words count."""
    by_spread = recipe.init_std / max(float(np.sqrt(square)), 1e-9)
    if not recipe.neutral:
        return by_spread
    # A word counts if its product with some leader is more than that with the neutral one: s² <x, X> + y y > y.
    pulls = _pulls(vectors, encoded)
    if not (pulls > 0).any():
        return by_spread
    least = np.quantile(pulls[pulls > 0], _MARGINAL, method="lower")
    return float(np.sqrt(_SLACK * recipe.neutral * (1 - recipe.neutral) / least))


def _pulls(vectors: np.ndarray, encoded: Encoded) -> np.ndarray:
    """The largest product of each word with a word of its text, in some hundred texts spread over all."""
    rows = np.unique(np.linspace(0, len(encoded) - 1, _LOOKED_AT).astype(np.int64)) if len(encoded) else []
    found = [np.zeros(0)]
    for row in rows:
        first, last = encoded.offsets[row : row + 2]
        cloud = vectors[encoded.ids[first : min(last, first + _WORDS)]]
        if len(cloud):
            # Not a matrix product, which may add in an order that depends on threads.
            found.append(np.einsum("id,jd->ij", cloud, cloud).max(axis=1))
    return np.concatenate(found)


def _along(says: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Vectors along the directions of the classes, as far as each token speaks for each."""
    return (says[:, :, None] * directions[:, None, :]).sum(axis=0)
