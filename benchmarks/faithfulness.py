"""Do the words that are said to matter do so? Ours beside LIME, SHAP, leaving one word out, and chance.

python benchmarks/faithfulness.py TEXTS.parquet [TEXTS [MODEL]]

Every method ranks the words of what MODEL (imdb-2d) says of TEXTS texts (100), spread evenly over the file; rows go to
results/faithfulness.csv. Undecided texts have no label to explain: they are left out, and counted. Changed texts that
are undecided are no flips, and counted apart. LIME and SHAP are left out where they are not installed.

Comprehensiveness and sufficiency are those of ERASER (DeYoung et al., 2020): how far the probability of the label falls
without the first 1, 5, 10, 20 and 50 % of the words, or with these alone; also for exactly the words of active tokens.
Texts with words cut out are not texts that anybody wrote, and numbers of different models do not compare.
"""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pyarrow.parquet as parquet
from harness import CIRCUMSTANCES, add_rows, circumstances

from hardmax.text.shipped import load
from hardmax.text.spans import JOINT, Span, Units
from hardmax.text.text_model import TextModel

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
MEASURES = ("comprehensiveness", "sufficiency", "comprehensiveness_at", "sufficiency_at", "flips", "undecided")
COLUMNS = (*CIRCUMSTANCES, "model", "lime", "shap", "texts", "left_out", "attribution", *MEASURES, "ms", "times_ours")
OURS = "removals"
Attribution = Callable[[TextModel, Units], np.ndarray]


def touched(units: Units, spans: Sequence[Span]) -> np.ndarray:
    """Which words stand, at least once, in one of the places."""
    own = [[start < last and first < end for start, end in places for first, last in spans] for places in units.places]
    return np.array([any(each) for each in own])


def by_votes(model: TextModel, units: Units) -> np.ndarray:
    """Votes of the active tokens; that of a phrase is shared by its words."""
    why = model.explain(units.text)
    scores, sign = np.zeros(len(units)), 1.0 if why.label == why.towards else -1.0
    for entry in why.active:
        words = touched(units, entry.spans)
        scores[words] += sign * entry.vote / words.sum()
    return scores


def by_removals(model: TextModel, units: Units) -> np.ndarray:
    """The order of `Explanation.removals`; unknown words come where words have no effect."""
    removals = model.explain(units.text).removals
    scores, number = np.zeros(len(units)), {word: n for n, word in enumerate(units.words)}
    for place, removal in enumerate(removals):
        scores[number[removal.word]] = len(removals) - place if removal.score > 0 else -1 - place
    return scores


def by_leaving_out(model: TextModel, units: Units) -> np.ndarray:
    """How much less probable the label is without each word."""
    chances = model.predict_proba([units.text, *(units.without([word]) for word in range(len(units)))])
    return chances[0].max() - chances[1:, chances[0].argmax()]


def by_chance(model: TextModel, units: Units) -> np.ndarray:
    return np.random.default_rng([len(units), len(units.text)]).random(len(units))


def by_lime(model: TextModel, units: Units) -> np.ndarray:
    """LIME (Ribeiro et al., 2016), 5,000 samples."""
    from lime.lime_text import LimeTextExplainer

    spans = sorted((span, word) for word, several in enumerate(units.places) for span in several)
    cut = [units.text[start:end] for (start, end), _ in spans]
    explainer = LimeTextExplainer(split_expression=lambda text: cut, random_state=0)
    label = int(model.predict_proba([units.text])[0].argmax())
    options = {"labels": [label], "num_features": len(cut), "num_samples": 5000}
    found = explainer.explain_instance(units.text, model.predict_proba, **options)
    own, scores = {piece: word for piece, (_, word) in zip(cut, spans, strict=True)}, np.zeros(len(units))
    for piece, weight in found.as_list(label=label):
        scores[own[piece]] += weight
    return scores


def by_shap(model: TextModel, units: Units) -> np.ndarray:
    """SHAP (Lundberg and Lee, 2017), the Partition explainer, 500 evaluations."""
    import shap

    if len(units) == 1:  # shap cannot cluster a single word
        return np.zeros(1)

    def chances(texts: np.ndarray) -> np.ndarray:
        return model.predict_proba([str(text) for text in texts])

    found = shap.Explainer(chances, shap.maskers.Text(r"\W+"), silent=True)([units.text], max_evals=500)
    ends = np.cumsum([len(piece) for piece in found.data[0]])
    spans = [(int(end) - len(piece), int(end)) for piece, end in zip(found.data[0], ends, strict=True)]
    scores = np.zeros(len(units))
    for span, value in zip(
        spans, found.values[0][:, chances(np.array([units.text]))[0].argmax()].tolist(), strict=True
    ):
        scores[touched(units, [span])] += value
    return scores


def measure(model: TextModel, units: Units, scores: np.ndarray, active: int) -> list[float]:
    """What a ranking is worth: the MEASURES."""
    order = np.argsort(-scores, kind="stable").tolist()
    firsts = [order[: max(1, round(share * len(units)))] for share in SHARES] + [order[:active]]
    kept = [sorted(span for word in first for span in units.places[word]) for first in firsts]
    alone = [JOINT.join(units.text[start:end] for start, end in spans) for spans in kept]
    found = model.analyse([units.text, *map(units.without, firsts), *alone])
    answers = np.where(found.decided, found.probabilities.argmax(axis=1), -1)
    label = answers[0]
    losses = found.probabilities[0, label] - found.probabilities[1:, label]
    without, only, after = losses[: len(firsts)], losses[len(firsts) :], answers[len(firsts)]
    at = [without[-1], only[-1], float(after not in (label, -1)), float(after == -1)]
    return [without[:-1].mean(), only[:-1].mean(), *at]


def main(path: str, number: str = "100", name: str = "imdb-2d") -> None:
    warnings.simplefilter("ignore")  # the peers' own
    model, texts = load(name), parquet.read_table(path)["text"].to_pylist()
    chosen = [texts[row] for row in np.linspace(0, len(texts) - 1, int(number)).astype(int)]
    decided = [text for text, known in zip(chosen, model.decided(chosen), strict=True) if known]
    methods: dict[str, Attribution] = {OURS: by_removals, "votes": by_votes}
    peers = {"lime": ("LIME", by_lime), "shap": ("SHAP (Partition)", by_shap)}
    methods |= dict(peer for package, peer in peers.items() if find_spec(package))
    methods |= {"leave one out": by_leaving_out, "chance": by_chance}
    measured, seconds = {each: [] for each in methods}, {each: [] for each in methods}
    for text in decided:
        units = Units.of(text, model.tokeniser)
        active = max(1, int(np.count_nonzero(by_votes(model, units))))
        for each, attribute in methods.items():
            began = time.perf_counter()
            scores = attribute(model, units)
            seconds[each].append(time.perf_counter() - began)
            measured[each].append(measure(model, units, scores, active))
    versions = [version(package) if find_spec(package) else "" for package in peers]
    about, ours = (
        (*circumstances(), name, *versions, len(decided), len(chosen) - len(decided)),
        np.median(seconds[OURS]),
    )
    rows = []
    for each in methods:
        numbers = [f"{mean:.4f}" for mean in np.mean(measured[each], axis=0)]
        median = float(np.median(seconds[each]))
        rows.append((*about, each, *numbers, f"{1e3 * median:.3f}", f"{median / ours:.1f}"))
        print(*rows[-1][len(about) :], sep="  ", flush=True)
    add_rows("faithfulness", COLUMNS, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
