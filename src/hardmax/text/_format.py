"""Words for probabilities."""


def format_probability(probability: float) -> str:
    """A probability for people, which never claims certainty, even where floats have rounded to it.

    >>> format_probability(0.5), format_probability(0.9996), format_probability(0.0004)
    ('50.0 %', '> 99.9 %', '< 0.1 %')
    """
    shown = f"{100 * probability:.1f} %"
    return {"100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %"}.get(shown, shown)
