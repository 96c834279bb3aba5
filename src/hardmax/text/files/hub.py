"""Models on the Hub: fetched or uploaded only when asked for, with the extra `hub`."""

# pyright: reportMissingImports=false
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax.errors import InputError, need
from hardmax.text.files.folder import read_model, write_model
from hardmax.text.shipped import available, load

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel


def from_pretrained(name_or_path: str | Path, download: bool) -> TextModel:
    """A folder or a shipped model; else, if `download` says so, the model `owner/name` of the Hub."""
    name = str(name_or_path)
    if name in available() or Path(name).is_dir():
        return load(name_or_path)
    if name.count("/") != 1 or not all(name.split("/")):
        return load(name_or_path)  # which says what there is
    if not download:
        raise InputError(f"`{name}` is no folder: pass download=True to fetch it from the Hub.")
    folder = _hub().snapshot_download(name)
    return read_model(Path(folder))


def push(model: TextModel, repository: str, private: bool) -> str:
    """Upload the folder of the model; gives back where it is."""
    hub = _hub()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        write_model(model, folder)
        address = hub.create_repo(repository, private=private, exist_ok=True)
        hub.upload_folder(repo_id=repository, folder_path=str(folder))
    return str(address)


def _hub() -> Any:
    need("A model on the Hub", "hub")
    import huggingface_hub

    return huggingface_hub
