"""Words for numbers, and words that several rooms must spell alike."""

import math

EXTRA = "(extra token)"  # the token that a model adds to every text; no word can look like this


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "token"), counted(1000, "token")
    ('1 token', '1,000 tokens')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def depth(layers: float) -> str:
    """How many layers, for people.

    >>> depth(8), depth(math.inf)
    ('8 layers', 'infinitely many layers')
    """
    return "infinitely many layers" if math.isinf(layers) else counted(int(layers), "layer")


def plain_depth(layers: float) -> int | str:
    """How many layers, for JSON, which has no infinity: "inf".

    >>> plain_depth(8), plain_depth(math.inf)
    (8, 'inf')
    """
    return "inf" if math.isinf(layers) else int(layers)


def chance(probability: float) -> str:
    """A probability for people. It never claims certainty, even where floats have rounded to it.

    >>> chance(0.5), chance(0.9994), chance(0.9996), chance(1.0), chance(0.0004)
    ('50.0 %', '99.9 %', '> 99.9 %', '> 99.9 %', '< 0.1 %')
    """
    shown = f"{100 * probability:.1f} %"
    return {"100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %"}.get(shown, shown)


def finite(number: float) -> float | None:
    """For JSON, which has no nan and no infinity: both are null."""
    return number if math.isfinite(number) else None
