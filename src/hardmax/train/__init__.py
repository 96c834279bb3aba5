"""Training a text classifier: a convex start, and settings chosen by folds; seconds, and no torch.

>>> from hardmax.train import fit
>>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
>>> model.predict(["good", "a bad one"]).tolist()
[1, 0]
"""

from typing import TYPE_CHECKING, Any

from hardmax.train.settings import Settings

if TYPE_CHECKING:
    from hardmax.train.fitting import fit

__all__ = ["Settings", "fit"]


def __getattr__(name: str) -> Any:
    # Settings are checked before scipy is imported.
    if name == "fit":
        from hardmax.train.fitting import fit

        return fit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
