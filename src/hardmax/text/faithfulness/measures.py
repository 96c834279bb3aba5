"""What a ranking of words is worth, asked of the model: what is left of its answer without the first, or with these.

Definitions: comprehensiveness and sufficiency as in ERASER (DeYoung et al., 2020), over shares of the distinct words;
AOPC, the mean loss as words go one by one, also between the bounds of the model itself (Edin et al., 2024), found by
taking at each step the word that costs most, or least.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax.text.spans import Units
from hardmax.text.text_model import TextModel

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
STEPS = 20  # words that go one by one


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a ranking is worth for one text."""

    comprehensiveness: float  # the larger the better
    sufficiency: float  # the smaller the better
    comprehensiveness_at: float  # of exactly so many words as count
    sufficiency_at: float
    flips: bool  # without these the answer is another
    aopc: float
    kendall: float  # with leaving out one word at a time; nan if all words are alike


@dataclass(frozen=True)
class Bounds:
    """The least and the largest AOPC that were found for a text."""

    least: float
    largest: float

    def place(self, aopc: float) -> float:
        """Where it lies between them: 0 is as bad, 1 as good as was found; nan if they are the same."""
        room = self.largest - self.least
        return (aopc - self.least) / room if room > 0 else float("nan")


def measure(model: TextModel, units: Units, scores: np.ndarray, counting: int, left_out: np.ndarray) -> Worth:
    """What the ranking by `scores` is worth. `counting` words count; `left_out` is the loss without each word."""
    order = np.argsort(-scores, kind="stable").tolist()
    sizes = [max(1, round(share * len(units))) for share in SHARES]
    firsts = [order[:size] for size in (*sizes, counting)]
    steps = [order[:size] for size in range(1, min(STEPS, len(units)) + 1)]
    texts = [units.text, *map(units.without, firsts), *map(units.only, firsts), *map(units.without, steps)]
    chances = model.predict_proba(texts)
    answer = int(chances[0].argmax())
    losses = chances[0, answer] - chances[1:, answer]
    several = len(firsts)
    without, only, along = losses[:several], losses[several : 2 * several], losses[2 * several :]
    return Worth(
        comprehensiveness=float(without[:-1].mean()),
        sufficiency=float(only[:-1].mean()),
        comprehensiveness_at=float(without[-1]),
        sufficiency_at=float(only[-1]),
        flips=bool(chances[several].argmax() != answer),
        aopc=float(along.mean()),
        kendall=_kendall(scores, left_out),
    )


def find_bounds(model: TextModel, units: Units) -> Bounds:
    """The least and the largest AOPC, by a greedy search: what is told lies between bounds that were reached."""
    before = model.predict_proba([units.text])[0]
    answer = int(before.argmax())
    found = []
    for worst in (True, False):
        taken: list[int] = []
        losses = []
        for _ in range(min(STEPS, len(units))):
            left = [word for word in range(len(units)) if word not in taken]
            chances = model.predict_proba([units.without([*taken, word]) for word in left])[:, answer]
            best = int(chances.argmax() if worst else chances.argmin())
            taken.append(left[best])
            losses.append(before[answer] - chances[best])
        found.append(float(np.mean(losses)))
    return Bounds(*found)


def agreement(units: Units, scores: np.ndarray, marked: np.ndarray) -> dict[str, float]:
    """How far the ranking has what people marked first: precision at 1, 2, and as many as they marked; and the area
    under precision and recall."""
    order = np.argsort(-scores, kind="stable")
    hits = marked[order]
    ranks = np.flatnonzero(hits) + 1
    many = max(int(marked.sum()), 1)
    return {
        "precision_at_1": float(hits[:1].mean()),
        "precision_at_2": float(hits[:2].mean()),
        "precision_at_k": float(hits[:many].mean()),
        "auprc": float((np.arange(1, len(ranks) + 1) / ranks).mean()) if len(ranks) else float("nan"),
    }


def _kendall(scores: np.ndarray, others: np.ndarray) -> float:
    from scipy.stats import kendalltau

    if len(np.unique(scores)) < 2 or len(np.unique(others)) < 2:
        return float("nan")
    found: Any = kendalltau(scores, others)
    return float(found.statistic)
