"""From one text to its explanation."""

import math

import numpy as np

from hardmax.compiling import letting_numba_sleep
from hardmax.text.explain.account import Share, Vote
from hardmax.text.explain.explanation import Explanation
from hardmax.text.model.model import Model
from hardmax.wording import EXTRA


def explain(model: Model, text: str) -> Explanation:
    """Why the model says what it says of a text; the numbers are those of `predict_proba`, to the bit."""
    read = model.read(text)
    with letting_numba_sleep():
        found, says = model.weigh_words(read.encoded)
    best = int(found.probabilities[0].argmax())
    row, towards = (0, 1) if len(model.bias) == 1 else (best, best)
    surfaces = (*model.vocabulary.surfaces, EXTRA)
    ledger = [
        Share(
            word=surfaces[token],
            places=stands,
            count=int(count),
            mass=float(mass),
            contribution=float(mass * model.prepared.scores[token, row]),
            leads=bool(since >= 0),
        )
        for token, count, mass, since, stands in zip(
            found.ids, found.counts, found.masses, found.leader_since, read.places, strict=True
        )
    ]
    voices = model.prepared.voices(found.counts)
    votes = voices / max(voices.sum(), 1) * says[:, row]
    counting = [
        Vote(
            word=surfaces[found.ids[t]],
            places=read.places[t],
            count=int(found.counts[t]),
            leader=surfaces[found.ids[found.follows[t]]] if found.follows[t] >= 0 else None,
            vote=float(votes[t]),
        )
        for t in np.flatnonzero(found.counting)
    ]
    words = found.ids < len(model.vocabulary)
    return Explanation(
        text=text,
        label=model.classes[best],
        probability=float(found.probabilities[0, best]),
        probabilities=dict(zip(model.classes, found.probabilities[0].tolist(), strict=True)),
        towards=model.classes[towards],
        logit=float(found.logits[0, row]),
        bias=float(model.prepared.bias[row]),
        ledger=tuple(sorted(ledger, key=lambda share: -abs(share.contribution))),
        counting=tuple(sorted(counting, key=lambda vote: -abs(vote.vote))),
        neutral=float(voices[words & ~found.counting].sum() / max(voices[words].sum(), 1)),
        rest=math.fsum(votes[~found.counting]),
        has_neutral=model.has_neutral,
        points=model.prepared.table[found.ids],
        voices=voices,
        dynamics=model.dynamics,
        layers=model.layers,
    )
