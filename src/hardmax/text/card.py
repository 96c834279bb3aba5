"""A model in words: the model card (README.md of its folder), and a description that fits into a
prompt."""

import re
from typing import Any

from hardmax._common.format import escape_html, pluralize, sanitize_line, truncate
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import cut_surface

_CARD = """---
library_name: hardmax
pipeline_tag: text-classification
---
# A hardmax text classifier

{formula}

| | |
|---|---|
{facts}

## Measured
{measured}
{edited}
## Use
```python
import hardmax as hm

model = hm.load_model("PATH")
print(model.explain("…"))
```

## Limitations
{limitations}
"""
_LIMITATIONS = (
    "It knows only the tokens of its vocabulary. A text without an active token is undecided: `predict` then returns "
    "the most frequent class, and `decided` is False.",
    "It reads tokens of at most {longest} and the modifiers before them, not sentences: it misses irony, comparisons "
    "and what is denied further away (“I cannot say that I liked it”).",
    "Short texts rest on few tokens: their answers are less accurate, and their probabilities closer to even.",
    "Its tokens are those of its training texts. In other domains, or other kinds of text, it is less accurate and its "
    "probabilities are less reliable: measure it there (`hardmax evaluate`) first.",
)

_MOST_CLASSES, _MOST_TOKENS = 20, 50  # in a description


def write_card(model: TextModel) -> str:
    """The text of README.md."""
    facts = "\n".join(f"| {name} | {_cell(value)} |" for name, value in _facts(model).items())
    return _CARD.format(
        formula=_cell(formula(model)),
        facts=facts,
        measured=_table(model.metrics),
        edited=_edited(model.metrics),
        limitations="\n".join(f"- {line}" for line in _limitations(model)),
    )


def describe(model: TextModel, limit: int) -> str:
    """The model as a text of at most `limit` characters; see `TextModel.describe`."""
    from hardmax.text.interpret import keywords

    labels = model.classes[:_MOST_CLASSES]
    more = (
        f" and {len(model.classes) - len(labels):,} more"
        if len(model.classes) > len(labels)
        else ""
    )
    task = f"A text classifier with the classes {', '.join(map(sanitize_line, labels))}{more}."
    facts = " ".join(
        f"{name.capitalize()}: {value}."
        for name, value in _facts(model).items()
        if name != "classes"
    )
    limitations = "Limitations: " + " ".join(_limitations(model))
    parts, best = (
        [task, formula(model), facts, limitations],
        [keywords(model, label, _MOST_TOKENS) for label in labels],
    )
    for top in range(_MOST_TOKENS, 0, -1):  # as many as there is room for
        weights = [
            [f"{sanitize_line(word.word)} {word.weight:+.3g}" for word in words[:top]]
            for words in best
        ]
        rows = [
            f"{sanitize_line(name)}: {', '.join(own)}"
            for name, own in zip(labels, weights, strict=True)
            if own
        ]
        text = "\n".join(
            [*parts[:-1], f"Heaviest tokens, with their weights: {'; '.join(rows)}.", limitations]
        )
        if rows and len(text) <= limit:
            return text
    return truncate("\n".join(parts), limit)


def formula(model: TextModel) -> str:
    """How an answer is formed."""
    parts = [
        "Each distinct known token of a text has a vote: its weight, divided by the number of these tokens plus"
    ]
    parts[0] += f" {model.neutral_weight:,}."
    if model.modifiers:
        words = pluralize(model.scope, "word")
        parts.append(
            f"A token attends to the strongest modifier among the {words} before it in its clause, such as "
            f"“{sanitize_line(model.modifiers[0].word)}”, which multiplies its vote: hardmax attention."
        )
    if model.gate:
        parts.append(f"Votes of at most {model.gate:g} of the largest in the text do not count.")
    if model.alpha != "0":
        parts.append(
            f"One layer takes each token towards the strongest of its side, with alpha = {model.alpha}."
        )
    wins = (
        f"a positive one means {sanitize_line(model.classes[1])}"
        if len(model.classes) == 2
        else "the largest wins"
    )
    parts.append(
        f"The logit is the bias and the sum of the votes; {wins}. The votes are the explanation."
    )
    return " ".join(parts)


def _facts(model: TextModel) -> dict[str, Any]:
    longest = model.tokeniser.longest_phrase
    sizes = [
        len(surface.split(" ") if surface.isascii() else cut_surface(surface))
        for surface in model.vocabulary.surfaces
    ]
    words, phrases = sizes.count(1), sum(1 < size <= longest for size in sizes)
    modifiers = ", ".join(
        f"{sanitize_line(each.word)} × {each.factor:g}" for each in model.modifiers
    )
    return {
        "classes": ", ".join(sanitize_line(name) for name in model.classes),
        "vocabulary": f"{len(sizes):,} tokens: {words:,} words, {phrases:,} phrases of up to {longest} words",
        "tokens of a text": "may overlap" if model.tokeniser.overlapping else "do not overlap",
        "modifiers": modifiers or "none",
        "scope of a modifier": pluralize(model.scope, "word"),
        "gate": f"{model.gate:g} of the largest vote" if model.gate else "none",
        "gathering alpha": model.alpha,
        "neutral weight": model.neutral_weight,
    }


def _limitations(model: TextModel) -> list[str]:
    return [
        line.replace("{longest}", pluralize(model.tokeniser.longest_phrase, "word"))
        for line in _LIMITATIONS
    ]


def _table(metrics: dict[str, Any]) -> str:
    plain = {name: value for name, value in metrics.items() if isinstance(value, int | float | str)}
    if not plain:
        return "Nothing was measured."
    shown = {
        name: f"{value:.4g}" if isinstance(value, float) else value for name, value in plain.items()
    }
    rows = [f"| {_cell(name)} | {_cell(value)} |" for name, value in shown.items()]
    return "\n".join(["| | |", "|---|---|", *rows])


def _edited(metrics: dict[str, Any]) -> str:
    changes = metrics.get("edited")
    if not isinstance(changes, dict) or not changes:
        return ""
    rows = [f"| {_cell(word)} | {_cell(change)} |" for word, change in changes.items()]
    heading = [
        "",
        "## Edited by hand",
        "Everything above was measured before.",
        "",
        "| | |",
        "|---|---|",
    ]
    return "\n".join([*heading, *rows, ""])


def _cell(value: object) -> str:
    r"""The value as plain text in a table: no Markdown, no HTML, no further cell.

    >>> _cell("5 | *"), _cell("<b>[good](x)")
    ('5 \\| \\*', '&lt;b&gt;\\[good\\](x)')
    """
    return re.sub(r"([\\`*\[\]|~$])", r"\\\1", escape_html(sanitize_line(value)))
