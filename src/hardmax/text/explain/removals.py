"""Which words of a text matter most: each time the one that says most, for the text without it and on its own."""

from dataclasses import dataclass

import numpy as np

from hardmax._compile import interpreted
from hardmax.text.model.analysis import FEW, Analysis
from hardmax.text.model.prepared import Prepared
from hardmax.text.tokens.kernels.removing import Cloud, Found
from hardmax.text.tokens.kernels.removing import rank_words as kernel
from hardmax.text.tokens.spots import Spots


@dataclass(frozen=True, eq=False)
class Ranking:
    """The words of a text, as the pieces where they first stand, the one that is worth most first: a third of what the
    text says less without it, those before it being gone, and two thirds of what it says on its own."""

    heads: np.ndarray
    worths: np.ndarray
    losses: np.ndarray  # what the text says less
    nexts: np.ndarray  # for each piece the next one of the same word, or -1

    def pieces(self, place: int) -> list[int]:
        """All pieces that are the word in this place of the ranking."""
        found, piece = [], int(self.heads[place])
        while piece >= 0:
            found.append(piece)
            piece = int(self.nexts[piece])
        return found


def rank_words(
    spots: Spots, text: Analysis, ends: np.ndarray, prepared: Prepared, direction: np.ndarray, overlapping: bool
) -> Ranking:
    """Rank the words of one text by what they say along a direction.

    Tokens say it as shares of the words of the text, and follow its leaders, whatever is taken out. (On its own, which
    is to say in a text of that word alone, a word leads or follows the neutral leader.)
    """
    strengths, least = prepared.strengths, -1.0  # without a gate no token is that weak
    if prepared.gate is not None:
        least = prepared.gate * strengths[text.ids].max(initial=0.0)
    found = Found(spots.tokens, spots.firsts, spots.lasts, spots.rows, spots.words)
    cloud = Cloud(
        prepared.table,
        prepared.rules.metric,
        text.ids,
        ends,
        np.flatnonzero(text.leader_since >= 0),
        text.counting,
        float(max(prepared.voices(text).sum(), 1)),
        float(prepared.depth.powers[prepared.rules.layers]),
        direction,
        prepared.extra if prepared.has_neutral else -1,
        strengths,
        least,
    )
    with interpreted(kernel, if_small=len(spots.words) <= FEW):
        return Ranking(*kernel(found, cloud, prepared.binary, overlapping))
