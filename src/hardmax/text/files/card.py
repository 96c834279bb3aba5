"""The model card: what the model is, what was measured, and how to use it."""

import re
from math import isinf
from typing import Any

from hardmax._format import escape_html, sanitize_line
from hardmax.text.model.model import Model
from hardmax.text.wording import format_layers

_CARD = """---
library_name: hardmax
pipeline_tag: text-classification
---
# A hardmax text classifier

It reads a text as a cloud of words in {dimension} dimensions. Through {depth} of hardmax attention the words
gather round a few leaders; the leaders and their shares are the explanation, and they add up to the score exactly.

| | |
|---|---|
| classes | {classes} |
| vocabulary | {words:,} words, {phrases:,} phrases{unfound} |
| dimension | {dimension} |
| layers | {layers} |
| step alpha | {alpha} |
| metric | {metric} |
| extra token | {extra} |
| temperature | {temperature:.4g} |

## Measured
{measured}
{edited}
## Use
```python
import hardmax as hm

model = hm.load("PATH")
print(model.explain("…"))
```

## Limits
It knows only the words above: a text without any of them gets the answer of the bias. It reads words and short
phrases, not sentences; irony and long negations escape it.
"""


def write_card(model: Model) -> str:
    """The text of README.md."""
    cut, longest = model.tokeniser.alphabet.cut, model.tokeniser.longest_phrase
    sizes = [len(cut(surface)) for surface in model.vocabulary.surfaces]
    phrases, unfound = sum(1 < size <= longest for size in sizes), sum(size > longest for size in sizes)
    return _CARD.format(
        dimension=model.dimension,
        depth=format_layers(model.layers),
        layers="infinitely many" if isinf(model.layers) else model.layers,
        classes=", ".join(_cell(name) for name in model.classes),
        words=len(model.vocabulary) - phrases - unfound,
        phrases=phrases,
        unfound=f", {unfound:,} tokens that no text has" if unfound else "",
        alpha=model.alpha,
        metric="identity" if model.metric is None else "learned, symmetric positive definite",
        extra=_extra(model),
        temperature=model.temperature,
        measured=_table(model.metrics),
        edited=_edited(model.metrics),
    )


def _table(metrics: dict[str, Any]) -> str:
    plain = {name: value for name, value in metrics.items() if isinstance(value, int | float | str)}
    if not plain:
        return "Nothing was measured."
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in plain.items()}
    rows = [f"| {_cell(name)} | {_cell(value)} |" for name, value in shown.items()]
    return "\n".join(["| | |", "|---|---|", *rows])


def _edited(metrics: dict[str, Any]) -> str:
    """What somebody changed by hand, after all that was measured."""
    changes = metrics.get("edited")
    if not isinstance(changes, dict) or not changes:
        return ""
    rows = [f"| {_cell(word)} | {_cell(wish)} |" for word, wish in changes.items()]
    return "\n".join(
        ["", "## Edited", "What was measured is of the model before.", "", "| | |", "|---|---|", *rows, ""]
    )


def _extra(model: Model) -> str:
    if model.extra is None:
        return "none"
    return "one, in every text" + (": the neutral leader, whose followers add nothing" if model.has_neutral else "")


def _cell(value: object) -> str:
    r"""What is said, and nothing else: neither Markdown nor HTML, nor another cell.

    >>> _cell("5 | *"), _cell("<b>[good](x)")
    ('5 \\| \\*', '&lt;b&gt;\\[good\\](x)')
    """
    return re.sub(r"([\\`*\[\]|~$])", r"\\\1", escape_html(sanitize_line(value)))
