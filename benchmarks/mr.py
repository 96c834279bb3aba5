"""Ten-fold cross-validation on the MR sentences (Pang and Lee, ACL 2005), beside TF-IDF with word pairs, same folds.

python benchmarks/mr.py MR.parquet

A table of texts and labels; rows go to results/mr.csv. The recipes were chosen on texts held out of the training part
of every fold: nothing here chooses. The peer chooses in every fold, by five-fold cross-validation on the training part:
its strength, and whether words and pairs of one text count.
"""

# The peer is not part of the development environment.
# pyright: reportMissingImports=false
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version

import numpy as np
from harness import CIRCUMSTANCES, add_rows, circumstances
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from hardmax._validation import InputError
from hardmax.text.data.corpora import Corpus, read_corpus
from hardmax.text.evaluation.measuring import evaluate_model
from hardmax.train import Recipe, fit

FOLDS, STRENGTHS = 10, (1.0, 3.0, 10.0, 30.0, 100.0)
PEER = "TF-IDF (1, 2) + LogisticRegression"
# Short texts: words and pairs are known, also those of one text, unless the classes use them alike. Their log-odds are
# where training starts, and it only sets them against each other. Two classes need one dimension.
SENTENCES = Recipe(
    dimension=1,
    layers=8,
    longest_phrase=2,
    min_df=1,
    max_tokens=1_000_000,
    thrift=0.0,
    min_log_odds=0.35,
    smoothing=2.0,
    init="odds",
    init_std=0.3,
    epochs=2,
    bag_of_words_epochs=0.0,
    alpha_warmup_epochs=0.0,
    learning_rate=0.002,
    word_dropout=0.0,
)
OURS = {"hardmax, 8 layers": SENTENCES, "hardmax, 1 layer": replace(SENTENCES, layers=1)}
COLUMNS = (*CIRCUMSTANCES, "scikit_learn", "contestant", "layers", "alpha", "dimension", "seconds", "accuracy")
COLUMNS += ("above_peer", "folds_above", "folds", "leaders_per_text", "mass_on_leaders", "leaders", "recipe")


@dataclass
class Measured:
    """What a contestant reached, fold by fold."""

    accuracies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    leaders_per_text: list[float] = field(default_factory=list)
    mass_on_leaders: list[float] = field(default_factory=list)
    leaders: Counter[str] = field(default_factory=Counter)


def judge_peer(train: Corpus, test: Corpus, found: Measured) -> None:
    """TF-IDF and logistic regression, at their best on the training texts."""
    vectorisers = [TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=fewest) for fewest in (1, 2)]
    searches = [
        GridSearchCV(LogisticRegression(solver="liblinear"), {"C": STRENGTHS}, cv=5).fit(
            vectoriser.fit_transform(train.texts), train.labels
        )
        for vectoriser in vectorisers
    ]
    best = max((0, 1), key=lambda way: searches[way].best_score_)
    told = searches[best].predict(vectorisers[best].transform(test.texts))
    found.accuracies.append(float(np.mean(told == np.array(test.labels))))


def judge_recipe(recipe: Recipe) -> Callable[[Corpus, Corpus, Measured], None]:
    """A contestant: the model that the recipe makes of the training texts."""

    def judge(train: Corpus, test: Corpus, found: Measured) -> None:
        seen = evaluate_model(fit(train.texts, train.labels, recipe), test.texts, test.labels)
        found.accuracies.append(seen.metrics["accuracy"])
        found.leaders_per_text.append(seen.metrics["leaders_per_text"])
        found.mass_on_leaders.append(seen.metrics["mass_on_leaders"])
        found.leaders.update({leader.word: leader.texts for leader in seen.leaders})

    return judge


def pick(corpus: Corpus, rows: np.ndarray) -> Corpus:
    return Corpus([corpus.texts[row] for row in rows], [corpus.labels[row] for row in rows])


def cross_validate(corpus: Corpus) -> dict[str, Measured]:
    """All contestants on the same folds, a line each as it is done."""
    contestants = {PEER: judge_peer} | {name: judge_recipe(recipe) for name, recipe in OURS.items()}
    measured = {name: Measured() for name in contestants}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(corpus.texts, corpus.labels)
    for number, (train, test) in enumerate(folds, 1):
        for name, judge in contestants.items():
            began, found = time.perf_counter(), measured[name]
            judge(pick(corpus, train), pick(corpus, test), found)
            found.seconds += time.perf_counter() - began
            print(f"fold {number:2} of {FOLDS}  {name:36} {found.accuracies[-1]:.4f}", flush=True)
    return measured


def row(name: str, found: Measured, peer: Measured) -> tuple[object, ...]:
    """The cells after the circumstances."""
    recipe, above = OURS.get(name), np.subtract(found.accuracies, peer.accuracies)
    kind = (recipe.layers, recipe.alpha, recipe.dimension) if recipe else ("", "", "")
    reached = (f"{found.seconds:.1f}", f"{np.mean(found.accuracies):.4f}", f"{above.mean():+.4f}", (above > 0).sum())
    folds = " ".join(f"{accuracy:.4f}" for accuracy in found.accuracies)
    if not recipe:
        return version("scikit-learn"), name, *kind, *reached, folds, "", "", "", ""
    leading = (f"{np.mean(found.leaders_per_text):.4f}", f"{np.mean(found.mass_on_leaders):.4f}")
    words = ", ".join(f"{word} {texts}" for word, texts in found.leaders.most_common(30))
    return version("scikit-learn"), name, *kind, *reached, folds, *leading, words, json.dumps(asdict(recipe))


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit("usage: python benchmarks/mr.py MR.parquet")
    try:
        corpus = read_corpus(arguments[0]).refuse_bad()
        corpus.numbered()
    except InputError as error:
        raise SystemExit(str(error)) from None
    measured = cross_validate(corpus)
    rows = [(*circumstances(), *row(name, found, measured[PEER])) for name, found in measured.items()]
    add_rows("mr", COLUMNS, rows)
    for name, found in measured.items():
        above = np.mean(found.accuracies) - np.mean(measured[PEER].accuracies)
        print(f"{name:36} {np.mean(found.accuracies):.4f} in the mean, {above:+.4f} above {PEER}")


if __name__ == "__main__":
    main(sys.argv[1:])
