"""Which words lead how often: what a model looks at, over many texts."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hardmax._format import EXTRA_TOKEN
from hardmax._validation import check_instance, check_int
from hardmax.text.explain import Label
from hardmax.text.model.analysis import Analysis
from hardmax.text.model.model import Model


@dataclass(frozen=True, kw_only=True)
class Leader:
    """A word that leads, and how often."""

    word: str
    texts: int  # in which it leads
    share: float  # of all texts
    mass: float  # its mean share of those texts
    lean: Label  # the class for which it speaks
    pull: float  # its part of that class's logit if it were alone; of the second class's if there are two

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def frequent_leaders(model: Model, found: Analysis, most: int | None = None) -> tuple[Leader, ...]:
    """The words that lead in most of the analysed texts, the most frequent first; among equals, by the alphabet.

    >>> from hardmax.text.tokens.vocabulary import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = Model(vocabulary=known, embeddings=[[2, 0], [-2, 0.5], [0.1, 0.1]], decoder=[[1, 0]], bias=[0.0],
    ...               classes=["negative", "positive"], layers=8)
    >>> found = model.analyse(["A great film.", "Great!", "Awful."])
    >>> [(leader.word, leader.texts, leader.lean) for leader in frequent_leaders(model, found)]
    [('great', 2, 'positive'), ('awful', 1, 'negative')]
    """
    check_instance(model, Model, "`model`", "a TextModel")
    check_instance(found, Analysis, "`found`", "what `model.analyse` gives")
    most = None if most is None else check_int(most, "`most`", at_least=0)
    leads = found.leader_since >= 0
    if model.has_neutral:  # it leads everywhere, and is no word
        leads &= found.ids != model.prepared.extra
    tokens, times = np.unique(found.ids[leads], return_counts=True)
    masses = np.bincount(found.ids[leads], found.masses[leads], minlength=len(model.prepared.table))
    surfaces = (*model.vocabulary.surfaces, EXTRA_TOKEN)
    ranked = sorted(zip((-times).tolist(), (surfaces[token] for token in tokens), tokens.tolist(), strict=True))
    return tuple(
        Leader(
            word=word,
            texts=-times,
            share=-times / len(found),
            mass=float(masses[token] / -times),
            **_direction(model, token),
        )
        for times, word, token in ranked[:most]
    )


def _direction(model: Model, token: int) -> dict[str, Any]:
    scores = model.prepared.scores[token]
    best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
    return {"lean": model.classes[best], "pull": float(scores[0] if len(scores) == 1 else scores[best])}
