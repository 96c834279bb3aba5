"""How much texts vouch for what a token says: who leads should be who is sure, not who fits best.

Two things make a token trustworthy: that its log-odds are large, and that they are not by chance. The first alone is
led by names, which a handful of texts have; the second alone by words that everybody says, a little more often here
than there. Evidence is their geometric mean.
"""

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.choosing import classes_told, log_odds
from hardmax.train.clouds import Clouds

SMOOTHING = 10.0  # texts added to every count: what fewer say is not much


def weigh_evidence(texts: Encoded | Clouds, labels: np.ndarray, tokens: int) -> np.ndarray:
    """The evidence (rows, tokens) that each token speaks for the class of a row of the decoder, negative if against it.

    >>> texts = Encoded(np.array([0, 2, 0, 2, 1, 2, 1, 2]), np.ones(8, dtype=np.int32), np.array([0, 2, 4, 6, 8]))
    >>> weigh_evidence(texts, np.array([0, 0, 1, 1]), tokens=3).round(2).tolist()
    [[-0.6, 0.6, 0.0]]
    """
    return np.array([_of_class(texts, labels == c, tokens) for c in classes_told(labels)])


def _of_class(texts: Encoded | Clouds, positive: np.ndarray, tokens: int) -> np.ndarray:
    odds = log_odds(texts, positive, tokens, SMOOTHING)
    return np.sign(odds) * np.sqrt(np.abs(odds * _deviations(texts, positive, tokens)))


def _deviations(texts: Encoded | Clouds, positive: np.ndarray, tokens: int) -> np.ndarray:
    """By how many standard deviations the share of texts with a token differs between a class and the others."""
    inside = np.repeat(positive, np.diff(texts.offsets))
    theirs = np.bincount(texts.ids[inside], minlength=tokens)
    others = np.bincount(texts.ids[~inside], minlength=tokens)
    many, rest = max(int(positive.sum()), 1), max(int((~positive).sum()), 1)
    share = (theirs + others) / (many + rest)
    spread = np.sqrt(share * (1 - share) * (1 / many + 1 / rest))
    return (theirs / many - others / rest) / np.maximum(spread, 1e-9)
