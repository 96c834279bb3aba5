"""Models on the Hub: fetched or uploaded only when asked for, with the extra `hub`.

No `ModelHubMixin`: it wants huggingface_hub wherever a model is made, and goes to the network without being asked.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hardmax._validation import InputError, require_extra
from hardmax.text.files.finding import find_model, is_here
from hardmax.text.files.folder import write_model
from hardmax.text.model.model import Model


def find_or_fetch(name_or_path: Path, download: bool, revision: str | None, token: str | None) -> Path:
    """The folder of a model that is here; else, if `download` says so, of the model `owner/name` of the Hub."""
    name = str(name_or_path)
    if is_here(name_or_path) or name.count("/") != 1 or not all(name.split("/")):
        return find_model(name_or_path)  # which says what there is, if it is not here
    if not download:
        raise InputError(f"`{name}` is no folder: pass download=True to fetch it from the Hub.")
    return Path(_hub().snapshot_download(name, revision=revision, token=token))


def push(model: Model, repository: str, private: bool, revision: str | None, token: str | None) -> str:
    """Upload the folder of the model; gives back where it is."""
    hub = _hub()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        write_model(model, folder)
        address = hub.create_repo(repository, private=private, exist_ok=True, token=token)
        if revision is not None:
            hub.create_branch(repository, branch=revision, exist_ok=True, token=token)
        hub.upload_folder(repo_id=repository, folder_path=str(folder), revision=revision, token=token)
    return str(address)


def _hub() -> Any:
    require_extra("A model on the Hub", "hub", "huggingface_hub")
    import huggingface_hub

    return huggingface_hub
