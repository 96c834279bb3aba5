"""All pieces by name, in the order of the paper; their modules are imported when one of them is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

from hardmax._validation import InputError

if TYPE_CHECKING:
    from hardmax.paper.piece import Piece

# In the order of the paper; then what it leaves open.
ROOMS = {
    "fig1": "figures",
    "fig2": "figures",
    "fig3": "figures",
    "fig4": "figures",
    "fig5": "figures",
    "reviews": "results",
    "accuracy": "results",
    "losses": "results",
    "orders": "results",
    "histogram": "results",
    "table1": "results",
    "leaders": "beyond",
    "settling": "beyond",
    "faces": "beyond",
    "basins": "beyond",
    "temperature": "beyond",
    "floats": "beyond",
}
EVERYTHING = "all"


def names_of(what: str) -> list[str]:
    """The names of the pieces that are asked for: one, or all of them.

    >>> names_of("fig1"), names_of("all")[:2]
    (['fig1'], ['fig1', 'fig2'])
    """
    if what != EVERYTHING and what not in ROOMS:
        raise InputError(f"`what` must be one of {', '.join((*ROOMS, EVERYTHING))}, not {what!r:.60}.")
    return list(ROOMS) if what == EVERYTHING else [what]


def find_piece(name: str) -> "Piece":
    """The piece of that name."""
    return import_module(f"hardmax.paper.{ROOMS[name]}.{name}").PIECE
