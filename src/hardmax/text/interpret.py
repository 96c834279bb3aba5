"""What a model has learned: the tokens of largest weight for each class, and those that lead
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
    """Texts that a token must have to be shown: three, unless no token has that many."""
    return min(3, int(model.vocabulary.documents.max(initial=0)))


def keywords(model: "TextModel", label: Any, top_k: int = 20) -> list[Keyword]:
    """The tokens of largest weight for a class; see `TextModel.keywords`."""
    number = number_of_class(label, model.classes, "`label`")
    top_k = check_int(top_k, "`top_k`", at_least=1)
    known, weights = model.vocabulary, model._voting.weights
    if weights.shape[1] == 1:
        weights = np.hstack([-weights, weights])
    else:
        weights = weights - weights.mean(axis=1, keepdims=True)
    weight = weights[:, number]
    tokens = np.flatnonzero((weight > 0) & (known.documents >= _enough(model)))
    best = tokens[np.argsort(-weight[tokens], kind="stable")][:top_k]
    columns = weight[best].tolist(), known.documents[best].tolist()
    return list(map(Keyword, [known.surfaces[token] for token in best], *columns))


def frequent_leaders(
    model: "TextModel", analysis: Analysis, top_k: int | None = None
) -> tuple[Leader, ...]:
    """The tokens that lead most of the analysed texts.

    Parameters
    ----------
    model : TextModel
        The model that analysed them.
    analysis : Analysis
        What `model.analyse(texts)` gives.
    top_k : int, optional
        The largest number of tokens.

    Returns
    -------
    tuple of Leader
        The most frequent first; among equals, by the alphabet.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load_model("sentiment-en")
    >>> analysis = model.analyse(["An awful script.", "Awful!"])
    >>> [(leader.word, leader.texts) for leader in frequent_leaders(model, analysis, 1)]
    [('awful', 2)]
    """
    tokens, times = np.unique(analysis.ids[analysis.leads], return_counts=True)
    shown = model.vocabulary.documents[tokens] >= _enough(model)
    tokens, times = tokens[shown], times[shown]
    surfaces = [model.vocabulary.surfaces[token] for token in tokens]
    ranked = sorted(zip((-times).tolist(), surfaces, tokens.tolist(), strict=True))
    leaders = []
    for times, word, token in ranked[:top_k]:
        scores = model._voting.weights[token]
        best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
        leader = Leader(
            word=word,
            texts=-times,
            share=-times / len(analysis),
            lean=model.classes[best],
        )
        leaders.append(leader)
    return tuple(leaders)
