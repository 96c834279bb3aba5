"""Words of a model by what they say, and by where they stand."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_int, check_str, shorten
from hardmax.text.labels import number_of_class
from hardmax.text.model.model import Model
from hardmax.text.tokens.characters import fold


@dataclass(frozen=True)
class Keyword:
    """A word, what it says for a class (in units of the logit, if all words of a text were with it), and how many
    training texts of the class, and of all, have it."""

    word: str
    says: float
    texts_of_class: int
    texts: int

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Neighbour:
    """A word, and the cosine of the angle between it and another one, in the model's metric."""

    word: str
    cosine: float
    texts: int

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def keywords(model: Model, label: Any, first: int = 20, *, fewest_texts: int = 1) -> list[Keyword]:
    """The words that say most for a class, those furthest out first: who would lead a text that has them.

    Words that fewer than `fewest_texts` training texts have are left out.
    """
    number = number_of_class(label, model.classes, "`label`")
    first = check_int(first, "`first`", at_least=1)
    fewest_texts = check_int(fewest_texts, "`fewest_texts`", at_least=0)
    known = model.vocabulary
    says = model.prepared.scores[: len(known)]
    mine = (says[:, 0] if number else -says[:, 0]) if says.shape[1] == 1 else says[:, number] - says.mean(axis=1)
    rows = np.flatnonzero((mine > 0) & (known.documents >= fewest_texts))
    best = rows[np.argsort(-mine[rows], kind="stable")][:first]
    return [
        Keyword(known.surfaces[v], float(mine[v]), int(known.counts[v, number]), int(known.documents[v]))
        for v in best.tolist()
    ]


def neighbours(model: Model, word: str, first: int = 10) -> list[Neighbour]:
    """The words that stand nearest to a word by direction, the nearest first; of equally near ones those that more
    texts have. Where a word looks is all that decides whom it follows."""
    own = fold(check_str(word, "`word`"))
    first = check_int(first, "`first`", at_least=1)
    known = model.vocabulary
    if own not in known.index:
        raise InputError(f"`word` is {shorten(word)}, which the model does not know.")
    table = model.prepared.table[: len(known)]
    metric = np.eye(model.dimension) if model.metric is None else model.metric
    v = known.index[own]
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", table, metric, table))
    if lengths[v] == 0:
        raise InputError(f"`word` is {shorten(word)}, which stands at the origin: it has no direction.")
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.nan_to_num((table @ metric @ table[v]) / (lengths * lengths[v]), nan=-1.0)
    order = np.lexsort((-known.documents, -np.round(cosines, 12)))
    return [
        Neighbour(known.surfaces[u], float(cosines[u]), int(known.documents[u])) for u in order[: first + 1] if u != v
    ][:first]
