"""From one text to its explanation."""

from collections import defaultdict

from hardmax.errors import InputError
from hardmax.text.explanation import EXTRA, Explanation, Share
from hardmax.text.model import TextModel


def explain(model: TextModel, text: str) -> Explanation:
    """Why the model says what it says of a text; the numbers are those of `predict_proba`, to the bit."""
    if not isinstance(text, str):
        raise InputError(f"`text` is of type {type(text).__name__}: expected one text.")
    found = model.analyse([text])
    best = int(found.probabilities[0].argmax())
    row, towards = (0, 1) if len(model.bias) == 1 else (best, best)
    spans = _spans(model, text)
    surfaces = (*model.vocabulary.surfaces, EXTRA)
    ledger = [
        Share(
            word=surfaces[token],
            spans=tuple(spans[token]),
            count=int(count),
            mass=float(mass),
            contribution=float(mass * model.prepared.scores[token, row]),
            leads=bool(since >= 0),
        )
        for token, count, mass, since in zip(found.ids, found.counts, found.masses, found.leader_since, strict=True)
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


def _spans(model: TextModel, text: str) -> dict[int, list[tuple[int, int]]]:
    places = defaultdict(list)
    for surface, start, end in model.tokeniser.tokens(text):
        token = model.vocabulary.index.get(surface)
        if token is not None:
            places[token].append((start, end))
    return places
