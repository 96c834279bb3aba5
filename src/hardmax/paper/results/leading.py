"""Which words lead in reviews that are read correctly."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax.text._analysis import Analysis
from hardmax.text.text_model import TextModel

LEAST = 2.0  # of the size of a leader's own logit, as the authors have it


def leading_words(
    model: TextModel, found: Analysis, is_second: np.ndarray, words: Sequence[str], most: int
) -> list[dict[str, Any]]:
    """The words that lead in most of the reviews that are read correctly, of those with |own logit| > 2.

    The own logit of a word is what the decoder says of its vector, with the bias. `is_second` says which reviews are of
    the second class, `words` what the tokens are called. `confident` are the reviews among them with |logit| > 2.
    """
    logits = found.logits[:, 0]
    review = np.repeat(np.arange(len(found)), np.diff(found.offsets))
    own = model.prepared.scores[:, 0] + model.prepared.bias[0]
    counts = (found.leader_since >= 0) & ((logits > 0) == is_second)[review] & (np.abs(own[found.ids]) > LEAST)
    often = np.bincount(found.ids[counts], minlength=len(own))
    confident = np.bincount(found.ids[counts & (np.abs(logits) > LEAST)[review]], minlength=len(own))
    ranked = np.argsort(-often, kind="stable")[:most]
    return [
        {
            "word": words[token],
            "reviews": int(often[token]),
            "confident": int(confident[token]),
            "logit": round(float(own[token]), 3),
        }
        for token in ranked.tolist()
        if often[token]
    ]
