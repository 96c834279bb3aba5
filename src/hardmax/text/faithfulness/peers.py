"""Attributions by others: LIME, SHAP, and the weights of a linear model of TF-IDF."""

# These are not part of the development environment.
# pyright: reportMissingImports=false
from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax._validation import InputError, require_extra
from hardmax.text.faithfulness.attributions import Attribution
from hardmax.text.spans import Units
from hardmax.text.text_model import TextModel

EXTRA = "faithfulness"


def by_lime(samples: int = 5000, seed: int = 0) -> Attribution:
    """LIME (Ribeiro et al., 2016): a linear model of the answers to texts without some of the words."""
    require_extra("LIME", EXTRA, "lime")
    from lime.lime_text import LimeTextExplainer

    def attribute(model: TextModel, units: Units) -> np.ndarray:
        if not len(units):
            return np.zeros(0)
        spans = sorted((span, word) for word, several in enumerate(units.places) for span in several)
        cut = [units.text[start:end] for (start, end), _ in spans]
        explainer = LimeTextExplainer(split_expression=lambda text: cut, random_state=seed)
        answer = int(model.predict_proba([units.text])[0].argmax())
        found = explainer.explain_instance(
            units.text, model.predict_proba, labels=[answer], num_features=len(cut), num_samples=samples
        )
        told = dict(found.as_list(label=answer))
        own = {piece: word for piece, (_, word) in zip(cut, spans, strict=True)}
        scores = np.zeros(len(units))
        for piece, weight in told.items():
            scores[own[piece]] += weight
        return scores

    return attribute


def by_shap(evaluations: int = 500) -> Attribution:
    """SHAP (Lundberg and Lee, 2017), its Partition explainer: shares of the answer along a tree of the words."""
    require_extra("SHAP", EXTRA, "shap")
    import shap

    def attribute(model: TextModel, units: Units) -> np.ndarray:
        if not len(units):
            return np.zeros(0)
        explainer = shap.Explainer(
            lambda texts: model.predict_proba([str(text) for text in texts]), shap.maskers.Text(r"\W+"), silent=True
        )
        answer = int(model.predict_proba([units.text])[0].argmax())
        found = explainer([units.text], max_evals=evaluations)
        ends = np.cumsum([len(piece) for piece in found.data[0]])
        spans = [(int(end) - len(piece), int(end)) for piece, end in zip(found.data[0], ends, strict=True)]
        return units.gather(spans, found.values[0][:, answer].tolist())

    return attribute


def by_tfidf(texts: Sequence[str], labels: Sequence[Any]) -> Attribution:
    """The weights of TF-IDF with logistic regression, trained on these texts: of another model, which says the same of
    most texts. What it says for a phrase is shared by its words."""
    require_extra("TF-IDF", EXTRA, "sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    line = LogisticRegression(C=10, max_iter=1000).fit(vectors.fit_transform(texts), [str(label) for label in labels])
    analyse, known = vectors.build_analyzer(), vectors.vocabulary_

    def attribute(model: TextModel, units: Units) -> np.ndarray:
        answer = str(model.predict([units.text])[0])
        row: Any = vectors.transform([units.text])
        if answer not in line.classes_:
            learned = ", ".join(line.classes_)
            raise InputError(f"TF-IDF learned the labels {learned}: expected those of the model, {answer} among them.")
        number = list(line.classes_).index(answer)
        weights = line.coef_[0] * (1 if number else -1) if len(line.coef_) == 1 else line.coef_[number]
        says = dict(zip(row.indices.tolist(), (row.data * weights[row.indices]).tolist(), strict=True))
        index = {word: place for place, word in enumerate(units.words)}
        scores = np.zeros(len(units))
        for feature in dict.fromkeys(analyse(units.text)):
            mine = [index[word] for word in feature.split() if word in index]
            for place in mine:
                scores[place] += says.get(known.get(feature, -1), 0.0) / len(mine)
        return scores

    return attribute
