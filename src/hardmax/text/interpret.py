"""What a model has learnt: the tokens of largest weight for each class, and those that lead
texts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import check_int
from hardmax.text._analysis import Analysis
from hardmax.text._texts import number_of_class

if TYPE_CHECKING:
    from hardmax.text.explain import Label
    from hardmax.text.text_model import TextModel


@dataclass(frozen=True)
class Keyword:
    """A token with a positive weight for a class."""

    word: str
    weight: float
    """What it says: its vote in a text is this, divided by the size of the text."""
    texts_of_class: int
    """How many training texts of the class have it."""
    texts: int
    """How many training texts have it."""


@dataclass(frozen=True, kw_only=True)
class Leader:
    """A token that leads, and how often."""

    word: str
    texts: int
    """How many of the texts it leads."""
    share: float
    """Of all texts."""
    lean: "Label"
    """The class of its largest weight."""


def _enough(model: "TextModel") -> int:
    """Texts that a token must have to be shown: three, unless no token has so many."""
    return min(3, int(model.vocabulary.documents.max(initial=0)))


def keywords(
    model: "TextModel", label: Any, top_k: int = 20, min_df: int | None = None
) -> list[Keyword]:
    """The tokens of largest weight for a class; see `TextModel.keywords`."""
    number = number_of_class(label, model.classes, "`label`")
    min_df = _enough(model) if min_df is None else check_int(min_df, "`min_df`", at_least=0)
    top_k = check_int(top_k, "`top_k`", at_least=1)
    known = model.vocabulary
    weights = model._voting.weights
    mine = (
        (weights[:, 0] if number else -weights[:, 0])
        if weights.shape[1] == 1
        else weights[:, number] - weights.mean(axis=1)
    )
    rows = np.flatnonzero((mine > 0) & (known.documents >= min_df))
    best = rows[np.argsort(-mine[rows], kind="stable")][:top_k]
    return [
        Keyword(
            known.surfaces[v], float(mine[v]), int(known.counts[v, number]), int(known.documents[v])
        )
        for v in best.tolist()
    ]


def frequent_leaders(
    model: "TextModel", found: Analysis, most: int | None = None
) -> tuple[Leader, ...]:
    """The tokens that lead most of the analysed texts, the most frequent first; among equals, by
    the alphabet."""
    tokens, times = np.unique(found.ids[found.leads], return_counts=True)
    shown = model.vocabulary.documents[tokens] >= _enough(model)
    tokens, times = tokens[shown], times[shown]
    surfaces = model.vocabulary.surfaces
    ranked = sorted(
        zip((-times).tolist(), (surfaces[token] for token in tokens), tokens.tolist(), strict=True)
    )
    leaders = []
    for times, word, token in ranked[:most]:
        scores = model._voting.weights[token]
        best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
        leader = Leader(
            word=word,
            texts=-times,
            share=-times / len(found),
            lean=model.classes[best],
        )
        leaders.append(leader)
    return tuple(leaders)
