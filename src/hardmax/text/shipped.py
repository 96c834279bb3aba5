"""Models that ship with the package, and the one verb that loads them or any other."""

from pathlib import Path

from hardmax.checking import file_path
from hardmax.errors import InputError
from hardmax.text.files.folder import read_model
from hardmax.text.text_model import TextModel

MODELS = Path(__file__).parents[1] / "models"


def available() -> list[str]:
    """The names of the models that ship with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/config.json"))


def load(name_or_path: str | Path) -> TextModel:
    """The shipped model of that name, or the model in that folder. Nothing is downloaded."""
    folder = file_path(name_or_path, "`name_or_path`")
    if str(folder) in available():
        return read_model(MODELS / folder)
    if not folder.is_dir():
        names = ", ".join(available()) or "none in this version"
        raise InputError(
            f"`{folder}` is neither a shipped model nor a folder: shipped are {names}. Name one, or a folder."
        )
    return read_model(folder)
