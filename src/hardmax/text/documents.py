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
from hardmax.text.card import (
    CITATION,
    MEASURES,
    evaluation_row,
    evaluations,
    facts,
    formula,
    further_values,
    limitations,
    purpose,
    share_right,
    shown_values,
    sources,
)
from hardmax.text.evaluation import Evaluation, summarize
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


def card_page(
    model: TextModel,
    name: str,
    texts: Sequence[str] | None = None,
    evaluation: Evaluation | None = None,
) -> str:
    """The page about a model of that name, and how it was evaluated on the texts."""
    measured, errors, leaders, count = evaluations(model), [], None, 0
    if texts is not None and evaluation is not None:
        truth, predicted = evaluation.truth, evaluation.predicted
        on = f"{pluralize(len(texts), 'text')} for this card"
        measured = [summarize(on, truth, predicted, evaluation.probabilities), *measured]
        wrong = np.flatnonzero(predicted != truth)
        confidence = evaluation.probabilities[wrong, predicted[wrong]]
        worst: list[int] = wrong[np.argsort(-confidence, kind="stable")][:_ERRORS].tolist()
        for row in worst:
            errors.append((row + 1, model.classes[truth[row]], model.explain(texts[row])))
        leaders, count = _leaders(evaluation), len(wrong)
    edited = model.metrics.get("edited")
    parts = {
        "purpose": purpose(model),
        "formula": formula(model),
        "facts": _facts(model),
        "sources": sources(model) and CardTable(sources(model), ("texts", "rights")),
        "measured": measured and CardTable([evaluation_row(one) for one in measured], MEASURES),
        "by_class": measured and _by_class(model, measured[0]),
        "calibration": measured and _calibration(measured[0]),
        "curve": measured and measured[0]["calibration"],
        "keywords": _keywords(model),
        "modifiers": _modifiers(model),
        "leaders": leaders,
        "further": CardTable(list(further_values(model).items())),
        "edited": isinstance(edited, dict) and _values(edited, ("token", "became")),
        "limitations": limitations(model),
        "citation": CITATION,
        "count": count,
        "errors": errors,
        "digest": digest(model),
    }
    return document(f"{name}: a model", str(macros().card(name, parts)))


def _values(values: dict[str, Any], heads: Sequence[str] = ()) -> CardTable:
    return CardTable(list(shown_values(values, ",").items()), heads)


def _facts(model: TextModel) -> CardTable:
    shown = facts(model)
    del shown["modifiers"]  # which have a table of their own
    return CardTable(list(shown.items()))


def _by_class(model: TextModel, one: dict[str, Any]) -> CardTable:
    """Of each class, the share of its texts that were found."""
    rows = [
        (label, f"{texts:,}", share_right(right, texts))
        for label, (texts, right) in zip(model.classes, one["classes"], strict=False)
    ]
    return CardTable(rows[:_CLASSES], ("class", "texts", "recognised, with 95 % interval"))


def _modifiers(model: TextModel) -> CardTable | None:
    rows = [(m.word, f"× {m.factor:g}", f"{m.texts:,}") for m in model.modifiers]
    return CardTable(rows, ("word", "factor", "training texts")) if rows else None


def _keywords(model: TextModel) -> list[CardTable]:
    tables = []
    for label in model.classes[:_CLASSES]:
        rows = [
            (word.word, f"{word.weight:+.3g}", f"{word.texts:,}", f"{word.texts_of_class:,}")
            for word in model.keywords(label, _KEYWORDS)
        ]
        if rows:
            heads = f"for {short_name(label)}", "weight", "training texts", "of the class"
            tables.append(CardTable(rows, heads))
    return tables


def _leaders(evaluation: Evaluation) -> CardTable:
    rows = [
        (leader.word, f"{leader.texts:,}", f"{100 * leader.share:.1f} %", leader.lean)
        for leader in evaluation.leaders[:_LEADERS]
    ]
    return CardTable(rows, ("token", "texts led", "share", "class"))


def _calibration(one: dict[str, Any]) -> CardTable:
    rows = []
    for confidence, accuracy, texts in one["calibration"]:
        difference = f"{100 * (accuracy - confidence):+.1f}"
        shares = f"{100 * confidence:.1f} %", f"{100 * accuracy:.1f} %"
        rows.append((*shares, difference, f"{texts:,.0f}"))
    return CardTable(rows, ("mean confidence", "accuracy", "difference", "texts"))
