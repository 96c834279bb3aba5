"""The verb that loads models: those that ship with the package, and any other."""

from pathlib import Path

from hardmax._validation import check_path
from hardmax.text.files.finding import find_model
from hardmax.text.files.folder import read_model
from hardmax.text.text_model import TextModel


def load(name_or_path: str | Path) -> TextModel:
    """The shipped model of that name, or the model in that folder. Nothing is downloaded."""
    return read_model(find_model(check_path(name_or_path, "`name_or_path`")), TextModel)
