"""Models that ship with the package, and the one verb that loads them or any other."""

from pathlib import Path

from hardmax.errors import InputError
from hardmax.text.folder import read_model
from hardmax.text.model import TextModel

MODELS = Path(__file__).parents[1] / "models"


def available() -> list[str]:
    """The names of the models that ship with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/config.json"))


def load(name_or_path: str | Path) -> TextModel:
    """The shipped model of that name, or the model in that folder. Nothing is downloaded."""
    if str(name_or_path) in available():
        return read_model(MODELS / str(name_or_path))
    if not Path(name_or_path).is_dir():
        names = ", ".join(available()) or "none in this version"
        raise InputError(
            f"`{name_or_path}` is neither a shipped model nor a folder: shipped are {names}. Name one, or a folder."
        )
    return read_model(Path(name_or_path))
