"""HTML documents without scripts: a report of explanations, and the card of a model (what it knows;
and, measured on texts, what leads, its calibration, where it errs)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, shorten
from hardmax.text.card import evaluations
from hardmax.text.evaluation import Evaluation, summarize
from hardmax.text.explain import Explanation
from hardmax.text.page import document, render, short_name
from hardmax.text.text_model import TextModel

_LEADERS, _ERRORS = 20, 5


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
    body = render("report", listed, labels.most_common())
    write_whole(path, document(f"{pluralize(len(listed), 'text')} explained", body).encode())


def card_page(
    model: TextModel,
    name: str,
    texts: Sequence[str] | None = None,
    evaluation: Evaluation | None = None,
) -> str:
    """The page about a model of that name, and how it was evaluated on the texts."""
    measured, leaders, wrong, errors = evaluations(model), (), (), []
    if texts is not None and evaluation is not None:
        truth, predicted = evaluation.truth, evaluation.predicted
        on = f"{pluralize(len(texts), 'text')} for this card"
        measured = [summarize(on, truth, predicted, evaluation.probabilities), *measured]
        leaders = evaluation.leaders[:_LEADERS]
        wrong = np.flatnonzero(predicted != truth)
        confidence = evaluation.probabilities[wrong, predicted[wrong]]
        worst: list[int] = wrong[np.argsort(-confidence, kind="stable")][:_ERRORS].tolist()
        errors = [(row + 1, model.classes[truth[row]], model.explain(texts[row])) for row in worst]
    body = render("card", name, model, measured, leaders, len(wrong), errors)
    return document(f"{name}: a model", body)
