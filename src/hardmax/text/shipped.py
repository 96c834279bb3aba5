"""The models that ship with the package, and the function that loads them and any other."""

import os
from pathlib import Path

from hardmax._common.format import truncate
from hardmax._common.validation import InputError, check_path
from hardmax.text.storage import read_model
from hardmax.text.text_model import TextModel

MODELS = Path(__file__).parents[1] / "models"


def available() -> list[str]:
    """The names of the models that ship with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/config.json"))


def load_model(name_or_path: str | Path) -> TextModel:
    """Load a model that ships with the package, or one from a folder. Nothing is downloaded.

    Parameters
    ----------
    name_or_path : str or path
        The name of a shipped model ("sentiment-en", "imdb", and each with "-best"), or a folder
        that `TextModel.save` wrote.

    Returns
    -------
    TextModel
        The model, checked.

    Examples
    --------
    >>> load_model("sentiment-en").predict(["I don't like it.", "I love it."]).tolist()
    ['negative', 'positive']
    """
    path = check_path(name_or_path, "`name_or_path`")
    if str(path) in available():
        return read_model(MODELS / path, TextModel)
    if os.path.exists(path):  # noqa: PTH110 - Path raises for long names
        return read_model(path, TextModel)
    names = ", ".join(available()) or "none in this version"
    shown = truncate(str(path), 120)
    raise InputError(
        f"`{shown}` is neither a shipped model nor a folder: shipped are {names}. "
        "Name one, or a folder."
    )
