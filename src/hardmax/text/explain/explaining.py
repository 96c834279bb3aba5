"""From one text to its explanation."""

from hardmax.compiling import letting_numba_sleep
from hardmax.text.explain.account import Share
from hardmax.text.explain.explanation import Explanation
from hardmax.text.model.model import Model
from hardmax.wording import EXTRA


def explain(model: Model, text: str) -> Explanation:
    """Why the model says what it says of a text; the numbers are those of `predict_proba`, to the bit."""
    read = model.read(text)
    with letting_numba_sleep():
        found = model.weigh(read.encoded)
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
    return Explanation(
        text=text,
        label=model.classes[best],
        probability=float(found.probabilities[0, best]),
        probabilities=dict(zip(model.classes, found.probabilities[0].tolist(), strict=True)),
        towards=model.classes[towards],
        logit=float(found.logits[0, row]),
        bias=float(model.prepared.bias[row]),
        ledger=tuple(sorted(ledger, key=lambda share: -abs(share.contribution))),
        points=model.prepared.table[found.ids],
        voices=model.prepared.voices(found.counts),
        dynamics=model.dynamics,
        layers=model.layers,
    )
