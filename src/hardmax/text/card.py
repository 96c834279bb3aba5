"""A model in words and numbers: the model card, README.md of its folder, which also fits into a
prompt."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from hardmax import __version__
from hardmax._common.format import escape_html, pluralize, sanitize_line
from hardmax._common.validation import InputError
from hardmax.text.interpret import keywords

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

_CARD = """---
library_name: hardmax
pipeline_tag: text-classification
---
# {name}

{purpose}

{formula}

{facts}

## Heaviest tokens
{heaviest}

## Trained on
{sources}

## Measured
{measured}
{sections}
## Use
```python
import hardmax as hm

model = hm.load_model("PATH")
print(model.explain("…"))
```

## Limitations
- It knows only the tokens of its vocabulary. A text without an active token is undecided: \
`predict` then returns the class that the bias favours, and `decided` is False.
- It reads tokens of at most {longest} and the modifiers before them, not sentences: it misses \
irony, comparisons and what is denied further away (“I cannot say that I liked it”).
- Short texts rest on few tokens: their answers are less accurate, and their probabilities closer \
to even.
- Its tokens are those of its training texts. In other domains, or other kinds of text, it is less \
accurate and its probabilities are less reliable: measure it there (`hardmax evaluate`) first.

## How to cite
{citation}
"""
_CITATION = (
    f"The package: The hardmax authors, hardmax {__version__}. The mathematics: A. Alcalde, "
    "G. Fantuzzi, E. Zuazua, Clustering in pure-attention hardmax transformers and its role in "
    "sentiment analysis, SIAM Journal on Mathematics of Data Science 7(3), 2025, "
    "doi:10.1137/24M167086X."
)
_MOST_CLASSES, _MOST_TOKENS = 20, 12
_SHOWN_APART = {"purpose", "sources", "evaluations"}
MEASURES = ("measured on", "texts", "accuracy, with 95 % interval", "log loss", "calibration error")


def describe(model: "TextModel") -> str:
    """The model card: what a model is for, how it answers, its heaviest tokens, what it was trained
    on, how good it is, and its limitations.

    Parameters
    ----------
    model : TextModel
        The model.

    Returns
    -------
    str
        Markdown, which `model.save` writes to README.md; a person or a language model can read it.

    Examples
    --------
    >>> import hardmax as hm
    >>> describe(hm.load_model("sentiment-en")).splitlines()[4]
    '# sentiment-en'
    """
    metrics = model.metrics
    try:
        measured = [evaluation_row(one) for one in metrics.get("evaluations") or []]
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        wish = "a list of what `hardmax.text.evaluation.summarize` gives"
        raise InputError(f"`metrics` has wrong `evaluations`: expected {wish}.") from None
    further = {name: each for name, each in metrics.items() if name not in _SHOWN_APART}
    sections = {name: further.pop(name) for name in list(further) if _rows(further[name])}
    parts = [_table(MEASURES, measured)] if measured else []
    parts += [_markdown(further)] if further else []
    labels = model.classes[:_MOST_CLASSES]
    weights = []
    for label in labels:
        words = keywords(model, label, _MOST_TOKENS)
        weights.append((label, ", ".join(f"{word.word} {word.weight:+.3g}" for word in words)))
    named = ", ".join(map(str, labels))
    return _CARD.format(
        name=_cell(model.name or "A hardmax text classifier"),
        purpose=_cell(metrics.get("purpose") or f"It gives texts one of the labels {named}."),
        formula=_cell(_formula(model)),
        facts=_markdown(_facts(model)),
        heaviest=_table(("class", "tokens, with their weights"), weights),
        sources=_markdown(metrics.get("sources") or "Not recorded."),
        measured="\n\n".join(parts) or "Nothing was measured.",
        sections="".join(
            f"\n## {_cell(_spaced(name).capitalize())}\n{_markdown(each)}\n"
            for name, each in sections.items()
        ),
        longest=pluralize(model.tokeniser.longest_phrase, "word"),
        citation=_CITATION,
    )


def evaluation_row(one: dict[str, Any]) -> tuple[str, ...]:
    """A summary in the columns `MEASURES`."""
    texts, right = (sum(column) for column in zip(*one["classes"], strict=True))
    gaps = [abs(confidence - share) * count for confidence, share, count in one["calibration"]]
    loss, error = one["log_loss"], sum(gaps) / texts
    return str(one["on"]), f"{texts:,}", share_right(right, texts), f"{loss:.3f}", f"{error:.3f}"


def share_right(right: int, texts: int) -> str:
    """A share of right answers, with Wilson's interval of 95 %.

    >>> share_right(9, 10)
    '90.0 % (59.6–98.2)'
    """
    z = 1.959964
    room = z * (right * (texts - right) / texts + z * z / 4) ** 0.5
    low, high = (100 * (right + z * z / 2 + side) / (texts + z * z) for side in (-room, room))
    return f"{100 * right / texts:.1f} % ({low:.1f}–{high:.1f})"


def _formula(model: "TextModel") -> str:
    """How an answer is formed."""
    rule = model.rule
    parts = [
        "Each distinct known token of a text has a vote: its weight, divided by the number of "
        f"these tokens plus {rule.neutral_weight:,}."
    ]
    if model.modifiers:
        words, example = pluralize(rule.scope, "word"), model.modifiers[0].word
        parts.append(
            f"A token attends to the strongest modifier among the {words} before it in its clause, "
            f"such as “{example}”, which multiplies its vote: hardmax attention."
        )
    if rule.gate:
        parts.append(f"Votes of at most {rule.gate:g} of the largest in the text do not count.")
    if rule.alpha != "0":
        layer = "One layer takes each token towards the strongest of its side"
        parts.append(f"{layer}, with alpha = {rule.alpha}.")
    wins = "the largest wins"
    if len(model.classes) == 2:
        wins = f"a positive one means {model.classes[1]}"
    parts.append(f"The logit is the bias and the sum of the votes; {wins}.")
    return " ".join([*parts, "The votes are the explanation."])


def _facts(model: "TextModel") -> dict[str, str]:
    """Size and settings of a model."""
    tokeniser = model.tokeniser
    return {
        "classes": ", ".join(map(str, model.classes)),
        "vocabulary": pluralize(len(model.vocabulary), "token"),
        "tokens of a text": "may overlap" if tokeniser.overlapping else "do not overlap",
        "longest phrase": pluralize(tokeniser.longest_phrase, "word"),
        "modifiers": ", ".join(map(str, model.modifiers)) or "none",
    }


def _markdown(value: Any) -> str:
    """Plain data as a table with a column for each name, as one of names and values, or as a
    text."""
    if isinstance(value, dict):
        return _table(("", ""), [(_spaced(name), each) for name, each in value.items()])
    if rows := _rows(value):
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        cells = [[row.get(name, "") for name in names] for row in rows]
        return _table(list(map(_spaced, names)), cells)
    return _cell(value)


def _rows(value: Any) -> list[dict[str, Any]]:
    """The rows of what is shown as a table; none of anything else."""
    rows = value if isinstance(value, list) else [value]
    return rows if all(isinstance(row, dict) for row in rows) else []


def _spaced(name: object) -> str:
    return str(name).replace("_", " ")


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [map(_cell, heads), ["---"] * len(heads), *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    r"""The value as plain text in a table: no Markdown, no HTML, no further cell.

    >>> _cell("5 | *"), _cell("<b>[good](x)"), _cell({"up": 3000, "down": 1 / 3})
    ('5 \\| \\*', '&lt;b&gt;\\[good\\](x)', 'up 3,000, down 0.3333')
    """
    shown = value
    if isinstance(value, dict):
        shown = ", ".join(f"{name} {_number(each)}" for name, each in value.items())
    elif isinstance(value, list):
        shown = ", ".join(map(_number, value))
    return re.sub(r"([\\`*\[\]|~$])", r"\\\1", escape_html(sanitize_line(_number(shown))))


def _number(value: object) -> str:
    """A number rounded, or with commas; anything else as it is."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)
