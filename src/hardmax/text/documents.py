"""HTML documents without scripts: a report of explanations, and the card of a model (what it knows;
and, measured on texts, what leads, its calibration, where it errs)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, shorten
from hardmax.text.card import formula, shown_values
from hardmax.text.evaluation import Evaluation, calibration_curve
from hardmax.text.explain import Explanation
from hardmax.text.page import document, macros, short_name
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

_KEYWORDS, _CLASSES, _LEADERS, _ERRORS = 12, 20, 20, 5


def write_report(explanations: Iterable[Explanation], path: str | Path) -> None:
    """Write explanations, one below the other and with an index, to a `.html` file, whole or not at
    all.

    Parameters
    ----------
    explanations : iterable of Explanation
        What `model.explain(text)` gives.
    path : str or Path
        The file to write.

    Examples
    --------
    >>> from hardmax.text import load_model, write_report
    >>> model, path = load_model("sentiment-en"), getfixture("tmp_path") / "two.html"
    >>> write_report([model.explain(text) for text in ("A great film.", "Awful.")], path)
    """
    path = check_path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` has the suffix {path.suffix!r}: expected .html.")
    listed = list(explanations) if isinstance(explanations, Iterable) else []
    if not listed or not all(isinstance(why, Explanation) for why in listed):
        wish = "a list of explanations, such as [model.explain(text)]"
        raise InputError(f"`explanations` must be {wish}, not {shorten(explanations)}.")
    labels = Counter(short_name(why.label) if why.decided else "undecided" for why in listed)
    body = macros().report(listed, labels.most_common())
    write_whole(path, document(f"{pluralize(len(listed), 'text')} explained", body).encode())


class CardTable(NamedTuple):
    """A table of a card; without heads, names and values."""

    rows: Sequence[Sequence[Any]]
    heads: Sequence[Any] = ()


class Section(NamedTuple):
    """A part of a card."""

    title: str
    tables: list[CardTable]
    note: str = ""


def card_page(
    model: TextModel,
    name: str,
    texts: Sequence[str] | None = None,
    evaluation: Evaluation | None = None,
) -> str:
    """The page about a model of that name, and how it was evaluated on the texts."""
    sections, errors = [Section("Heaviest tokens of each class", _keywords(model))], []
    if texts is not None and evaluation is not None:
        wrong = np.flatnonzero(evaluation.predicted != evaluation.truth)
        confidence = evaluation.probabilities[wrong, evaluation.predicted[wrong]]
        worst: list[int] = wrong[np.argsort(-confidence, kind="stable")][:_ERRORS].tolist()
        for row in worst:
            label = model.classes[evaluation.truth[row]]
            errors.append((row + 1, label, model.explain(texts[row])))
        shown = f"{pluralize(len(wrong), 'error')}, {len(worst)} of them below."
        metrics = {key.replace("_", " "): value for key, value in evaluation.metrics.items()}
        sections += [
            Section(f"Measured on {pluralize(len(texts), 'text')}", [_values(metrics)]),
            Section("Tokens that lead", [_leaders(evaluation)]),
            Section("Calibration", [_calibration(evaluation)]),
            Section("Errors, the most confident first", [], shown),
        ]
    sections.append(Section("Model card", [_values(model.metrics)]))
    if isinstance(edited := model.metrics.get("edited"), dict):
        changes = _values(edited, ("token", "became"))
        sections.append(Section("Edited by hand, after measuring", [changes]))
    body = macros().card(name, formula(model), sections, errors, digest(model))
    return document(f"{name}: a model", str(body))


def _values(values: dict[str, Any], heads: Sequence[str] = ()) -> CardTable:
    return CardTable(list(shown_values(values, ",").items()), heads)


def _keywords(model: TextModel) -> list[CardTable]:
    tables = []
    for label in model.classes[:_CLASSES]:
        rows = [
            (word.word, f"{word.weight:+.2f}", f"{word.texts:,}", f"{word.texts_of_class:,}")
            for word in model.keywords(label, _KEYWORDS)
        ]
        if rows:
            tables.append(CardTable(rows, (label, "weight", "texts", "in class")))
    return tables


def _leaders(evaluation: Evaluation) -> CardTable:
    rows = [
        (leader.word, f"{leader.texts:,}", f"{100 * leader.share:.1f} %", leader.lean)
        for leader in evaluation.leaders[:_LEADERS]
    ]
    return CardTable(rows, ("token", "texts led", "share", "class"))


def _calibration(evaluation: Evaluation) -> CardTable:
    curve = np.transpose(calibration_curve(evaluation.truth, evaluation.probabilities))
    rows = []
    for confidence, accuracy, texts in curve.tolist():
        difference = f"{100 * (accuracy - confidence):+.1f}"
        shares = f"{100 * confidence:.1f} %", f"{100 * accuracy:.1f} %"
        rows.append((*shares, difference, f"{texts:,.0f}"))
    return CardTable(rows, ("mean confidence", "accuracy", "difference", "texts"))
