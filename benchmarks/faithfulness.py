"""Do the words that are said to matter do so? Ours beside LIME, SHAP, leaving one word out, and
chance.

python benchmarks/faithfulness.py TEXTS.parquet [TEXTS [MODEL]]

Every method ranks the words of what MODEL (imdb) says of TEXTS texts (100), spread evenly over the
file; means go to results/faithfulness.csv, and our two rankings minus each peer's, text by text, to
results/faithfulness_pairs.csv. Times are of the processor. Undecided texts have no label to
explain: they are left out, and counted. Changed texts that are undecided are no flips, and counted
apart. LIME and SHAP are left out where they are not installed.

Comprehensiveness and sufficiency are those of ERASER (DeYoung et al., 2020): how far the
probability of the label falls without the first 1, 5, 10, 20 and 50 % of the words, or with these
alone; also for exactly the words of active tokens. Texts with words cut out are not texts that
anybody wrote, and numbers of different models do not compare."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from harness import add_rows
from units import Units

from hardmax.text.shipped import load_model
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import JOINT, Span

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
MEASURES = (
    "comprehensiveness",
    "sufficiency",
    "comprehensiveness_at",
    "sufficiency_at",
    "flips",
    "undecided",
)
ABOUT = ("model", "lime", "shap", "file", "texts", "left_out")
COLUMNS = (*ABOUT, "attribution", *MEASURES, "ms", "times_ours")
PAIR_COLUMNS = (*ABOUT, "attribution", "peer", "measure", "difference", "low", "high")
OURS = "removals"
PEERS = ("LIME", "SHAP (Partition)")
RESAMPLES = 10_000
Attribution = Callable[[TextModel, Units], np.ndarray]


def touched(units: Units, spans: Sequence[Span]) -> np.ndarray:
    """Which words stand, at least once, in one of the places."""
    own = [
        [start < last and first < end for start, end in places for first, last in spans]
        for places in units.places
    ]
    return np.array([any(each) for each in own])


def by_votes(model: TextModel, units: Units) -> np.ndarray:
    """Votes of the active tokens; that of a phrase is shared by its words."""
    why = model.explain(units.text)
    scores, sign = np.zeros(len(units)), 1.0 if why.label == why.positive_class else -1.0
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
    chances = model.predict_proba(
        [units.text, *(units.without([word]) for word in range(len(units)))]
    )
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
    own, scores = (
        {piece: word for piece, (_, word) in zip(cut, spans, strict=True)},
        np.zeros(len(units)),
    )
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

    found = shap.Explainer(chances, shap.maskers.Text(r"\W+"), silent=True)(
        [units.text], max_evals=500
    )
    ends = np.cumsum([len(piece) for piece in found.data[0]])
    spans = [
        (int(end) - len(piece), int(end)) for piece, end in zip(found.data[0], ends, strict=True)
    ]
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


def paired_interval(differences: np.ndarray) -> tuple[float, float, float]:
    """The mean of differences, one for each text, and its 95 % interval by the bootstrap over
    texts."""
    count = len(differences)
    drawn = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return float(differences.mean()), float(low), float(high)


def pairs(measured: dict[str, np.ndarray]) -> list[tuple[object, ...]]:
    """Our two rankings beside each peer that was there, in the two measures of ERASER."""
    rows = []
    for own, peer, measure in product((OURS, "votes"), PEERS, MEASURES[:2]):
        if peer in measured:
            column = MEASURES.index(measure)
            differences = measured[own][:, column] - measured[peer][:, column]
            interval = paired_interval(differences)
            rows.append((own, peer, measure, *(f"{number:+.4f}" for number in interval)))
            print(*rows[-1], sep="  ", flush=True)
    return rows


def main(path: str, number: str = "100", name: str = "imdb") -> None:
    warnings.simplefilter("ignore")  # the peers' own
    model, texts = load_model(name), parquet.read_table(path)["text"].to_pylist()
    chosen = [texts[row] for row in np.linspace(0, len(texts) - 1, int(number)).astype(int)]
    decided = [
        text for text, known in zip(chosen, model.analyse(chosen).decided, strict=True) if known
    ]
    methods: dict[str, Attribution] = {OURS: by_removals, "votes": by_votes}
    packages = {"lime": by_lime, "shap": by_shap}
    peers = dict(zip(PEERS, packages.items(), strict=True))
    methods |= {peer: rank for peer, (package, rank) in peers.items() if find_spec(package)}
    methods |= {"leave one out": by_leaving_out, "chance": by_chance}
    results, seconds = {method: [] for method in methods}, {method: [] for method in methods}
    for text in decided:
        units = Units.of(text)
        active = max(1, int(np.count_nonzero(by_votes(model, units))))
        for method, attribute in methods.items():
            began = time.process_time()
            scores = attribute(model, units)
            seconds[method].append(time.process_time() - began)
            results[method].append(measure(model, units, scores, active))
    measured = {method: np.array(rows) for method, rows in results.items()}
    versions = [version(package) if find_spec(package) else "" for package in packages]
    about = (name, *versions, Path(path).stem, len(decided), len(chosen) - len(decided))
    medians = {method: float(np.median(times)) for method, times in seconds.items()}
    rows = []
    for method, numbers in measured.items():
        means = [f"{mean:.4f}" for mean in numbers.mean(axis=0)]
        times_ours = medians[method] / medians[OURS]
        rows.append((*about, method, *means, f"{1e3 * medians[method]:.3f}", f"{times_ours:.1f}"))
        print(*rows[-1][len(about) :], sep="  ", flush=True)
    add_rows("faithfulness", COLUMNS, rows)
    add_rows("faithfulness_pairs", PAIR_COLUMNS, [(*about, *row) for row in pairs(measured)])


if __name__ == "__main__":
    main(*sys.argv[1:])
