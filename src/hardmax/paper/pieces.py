"""All pieces by name, in the order of the paper; their modules are imported when one of them is asked for."""

from importlib import import_module

from hardmax.errors import InputError
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


def find_pieces(name: str) -> list[Piece]:
    """The piece of that name, or all of them.

    >>> [piece.name for piece in find_pieces("fig1")]
    ['fig1']
    """
    if name != EVERYTHING and name not in ROOMS:
        names = ", ".join((*ROOMS, EVERYTHING))
        raise InputError(f"`what` must be one of {names}, not {name!r:.60}.", argument="what")
    asked = ROOMS if name == EVERYTHING else {name: ROOMS[name]}
    return [import_module(f"hardmax.paper.{room}.{own}").PIECE for own, room in asked.items()]
