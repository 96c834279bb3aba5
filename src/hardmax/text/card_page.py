"""The card of a model as a page: what it knows; and, of texts with labels, what leads, how honest it is, where it errs.

It loads nothing and runs nothing; whatever text comes in is escaped.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hardmax._format import escape_html, pluralize
from hardmax.text.evaluation import Evaluation, calibration_curve
from hardmax.text.explain import explain
from hardmax.text.interpret import LeaderStatistics, keywords
from hardmax.text.page import content, document, opening, short_name
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.wording import format_layers

_KEYWORDS, _CLASSES, _LEADERS, _ERRORS = 12, 20, 20, 5
_LOOK = """
.hardmax-keys{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(24em,100%),1fr));gap:1.2em 2em;
align-items:start}
.hardmax .hardmax-plain thead th:not(:first-child){text-align:end}
.hardmax .hardmax-plain tbody tr:last-child>*{position:static;box-shadow:none;font-weight:400}
.hardmax .hardmax-plain td{text-align:end;white-space:nowrap;overflow-wrap:normal}
.hardmax h2{margin:1.8em 0 .4em}
"""


def card_page(model: TextModel, name: str, texts: Sequence[str] | None = None, found: Evaluation | None = None) -> str:
    """The page about a model of that name; `found` is what it was measured to be on the texts."""
    parts = [
        f'<h1 class="hardmax-verdict"><strong><bdi>{_text(name)}</bdi></strong></h1>',
        f'<p class="hardmax-told">{_text(_facts(model))}</p>',
        *_section("What says most for a class", _keys(model)),
    ]
    if texts is not None and found is not None:
        parts += _section(f"Measured on {pluralize(len(texts), 'text')}", _measures(found))
        parts += _section("Which words lead", _leaders(found))
        parts += _section("How honest its probabilities are", _calibration(found))
        parts += _section("Where it fails: the errors it was most sure of", _errors(model, texts, found))
    told = {key: value for key, value in model.metrics.items() if isinstance(value, int | float | str)}
    if told:
        parts += _section("What was written on its card", [_table(("", ""), list(told.items()))])
    if isinstance(edited := model.metrics.get("edited"), dict):
        parts += _section("Edited by hand, after that", [_table(("word", "became"), list(edited.items()))])
    note = f'<p class="hardmax-note">model {digest(model)} (SHA-256)</p>'
    return document(f"{name}: a model", f'<style>{_LOOK}</style><main class="hardmax">{"".join(parts)}{note}</main>')


def _facts(model: TextModel) -> str:
    names = ", ".join(short_name(name) for name in model.classes[:_CLASSES])
    more = f" and {len(model.classes) - _CLASSES:,} more" if len(model.classes) > _CLASSES else ""
    neutral = ", one of them neutral," if model.has_neutral else ""
    return (
        f"It tells {names}{more} apart by its {len(model.vocabulary):,} words and phrases in "
        f"{pluralize(model.dimension, 'dimension')}, which gather round leaders{neutral} through "
        f"{format_layers(model.layers)} with alpha {model.alpha}."
    )


def _keys(model: TextModel) -> list[str]:
    tables = [
        _table(
            (short_name(label), "says", "texts", "of the class"),
            [(word.word, f"{word.says:+.2f}", word.texts, word.texts_of_class) for word in found],
        )
        for label in model.classes[:_CLASSES]
        if (found := keywords(model, label, _KEYWORDS))
    ]
    return [f'<div class="hardmax-keys">{"".join(tables)}</div>']


def _measures(found: Evaluation) -> list[str]:
    numbers = [(key, value) for key, value in found.metrics.items() if isinstance(value, int | float)]
    return [_table(("", ""), [(key.replace("_", " "), value) for key, value in numbers])]


def _leaders(found: Evaluation) -> list[str]:
    rows = [
        (leader.word, f"{leader.texts:,}", f"{100 * leader.share:.1f} %", short_name(leader.lean))
        for leader in found.statistics.leaders[:_LEADERS]
    ]
    words = _table(("word", "leads in texts", "of all", "speaks for"), rows)
    return [f"<p>{_text(_spread(found.statistics))}</p>", words]


def _spread(found: LeaderStatistics) -> str:
    """How many words lead a text, in a sentence."""
    return (
        f"A text has {found.mean:.1f} ± {found.deviation:.1f} leaders, the neutral one not counted, "
        f"from {found.fewest} to {found.most}: {100 * found.share_of_words:.1f} % of its distinct known words. "
        f"Of these {100 * found.share_from_start:.1f} % lead before the first layer."
    )


def _calibration(found: Evaluation) -> list[str]:
    confidence, right, texts = calibration_curve(found.truth, found.probabilities)
    rows = [
        (f"{100 * said:.1f} %", f"{100 * true:.1f} %", f"{100 * (true - said):+.1f}", f"{int(many):,}")
        for said, true, many in zip(confidence.tolist(), right.tolist(), texts.tolist(), strict=True)
    ]
    return [_table(("it says, in the mean", "is right in", "points too few or many", "texts"), rows)]


def _errors(model: TextModel, texts: Sequence[str], found: Evaluation) -> list[str]:
    told = found.predicted
    wrong = np.flatnonzero(told != found.truth)
    if not len(wrong):
        return ["<p>It made none.</p>"]
    order = np.argsort(-found.probabilities[wrong, told[wrong]], kind="stable")
    worst: list[int] = wrong[order][:_ERRORS].tolist()
    articles = [
        f'<article aria-label="{_text(opening(texts[row]))}"><p class="hardmax-note">text {row + 1}, in truth '
        f"<bdi>{_text(short_name(model.classes[found.truth[row]]))}</bdi></p>"
        f"{content(explain(model, texts[row]), 'h3')}</article>"
        for row in worst
    ]
    return [f"<p>{pluralize(len(wrong), 'error')} in all, {len(worst)} of them below.</p>", *articles]


def _section(title: str, parts: Sequence[str]) -> Iterator[str]:
    yield f"<h2>{_text(title)}</h2>"
    yield from parts


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    heads = "".join(f'<th scope="col"><bdi>{_text(cell)}</bdi></th>' for cell in head) if any(head) else ""
    top = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    lines = "".join(
        f'<tr><th scope="row"><bdi>{_text(_shown(first))}</bdi></th>'
        + "".join(f"<td><bdi>{_text(_shown(cell))}</bdi></td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f'<table class="hardmax-plain">{top}<tbody>{lines}</tbody></table>'


def _shown(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else short_name(cell)


def _text(value: Any) -> str:
    return escape_html(str(value))
