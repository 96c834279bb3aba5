"""Where a model lies: among those that ship with the package, or in a folder of its own."""

from pathlib import Path

from hardmax._validation import InputError

MODELS = Path(__file__).parents[2] / "models"


def available() -> list[str]:
    """The names of the models that ship with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/config.json"))


def is_here(name_or_path: Path) -> bool:
    """Whether a model ships by that name, or there is such a folder."""
    return str(name_or_path) in available() or name_or_path.is_dir()


def find_model(name_or_path: Path) -> Path:
    """The folder of the model that ships by that name, or the folder itself."""
    if str(name_or_path) in available():
        return MODELS / name_or_path
    if not name_or_path.is_dir():
        names = ", ".join(available()) or "none in this version"
        raise InputError(
            f"`{name_or_path}` is neither a shipped model nor a folder: shipped are {names}. Name one, or a folder."
        )
    return name_or_path
