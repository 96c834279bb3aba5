"""A model in words and numbers: the model card (README.md of its folder), a description that fits
into a prompt, and a table of its tokens."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hardmax import __version__
from hardmax._common.format import escape_html, pluralize, sanitize_line, truncate
from hardmax._common.validation import InputError, check_int, require_extra
from hardmax.text.interpret import Keyword, keywords
from hardmax.text.tokeniser import cut_surface

if TYPE_CHECKING:
    import pandas

    from hardmax.text.text_model import TextModel

_CARD = """---
library_name: hardmax
pipeline_tag: text-classification
---
# {name}

{purpose}

{formula}

{facts}

## Trained on
{sources}

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

## How to cite
{citation}
"""
_LIMITATIONS = """\
It knows only the tokens of its vocabulary. A text without an active token is undecided: \
`predict` then returns the class that the bias favours, and `decided` is False.
It reads tokens of at most {longest} and the modifiers before them, not sentences: it misses \
irony, comparisons and what is denied further away (“I cannot say that I liked it”).
Short texts rest on few tokens: their answers are less accurate, and their probabilities closer \
to even.
Its tokens are those of its training texts. In other domains, or other kinds of text, it is less \
accurate and its probabilities are less reliable: measure it there (`hardmax evaluate`) first."""
_EDITED = """
## Edited by hand
Everything above was measured before.

{rows}
"""

_MOST_CLASSES, _MOST_TOKENS = 20, 50  # in a description


CITATION = (
    f"The package: The hardmax authors, hardmax {__version__}. The mathematics: A. Alcalde, "
    "G. Fantuzzi, E. Zuazua, Clustering in pure-attention hardmax transformers and its role in "
    "sentiment analysis, SIAM Journal on Mathematics of Data Science 7(3), 2025, "
    "doi:10.1137/24M167086X."
)
NOT_RECORDED = "Not recorded."
_SHOWN_APART = ("purpose", "sources", "evaluations", "edited")
MEASURES = ("measured on", "texts", "accuracy, with 95 % interval", "log loss", "calibration error")


def write_card(model: "TextModel") -> str:
    """The text of README.md."""
    edited, measured = model.metrics.get("edited"), evaluations(model)
    further, changes = further_values(model), ""
    parts = []
    if measured:
        parts.append(_table(MEASURES, [evaluation_row(one) for one in measured]))
    if further:
        parts.append(_pairs(further))
    if isinstance(edited, dict) and edited:
        changes = _EDITED.format(rows=_pairs(edited))
    known = [f"- {_cell(what)}; rights: {_cell(rights)}" for what, rights in sources(model)]
    return _CARD.format(
        name=_cell(model.name or "A hardmax text classifier"),
        purpose=_cell(purpose(model)),
        formula=_cell(formula(model)),
        facts=_pairs(facts(model)),
        sources="\n".join(known) or NOT_RECORDED,
        measured="\n\n".join(parts) or "Nothing was measured.",
        edited=changes,
        limitations="\n".join(f"- {line}" for line in limitations(model)),
        citation=CITATION,
    )


def purpose(model: "TextModel") -> str:
    """What a model is for."""
    labels = ", ".join(map(sanitize_line, model.classes[:_MOST_CLASSES]))
    return str(model.metrics.get("purpose") or f"It gives texts one of the labels {labels}.")


def sources(model: "TextModel") -> list[tuple[str, str]]:
    """What a model was trained on, and the rights to it."""
    listed = model.metrics.get("sources")
    return [(str(what), str(rights)) for what, rights in listed] if listed else []


def evaluations(model: "TextModel") -> list[dict[str, Any]]:
    """The summaries that the metrics of a model have, the most important first."""
    listed = model.metrics.get("evaluations") or []
    try:
        for one in listed:
            evaluation_row(one)
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        wish = "a list of what `hardmax.text.evaluation.summarize` gives"
        raise InputError(f"`metrics` has wrong `evaluations`: expected {wish}.") from None
    return listed


def evaluation_row(one: dict[str, Any]) -> tuple[str, ...]:
    """A summary in the columns `MEASURES`."""
    texts, right = (sum(column) for column in zip(*one["classes"], strict=True))
    gaps = [abs(confidence - share) * count for confidence, share, count in one["calibration"]]
    loss, error = one["log_loss"], sum(gaps) / texts
    return str(one["on"]), f"{texts:,}", share_right(right, texts), f"{loss:.3f}", f"{error:.3f}"


def wilson(right: int, texts: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share of right answers.

    >>> wilson(9, 10)
    (0.596, 0.982)
    """
    z = 1.959964
    middle, room = right + z * z / 2, z * (right * (texts - right) / texts + z * z / 4) ** 0.5
    low, high = ((middle + side) / (texts + z * z) for side in (-room, room))
    return round(low, 3), round(high, 3)


def share_right(right: int, texts: int) -> str:
    """A share of right answers, with Wilson's interval.

    >>> share_right(9, 10)
    '90.0 % (59.6–98.2)'
    """
    if not texts:
        return "–"
    low, high = (100 * end for end in wilson(right, texts))
    return f"{100 * right / texts:.1f} % ({low:.1f}–{high:.1f})"


def further_values(model: "TextModel") -> dict[str, str]:
    """What else the metrics of a model have, by names for people."""
    left = {key: value for key, value in model.metrics.items() if key not in _SHOWN_APART}
    return {key.replace("_", " "): value for key, value in shown_values(left, ",").items()}


