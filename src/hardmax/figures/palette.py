"""Colours that everybody can tell apart, and shapes, since nothing is shown by colour alone. No
matplotlib in here."""

from typing import Any

# Of Okabe and Ito's palette.
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
INK, FAINT = "#222222", "#9A9A9A"
SHADE = ("#808080", 0.15)
"""Seen on light and dark grounds, and so is what is behind it."""
# Leaders begin with colours that two classes do not have, so that no picture of a text contradicts
# another; then come others that stand out on light and dark grounds, and paler ones.
_LEADERS = (GREEN, PURPLE, ORANGE, SKY, BLUE, VERMILION)
_LEADERS += ("#4F9A3A", "#9B5BA5", "#A87B2D", "#5B7FC7", "#3A8C99", "#B0504A")
_LEADERS += ("#73CBB2", "#E4B9D0", "#F1CB73", "#A4D7F3", "#6CABD1", "#E8A573")
SHAPES = ("o", "s", "^", "P", "v", "<", ">")
LEADER, PROJECTION, ELSEWHERE = "*", "D", "X"
GREY = -1
"""The group of tokens that follow no single leader."""


def look_of_leader(number: int) -> tuple[str, str]:
    """Colour and shape of a leader and its followers: the first 126 pairs differ. Grey circles for
    `GREY`."""
    if number == GREY:
        return FAINT, "o"
    return _LEADERS[number % len(_LEADERS)], SHAPES[number % len(SHAPES)]


def place_of_class(number: Any, classes: int) -> Any:
    """Index in the cycle of colours of a class, in every figure and page: the last comes first,
    then the first. So "positive" after "negative" is blue, with "neutral" between them or not."""
    return (number + 1) % classes


def look_of_class(number: int, classes: int) -> tuple[str, str]:
    """Colour and shape of one of `classes` classes: the first 42 pairs differ, and neighbours
    differ in both."""
    place = place_of_class(number, classes)
    return CYCLE[place % len(CYCLE)], SHAPES[place % len(SHAPES)]


def mark_scale(tokens: int) -> float:
    """Factor for the area of marks where `tokens` tokens share the axes."""
    return min(1.0, (40 / max(tokens, 1)) ** 0.5)
