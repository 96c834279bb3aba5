"""Words for depths and probabilities."""

import math

from hardmax._format import pluralize

EXTRA_TOKEN = "(extra token)"  # the token that a model adds to every text; no word can look like this


def format_layers(layers: float) -> str:
    """A depth, which may be infinite, for people."""
    return "infinitely many layers" if math.isinf(layers) else pluralize(int(layers), "layer")


def format_probability(probability: float) -> str:
    """A probability for people, which never claims certainty, even where floats have rounded to it.

    >>> format_probability(0.5), format_probability(0.9996), format_probability(0.0004)
    ('50.0 %', '> 99.9 %', '< 0.1 %')
    """
    shown = f"{100 * probability:.1f} %"
    return {"100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %"}.get(shown, shown)
