"""The card of a model as a page: what it knows; and, measured on texts, what leads, its
calibration, where it errs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax.text.card import formula
from hardmax.text.evaluation import Evaluation, calibration_curve
from hardmax.text.explain import explain
from hardmax.text.interpret import keywords
from hardmax.text.page import document, macros
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

_KEYWORDS, _CLASSES, _LEADERS, _ERRORS = 12, 20, 20, 5
Table = tuple[Sequence[Any], Sequence[Sequence[Any]]]  # head, rows


def card_page(
    model: TextModel, name: str, texts: Sequence[str] | None = None, found: Evaluation | None = None
) -> str:
    """The page about a model of that name; `found` is what it was measured to be on the texts."""
    sections: list[tuple[str, str, list[Table]]] = [
        ("Heaviest tokens of each class", "", _keywords(model))
    ]
    errors = []
    if texts is not None and found is not None:
        numbers = {key.replace("_", " "): value for key, value in found.metrics.items()}
        wrong = np.flatnonzero(found.predicted != found.truth)
        sure = found.probabilities[wrong, found.predicted[wrong]]
        worst: list[int] = wrong[np.argsort(-sure, kind="stable")][:_ERRORS].tolist()
        errors = [
            (row + 1, model.classes[found.truth[row]], explain(model, texts[row])) for row in worst
        ]
        shown = f"{pluralize(len(wrong), 'error')}, {len(worst)} of them below."
        sections += [
            (f"Measured on {pluralize(len(texts), 'text')}", "", [((), _plain(numbers.items()))]),
            ("Tokens that lead", "", [_leaders(found)]),
            ("Calibration", "", [_calibration(found)]),
            ("Errors, the most confident first", shown, []),
        ]
    sections.append(("Model card", "", [((), _plain(model.metrics.items()))]))
    if isinstance(edited := model.metrics.get("edited"), dict):
        sections.append(
            ("Edited by hand, after measuring", "", [(("token", "became"), _plain(edited.items()))])
        )
    body = macros().card(name, formula(model), sections, errors, digest(model))
    return document(f"{name}: a model", str(body))


def _keywords(model: TextModel) -> list[Table]:
    found = {label: keywords(model, label, _KEYWORDS) for label in model.classes[:_CLASSES]}
    return [
        (
            (label, "weight", "texts", "in class"),
            [
                (word.word, f"{word.weight:+.2f}", f"{word.texts:,}", f"{word.texts_of_class:,}")
                for word in words
            ],
        )
        for label, words in found.items()
        if words
    ]


def _leaders(found: Evaluation) -> Table:
    rows = [
        (each.word, f"{each.texts:,}", f"{100 * each.share:.1f} %", each.lean)
        for each in found.leaders[:_LEADERS]
    ]
    return ("token", "texts led", "share", "class"), rows


def _calibration(found: Evaluation) -> Table:
    curve = zip(
        *(column.tolist() for column in calibration_curve(found.truth, found.probabilities)),
        strict=True,
    )
    rows = [
        (f"{100 * said:.1f} %", f"{100 * true:.1f} %", f"{100 * (true - said):+.1f}", f"{texts:,}")
        for said, true, texts in curve
    ]
    return ("mean confidence", "accuracy", "difference", "texts"), rows


def _plain(values: Iterable[tuple[str, Any]]) -> Sequence[Sequence[Any]]:
    """Names and plain values, as they are shown."""
    found = [(name, value) for name, value in values if isinstance(value, int | float | str)]
    return [
        (
            name,
            f"{value:.4g}"
            if isinstance(value, float)
            else f"{value:,}"
            if isinstance(value, int)
            else value,
        )
        for name, value in found
    ]
