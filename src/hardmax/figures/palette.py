"""Colours that everybody can tell apart, and shapes, since nothing is told by colour alone."""

from typing import Any

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
INK, FAINT, SHADE = "#222222", "#9A9A9A", "#EDEDED"
# Seven shapes and six colours: the first 42 pairs are all different, and neighbours differ in both.
SHAPES = ("o", "s", "^", "P", "v", "<", ">")
LEADER, PROJECTION, ELSEWHERE = "*", "D", "X"


def look_of(number: int) -> tuple[str, str]:
    """The colour and the shape of the thing with this number.

    >>> look_of(0), look_of(6)
    (('#0072B2', 'o'), ('#0072B2', '>'))
    """
    return CYCLE[number % len(CYCLE)], SHAPES[number % len(SHAPES)]


# What speaks for a class and what speaks against it; of two classes the second is the one that is spoken for.
FOR, AGAINST = CYCLE[0], CYCLE[1]


def place_of_class(number: Any, classes: int) -> Any:
    """Where in the cycle of colours the class, or classes, of this number stand, in every figure and page: the second
    of two has the colour of what speaks for it."""
    return 1 - number if classes == 2 else number


def look_of_class(number: int, classes: int) -> tuple[str, str]:
    """The colour and the shape of the class with this number, of so many.

    >>> look_of_class(1, classes=2)[0] == FOR, look_of_class(0, classes=2)[0] == AGAINST
    (True, True)
    """
    return look_of(place_of_class(number, classes))


def room(tokens: int) -> float:
    """By what the area of a mark is multiplied where so many tokens share the axes.

    >>> room(10), room(1000)
    (1.0, 0.2)
    """
    return min(1.0, (40 / max(tokens, 1)) ** 0.5)
