"""What tokens say of the classes before training, so that training need not start from noise.

From noise, a token learns what it says from the few texts that have it, and the rare ones learn these by heart.
Log-odds are estimates for which one text is enough, shrunk as rare tokens deserve; the weights of the linear model
know of one another, too. Training then has little left to do, and a few thousand short texts are enough.
"""

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.choosing import classes_told, log_odds, weigh
from hardmax.train.recipe import Recipe


def first_says(encoded: Encoded, labels: np.ndarray, tokens: int, recipe: Recipe) -> np.ndarray | None:
    """What each token says for each class, (classes, tokens), of two for the second alone; None if noise shall decide.

    The spread of the tokens as they are met in texts is `recipe.init_std`.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> says = first_says(texts, np.array([0, 0, 1, 1]), 3, Recipe(init="odds", init_std=0.5))
    >>> says.round(2).tolist()
    [[-0.61, 0.61, 0.0]]
    """
    if recipe.init == "noise":
        return None
    classes = classes_told(labels)
    says = [log_odds(encoded, labels == c, tokens, recipe.smoothing) for c in classes]
    if recipe.init == "linear":
        says = [weigh(encoded, labels == c, odds, recipe.strength) for c, odds in zip(classes, says, strict=True)]
    met = np.array(says)[:, encoded.ids]
    spread = np.sqrt((met**2).sum() / max(met.size, 1))
    return np.array(says) * (recipe.init_std / max(float(spread), 1e-9))