def describe(model: "TextModel", limit: int = 2000) -> str:
    """The model as a short text that a person or a language model can read.

    Parameters
    ----------
    model : TextModel
        The model.
    limit : int, default 2000
        At most so many characters; at least 500.

    Returns
    -------
    str
        Task, classes, how the answer is formed, modifiers, the heaviest tokens of each class,
        limitations.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load_model("sentiment-en")
    >>> print(describe(model).splitlines()[0])
    A text classifier with the classes negative, positive.
    """
    limit = check_int(limit, "`limit`", at_least=500)
    labels = model.classes[:_MOST_CLASSES]
    left_out = len(model.classes) - len(labels)
    more = f" and {left_out:,} more" if left_out else ""
    task = f"A text classifier with the classes {', '.join(map(sanitize_line, labels))}{more}."
    about = facts(model)
    del about["classes"]
    listed = " ".join(f"{name.capitalize()}: {value}." for name, value in about.items())
    begin, end = f"{task}\n{formula(model)}\n{listed}", " ".join(limitations(model))
    end = f"Limitations: {end}"
    heaviest = {sanitize_line(label): keywords(model, label, _MOST_TOKENS) for label in labels}
    for top in range(_MOST_TOKENS, 0, -1):  # as many as there is room for
        weights = "; ".join(_heaviest(*item, top) for item in heaviest.items() if item[1])
        text = f"{begin}\nHeaviest tokens, with their weights: {weights}.\n{end}"
        if weights and len(text) <= limit:
            return text
    return truncate(f"{begin}\n{end}", limit)


def _heaviest(label: str, words: list[Keyword], top: int) -> str:
    shown = [f"{sanitize_line(word.word)} {word.weight:+.3g}" for word in words[:top]]
    return f"{label}: {', '.join(shown)}"


def token_table(model: "TextModel") -> "pandas.DataFrame":
    """Table of all tokens: the weight of each for each class, and how many training texts of each
    class have it.

    Parameters
    ----------
    model : TextModel
        The model.

    Returns
    -------
    pandas.DataFrame
        In the order of the vocabulary.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load_model("sentiment-en")
    >>> token_table(model).columns.tolist()
    ['token', 'weight towards positive', 'texts of negative', 'texts of positive']
    """
    require_extra("A table of tokens", "tables", "pandas")
    import pandas

    weights, counts = model._voting.weights, model.vocabulary.counts
    columns: dict[str, Any] = {"token": model.vocabulary.surfaces}
    for row, name in enumerate(model.classes[-weights.shape[1] :]):
        columns[f"weight towards {name}"] = weights[:, row]
    for row, name in enumerate(model.classes):
        columns[f"texts of {name}"] = counts[:, row]
    return pandas.DataFrame(columns)


def formula(model: "TextModel") -> str:
    """How an answer is formed."""
    rule = model.rule
    parts = [
        "Each distinct known token of a text has a vote: its weight, divided by the number of "
        f"these tokens plus {rule.neutral_weight:,}."
    ]
    if model.modifiers:
        words, example = pluralize(rule.scope, "word"), sanitize_line(model.modifiers[0].word)
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
        wins = f"a positive one means {sanitize_line(model.classes[1])}"
    parts.append(f"The logit is the bias and the sum of the votes; {wins}.")
    return " ".join([*parts, "The votes are the explanation."])


def facts(model: "TextModel") -> dict[str, Any]:
    """Size and settings of a model."""
    tokeniser, rule, surfaces = model.tokeniser, model.rule, model.vocabulary.surfaces
    longest, sizes = tokeniser.longest_phrase, [_length(surface) for surface in surfaces]
    words, phrases = sizes.count(1), sum(1 < size <= longest for size in sizes)
    kinds = f"{words:,} words, {phrases:,} phrases of up to {longest} words"
    overlap = "may overlap" if tokeniser.overlapping else "do not overlap"
    factors = [f"{sanitize_line(m.word)} × {m.factor:g}" for m in model.modifiers]
    return {
        "classes": ", ".join(map(sanitize_line, model.classes)),
        "vocabulary": f"{len(sizes):,} tokens: {kinds}",
        "tokens of a text": overlap,
        "modifiers": ", ".join(factors) or "none",
        "scope of a modifier": pluralize(rule.scope, "word"),
        "gate": f"{rule.gate:g} of the largest vote" if rule.gate else "none",
        "gathering alpha": rule.alpha,
        "neutral weight": rule.neutral_weight,
    }


def _length(surface: str) -> int:
    """The number of words of a token."""
    return surface.count(" ") + 1 if surface.isascii() else len(cut_surface(surface))


def limitations(model: "TextModel") -> list[str]:
    """What a model cannot do, a sentence or two each."""
    longest = pluralize(model.tokeniser.longest_phrase, "word")
    return _LIMITATIONS.format(longest=longest).splitlines()


def shown_values(values: dict[str, Any], whole: str = "") -> dict[str, str]:
    """The plain values as they are shown; `whole` is the format of whole numbers."""
    shown = {}
    for name, value in values.items():
        if isinstance(value, float):
            shown[name] = f"{value:.4g}"
        elif isinstance(value, int | str):
            shown[name] = format(value, whole if isinstance(value, int) else "")
    return shown


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _pairs(values: dict[str, Any]) -> str:
    return _table(("", ""), list(values.items()))


def _cell(value: object) -> str:
    r"""The value as plain text in a table: no Markdown, no HTML, no further cell.

    >>> _cell("5 | *"), _cell("<b>[good](x)")
    ('5 \\| \\*', '&lt;b&gt;\\[good\\](x)')
    """
    return re.sub(r"([\\`*\[\]|~$])", r"\\\1", escape_html(sanitize_line(value)))
