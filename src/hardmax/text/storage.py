"""A model as a folder: config.json, model.safetensors, vocabulary.txt, metrics.json, README.md,
hashes.json.

The hashes are SHA-256 of the first three, which decide all answers. The others may be edited.
"""

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from hardmax._common.files import (
    locked,
    parse_json,
    read_bytes,
    reason,
    shown_name,
    sync_folder,
    write_whole,
)
from hardmax._common.validation import InputError
from hardmax.text._analysis import LENGTHS
from hardmax.text.card import write_card
from hardmax.text.reading import Modifier, VotingRule
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

Kind = TypeVar("Kind", bound="TextModel")

FORMAT, VERSION = "hardmax text model", 2
TENSORS = ("bias", "weights")  # float32
DECIDING = ("config.json", "model.safetensors", "vocabulary.txt")
OURS = {*DECIDING, "metrics.json", "README.md", "hashes.json"}
_SECONDS = 60  # that a writer waits for another one
_MOST_BYTES, _MOST_JSON = 1 << 30, 1 << 24  # of a file; JSON takes many times its size in memory
_EXPECTED = "expected a folder that `save` wrote"
_KEPT = ("name", "classes", "bias", "rule", "modifiers")  # of a model by a pickled explanation


def write_model(model: "TextModel", folder: Path) -> None:
    """Write the folder whole or not at all: whoever reads it finds the model that was there, or the
    new one.

    The new folder is filled beside the old one, `.NAME.part`; then the old one is renamed to
    `.NAME.old`, and the new one takes its name. Both happen under a lock, as does putting back what
    a killed process left. Other files in the folder of a model stay."""
    from filelock import Timeout

    files = deciding_files(model)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files |= {
        "metrics.json": _json(model.metrics),
        "README.md": write_card(model).encode(),
        "hashes.json": _json(hashes),
    }
    target = Path(os.path.realpath(folder))
    draft, former, lock = _beside(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(lock, _SECONDS):
            try:
                _restore(target)
                _check_target(target, folder)
                shutil.rmtree(draft, ignore_errors=True)
                draft.mkdir()
                for name, data in files.items():
                    write_whole(draft / name, data)
                if target.exists():
                    _copy_others(target, draft)
                    target.rename(former)
                draft.rename(target)
                sync_folder(target.parent)
                shutil.rmtree(former, ignore_errors=True)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
                _restore(target)
        _folders[model] = target
    except Timeout:
        problem = (
            f"`{folder}` is being written by another process: wait for it, or remove `{lock}`."
        )
        raise InputError(problem) from None
    except OSError as error:
        raise InputError(f"`{folder}` cannot be written: {reason(error)}.") from None


def read_model(folder: Path, kind: type[Kind]) -> Kind:
    """The model in a folder, as that kind, with every check: files, hashes, shapes, dtypes, finite
    numbers."""
    target = Path(os.path.realpath(folder))
    _, former, lock = _beside(target)
    before = identity(target)
    try:
        return _read(folder, kind)
    except InputError:
        # A model that is replaced while it is read is half the one and half the other.
        if all(identity(path) is None for path in (lock, former)) and identity(target) == before:
            raise
    from filelock import Timeout

    with suppress(OSError, Timeout), locked(lock, _SECONDS):
        _restore(target)
        return _read(folder, kind)
    return _read(folder, kind)


def deciding_files(model: "TextModel") -> dict[str, bytes]:
    """The settings, the weights and the vocabulary."""
    from safetensors.numpy import save  # not needed to explain a text

    tensors = {name: getattr(model, name) for name in TENSORS}
    config = {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(model.classes),
        "modifiers": [asdict(modifier) for modifier in model.modifiers],
        **asdict(model.rule),
        "tokeniser": asdict(model.tokeniser),
        "tokens": len(model.vocabulary),
    }
    contents = _json(config), save(tensors), write_vocabulary(model.vocabulary)
    return dict(zip(DECIDING, contents, strict=True))


_digests: WeakKeyDictionary["TextModel", str] = WeakKeyDictionary()
_folders: WeakKeyDictionary["TextModel", Path] = WeakKeyDictionary()


def saved_in(model: "TextModel") -> Path | None:
    """The folder that a model was read from or last written to."""
    return _folders.get(model)


def digest(model: "TextModel") -> str:
    """SHA-256 of what `sha256sum config.json model.safetensors vocabulary.txt` prints in the folder
    of the model."""
    if isinstance(model, AbsentModel):
        return model.sha256
    if model not in _digests:
        files = deciding_files(model)
        lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
        _digests[model] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return _digests[model]


class AbsentModel:
    """What a pickled explanation keeps of its model, a few kilobytes of the megabytes that it has:
    name, classes and settings. Anything else that is asked of it is refused."""

    def __init__(self, model: "TextModel | AbsentModel", sha256: str) -> None:
        vars(self).update({name: getattr(model, name) for name in _KEPT}, sha256=sha256)
        kept = model.metrics.keys() & {LENGTHS, "edited"}
        self.metrics = {name: model.metrics[name] for name in kept}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling look for
            raise AttributeError(name)
        problem = f"`{name}` needs the model, which a pickled explanation leaves behind"
        raise InputError(f"{problem}: load the model and explain the text again.")


def _beside(target: Path) -> tuple[Path, Path, Path]:
    part, old, lock = (target.with_name(f".{target.name}.{end}") for end in ("part", "old", "lock"))
    return part, old, lock


def identity(folder: Path) -> tuple[int, int] | None:
    """Differs between a folder and the one that takes its place; None if there is none, or its name
    is too long."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def _restore(target: Path) -> None:
    """Put back a model that a killed process had renamed; with the lock held."""
    _, former, _ = _beside(target)
    if former.exists() and not target.exists():
        former.rename(target)
    shutil.rmtree(former, ignore_errors=True)


def _check_target(target: Path, folder: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"`{folder}` is a file: expected the name of a folder.")
    names = {path.name for path in target.iterdir()}
    if names and "model.safetensors" not in names:
        raise InputError(
            f"`{folder}` has other files: expected a new or empty folder, or one with a model."
        )


def _copy_others(former: Path, draft: Path) -> None:
    def ours(folder: str, names: list[str]) -> set[str]:
        return OURS if folder == str(former) else set()

    shutil.copytree(former, draft, symlinks=True, ignore=ours, dirs_exist_ok=True)


def _read(folder: Path, kind: type[Kind]) -> Kind:
    before = identity(folder)
    if before is None or not folder.is_dir():
        raise InputError(f"`{folder}` is not a folder: {_EXPECTED}.")
    files = {name: _read_file(folder / name) for name in ("hashes.json", *DECIDING, "metrics.json")}
    if identity(folder) != before:
        raise InputError(f"`{folder}` was replaced while it was read: read it again.")
    hashes = _read_object(files, "hashes.json", folder)
    for name in DECIDING:
        if hashes.get(name) != hashlib.sha256(files[name]).hexdigest():
            raise InputError(
                f"`{folder / name}` is not the file that was saved: its hash differs. "
                "Copy it again."
            )
    config = _read_object(files, "config.json", folder)
    if config.get("format") != FORMAT or config.get("version") != VERSION:
        kind_read = f"{config.get('format')!r}, version {config.get('version')!r}"
        raise InputError(
            f"`{folder / 'config.json'}` is of {kind_read}: expected {FORMAT!r}, version {VERSION}."
        )
    try:
        metrics = _read_object(files, "metrics.json", folder)
        model = kind(**_fields(config, files), metrics=metrics, name=folder.resolve().name)
    except InputError as error:
        raise InputError(f"The model in `{folder}` cannot be used: {error}") from None
    except (KeyError, TypeError) as error:
        problem = f"`{folder / 'config.json'}` is incomplete ({error}): {_EXPECTED}."
        raise InputError(problem) from None
    _folders[model] = folder.absolute()
    return model


def _read_file(path: Path) -> bytes:
    if identity(path) and not path.is_file():  # a device or a pipe need not end
        raise InputError(f"`{path}` is not a file: {_EXPECTED}.")
    most = _MOST_JSON if path.suffix == ".json" else _MOST_BYTES
    return read_bytes(path, _EXPECTED, at_most=most)


def _fields(config: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any]:
    vocabulary = read_vocabulary(files["vocabulary.txt"])
    if len(vocabulary) != config["tokens"]:
        raise InputError(
            f"vocabulary.txt has {len(vocabulary)} tokens: "
            f"expected {config['tokens']}, as in config.json."
        )
    return {
        "vocabulary": vocabulary,
        "classes": tuple(config["classes"]),
        "modifiers": [Modifier(**modifier) for modifier in config["modifiers"]],
        "tokeniser": Tokeniser(**config["tokeniser"]),
        "rule": VotingRule(**{field.name: config[field.name] for field in fields(VotingRule)}),
        **_read_tensors(files["model.safetensors"]),
    }


def _read_tensors(data: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise InputError("model.safetensors is cut off, or not a safetensors file.") from None
    names = tuple(sorted(tensors))
    if names != TENSORS:
        shown = ", ".join(names) or "nothing"
        raise InputError(f"model.safetensors has {shown}: expected bias, weights.")
    for name, tensor in tensors.items():
        if tensor.dtype != np.float32:
            raise InputError(f"`{name}` is {tensor.dtype}: expected float32.")
    return tensors


def _read_object(files: dict[str, bytes], name: str, folder: Path) -> dict[str, Any]:
    document = parse_json(files[name], shown_name(folder / name), _EXPECTED)
    if not isinstance(document, dict):
        raise InputError(f"`{folder / name}` is not a JSON object: {_EXPECTED}.")
    return document


def _json(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
        return f"{text}\n".encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"`classes` and `metrics` must be plain data for JSON: {error}.") from None
