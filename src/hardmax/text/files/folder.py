"""A model as a folder: config.json, model.safetensors, vocabulary.txt, metrics.json, README.md, hashes.json.

The hashes are SHA-256 of all the other files; those that decide anything are checked when the model is read. The card
may be edited.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from hardmax._files import parse_json, read_bytes, reason, shown_name, write_whole
from hardmax._validation import InputError, check_choice
from hardmax.text.files.card import write_card
from hardmax.text.files.replacing import find_folder, replace_folder, tidy
from hardmax.text.model.contents import DTYPES, FORMAT, VERSION, deciding_files, indented
from hardmax.text.model.model import Model
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

Kind = TypeVar("Kind", bound=Model)

READ = ("config.json", "model.safetensors", "vocabulary.txt", "metrics.json")
TRAINING = ("training.jsonl", "training.png")  # log and curve of the training that made the model
OURS = (*READ, "README.md", "hashes.json", *TRAINING)
_TRIES = 100
_WISH = "expected a folder that `save` wrote"


def write_model(model: Model, folder: Path, beside: Mapping[str, bytes] = MappingProxyType({})) -> None:
    """Write the folder whole or not at all: at every moment a reader finds the model that was there, or the new one.

    Files `beside` those of the model go with it. A model that is there is replaced; other files in its folder stay, and
    a folder of other things is left alone.
    """
    files = {**_contents(model), **beside}
    target = Path(os.path.realpath(folder))

    def fill(draft: Path) -> None:
        for name, data in files.items():
            write_whole(draft / name, data)
        _copy_others(target, draft, {*OURS, *files})

    try:
        tidy(target)
        _check_target(target, folder)
        replace_folder(target, fill)
    except OSError as error:
        raise InputError(f"`{folder}` cannot be written: {reason(error)}.") from None


def read_model(folder: Path, kind: type[Kind]) -> Kind:
    """The model in a folder, as that kind, with every check: files, hashes, shapes, dtypes, finite numbers."""
    target, tries = Path(os.path.realpath(folder)), 0
    while True:
        place, tries = find_folder(target), tries + 1
        before = _identity(place)
        try:
            return _read(folder if place == target else place, kind)
        except InputError:
            # A model that is replaced while it is read is half the one and half the other; one that was found beside
            # its place, and is put there meanwhile, is not found under its former name.
            now = find_folder(target)
            if tries == _TRIES or (now == place and _identity(now) == before):
                raise


def _identity(folder: Path) -> tuple[int, int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _read(folder: Path, kind: type[Kind]) -> Kind:
    if not folder.is_dir():
        raise InputError(f"`{folder}` is not a folder: {_WISH}.")
    files = {name: read_bytes(folder / name, _WISH) for name in ("hashes.json", *READ)}
    hashes = _read_object(files, "hashes.json", folder)
    for name in READ:
        if hashes.get(name) != hashlib.sha256(files[name]).hexdigest():
            raise InputError(f"`{folder / name}` is not the file that was saved: its hash differs. Copy it again.")
    config = _read_object(files, "config.json", folder)
    if config.get("format") != FORMAT or config.get("version") != VERSION:
        came = f"{config.get('format')!r}, version {config.get('version')!r}"
        raise InputError(f"`{folder / 'config.json'}` says {came}: expected {FORMAT!r}, version {VERSION}.")
    try:
        return kind(**_fields(config, files, folder))
    except InputError as error:
        raise InputError(f"`{folder}` holds no sound model: {error}") from None
    except (KeyError, TypeError) as error:
        raise InputError(f"`{folder / 'config.json'}` is incomplete ({error}): {_WISH}.") from None


def _contents(model: Model) -> dict[str, bytes]:
    files = {
        **deciding_files(model),
        "metrics.json": indented(model.metrics),
        "README.md": write_card(model).encode(),
    }
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return files | {"hashes.json": indented(hashes)}


def _fields(config: dict[str, Any], files: dict[str, bytes], folder: Path) -> dict[str, Any]:
    tensors = _read_tensors(files["model.safetensors"], config["tensors"])
    vocabulary = Vocabulary.from_bytes(files["vocabulary.txt"])
    wish = (config["tokens"], config["dimension"])
    if tensors["embeddings"].shape != wish:
        raise InputError(f"`embeddings` has shape {tensors['embeddings'].shape}: expected {wish}, as config.json says.")
    return {
        "vocabulary": vocabulary,
        "classes": tuple(config["classes"]),
        "layers": config["layers"],
        "alpha": config["alpha"],
        "temperature": config["temperature"],
        "gate": config.get("gate"),
        "neutral_weight": config.get("neutral_weight", 1),
        "binary": check_choice(config["counts"], ("all", "presence"), "`counts`") == "presence",
        "tokeniser": Tokeniser.from_dict(config["tokeniser"]),
        "metrics": _read_object(files, "metrics.json", folder),
        "name": folder.resolve().name,
        **tensors,
    }


def _read_tensors(data: bytes, names: list[str]) -> dict[str, np.ndarray]:
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise InputError("model.safetensors is cut off, or no safetensors file.") from None
    if sorted(tensors) != names or not {"embeddings", "decoder", "bias"} <= set(names) <= set(DTYPES):
        raise InputError(f"model.safetensors holds {', '.join(sorted(tensors)) or 'nothing'}: expected {names}.")
    for name, tensor in tensors.items():
        if tensor.dtype != DTYPES[name]:
            raise InputError(f"`{name}` is {tensor.dtype}: expected {DTYPES[name]}.")
    return tensors


def _read_object(files: dict[str, bytes], name: str, folder: Path) -> dict[str, Any]:
    found = parse_json(files[name], shown_name(folder / name), _WISH)
    if not isinstance(found, dict):
        raise InputError(f"`{folder / name}` is not a JSON object: {_WISH}.")
    return found


def _is_something_else(target: Path) -> bool:
    """Whether something is there that is no folder; asked once, since a folder may come and go meanwhile."""
    try:
        return not stat.S_ISDIR(target.stat().st_mode)
    except OSError:
        return False


def _check_target(target: Path, folder: Path) -> None:
    if _is_something_else(target):
        raise InputError(f"`{folder}` is a file: expected the name of a folder.")
    if _holds_other_things(target):
        raise InputError(f"`{folder}` holds other things: expected a new or empty folder, or one with a model.")


def _holds_other_things(folder: Path) -> bool:
    """Whether there are files in a folder, and no model among them, as long as nobody replaces it meanwhile."""
    for _ in range(_TRIES):
        before, names = _identity(folder), _names(folder)
        if not names or "model.safetensors" in names:
            return False
        if _identity(folder) == before:
            return True
    return False


def _names(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()


def _copy_others(former: Path, draft: Path, ours: set[str]) -> None:
    """What somebody put beside a model stays there; what was written with it goes with it, or was written anew."""
    for name in sorted(_names(former) - ours):
        path = former / name
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, draft / name, symlinks=True)
        else:
            shutil.copy2(path, draft / name, follow_symlinks=False)
