"""Training, in torch (the extra `train`): recipes as data, the exact layer with its derivative, and the loop.

>>> Recipe(dimension=2, layers=8).alpha
1.0
"""

# pyright: reportMissingImports=false
import importlib
from typing import TYPE_CHECKING, Any

from hardmax._validation import require_extra
from hardmax.train.presets import IMDB_2D, IMDB_2D_BEST, IMDB_16D, PRESETS
from hardmax.train.recipe import Recipe

if TYPE_CHECKING:
    from hardmax.train.fitting import fit
    from hardmax.train.from_corpus import fit_corpus
    from hardmax.train.searching import search
    from hardmax.train.suiting import suit

__all__ = ["IMDB_16D", "IMDB_2D", "IMDB_2D_BEST", "PRESETS", "Recipe", "fit", "fit_corpus", "search", "suit"]

_HOMES = {
    "fit": "hardmax.train.fitting",
    "fit_corpus": "hardmax.train.from_corpus",
    "search": "hardmax.train.searching",
    "suit": "hardmax.train.suiting",
}


def __getattr__(name: str) -> Any:
    """What trains, once it is asked for: recipes can be read without torch."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_extra("Training", "train", "torch")
    return getattr(importlib.import_module(_HOMES[name]), name)
