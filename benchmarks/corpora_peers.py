"""The peers of `corpora.py`: logistic regression on three kinds of features, its C chosen by log
loss in folds that keep copies together, as ours chooses its settings.

- TF-IDF of words and pairs of words, or, in scripts without spaces, of one to three characters.
- Which of these a text has, weighted by naive Bayes (Wang and Manning, 2012: "Baselines and
  Bigrams"), each class against the rest.
- The mean of the word vectors that ship with hardmax, for few labels in English."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false
import re
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from hardmax.text._characters import CHARACTERS
from hardmax.text._kernels_pieces import LETTER
from hardmax.train.vectors import read_vectors

FOLDS = 4
STRENGTHS = (0.3, 1, 3, 10, 30, 100)  # for TF-IDF
WEAKER = (0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)  # the other features are larger


class NaiveBayesWeights(TransformerMixin, BaseEstimator):
    """Columns times the log of how much more frequent they are in one of two classes."""

    def fit(self, counts: Any, labels: np.ndarray) -> Self:
        inside, outside = (1 + counts[labels == label].sum(axis=0) for label in (1, 0))
        ratios = (inside / inside.sum()) / (outside / outside.sum())
        self.weights_ = np.log(np.asarray(ratios).ravel())
        return self

    def transform(self, counts: Any) -> Any:
        return counts.multiply(self.weights_).tocsr()


def peers_for(texts: list[str], labels: list[str]) -> dict[str, GridSearchCV]:
    """The peers by name, for these texts."""
    by_characters = {"analyzer": "char", "ngram_range": (1, 3)}
    how: dict[str, Any] = by_characters if has_no_spaces(texts) else {"ngram_range": (1, 2)}
    of = f"{how.get('analyzer', 'word')}s {how['ngram_range']}"
    frequent = make_pipeline(TfidfVectorizer(sublinear_tf=True, **how), regression())
    weighted = make_pipeline(NaiveBayesWeights(), regression())
    present = make_pipeline(CountVectorizer(binary=True, **how), OneVsRestClassifier(weighted))
    folds = folds_of(texts, labels)
    return {
        f"TF-IDF of {of}": tuned(frequent, STRENGTHS, folds),
        f"naive-Bayes weights of {of}": tuned(present, WEAKER, folds),
    }


def by_vectors(texts: list[str], labels: list[str]) -> Pipeline:
    """The peer for few labels in English."""
    vectors = read_vectors("english")
    scaled = make_pipeline(StandardScaler(), regression())
    return make_pipeline(
        CountVectorizer(vocabulary=vectors.rows, token_pattern=r"\w+"),
        Normalizer("l1"),
        FunctionTransformer(lambda shares: shares @ vectors.table),
        tuned(scaled, WEAKER, folds_of(texts, labels)),
    )


def regression() -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def tuned(classifier: Pipeline, strengths: tuple[float, ...], folds: list[Any]) -> GridSearchCV:
    """The classifier with that one of the strengths which predicts held-out texts best; words that
    only these have are unknown to it, as they will be."""
    (name,) = [name for name in classifier.get_params() if name.split("__")[-1] == "C"]
    return GridSearchCV(classifier, {name: strengths}, scoring=minus_log_loss, cv=folds)


def folds_of(texts: list[str], labels: list[str]) -> list[Any]:
    copies = [" ".join(re.findall(r"\w+", text.lower())) for text in texts]
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    return list(folds.split(texts, labels, copies))


def minus_log_loss(classifier: Any, given: Any, labels: np.ndarray) -> float:
    classes, chances = chances_of(classifier, given, labels)
    truth = np.searchsorted(classes, labels)
    return -log_loss(truth, chances, labels=range(len(classes)))


def chances_of(classifier: Any, given: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes that were learned or are judged, and the probabilities of each."""
    classes = np.union1d(labels, classifier.classes_)
    chances = np.zeros((len(labels), len(classes)))
    columns = np.searchsorted(classes, classifier.classes_)
    chances[:, columns] = classifier.predict_proba(given)
    return classes, chances


def has_no_spaces(texts: list[str]) -> bool:
    """Whether more than half of the letters are of scripts without spaces."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    kinds = CHARACTERS.classes[codes]
    return bool(2 * (kinds > LETTER).sum() > (kinds >= LETTER).sum())
