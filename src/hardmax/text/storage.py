"""A model as a folder: config.json, model.safetensors, vocabulary.txt, metrics.json, README.md,
hashes.json.

The hashes are SHA-256 of the first three, which decide all answers. The others may be edited.
"""

import hashlib
import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from hardmax._common.files import parse_json, read_bytes, reason, shown_name, write_whole
from hardmax._common.validation import InputError
from hardmax.text.card import describe
from hardmax.text.reading import Modifier, VotingRule
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

Kind = TypeVar("Kind", bound="TextModel")

FORMAT, VERSION = "hardmax text model", 2
TENSORS = ("bias", "weights")  # float32
DECIDING = ("config.json", "model.safetensors", "vocabulary.txt")
_MOST_BYTES, _MOST_JSON = 1 << 30, 1 << 24  # of a file; JSON takes many times its size in memory
_EXPECTED = "expected a folder that `save` wrote"


def write_model(model: "TextModel", folder: Path) -> None:
    """Write a folder, or the files of a model in it anew; other files there stay.

    Nothing is replaced before all is on the disk. Should a process end between two of the six
    files, their hashes differ, and nobody reads a mixture."""
    files = deciding_files(model)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files |= {
        "metrics.json": _json(model.metrics),
        "README.md": describe(model).encode(),
        "hashes.json": _json(hashes),
    }
    target = Path(os.path.realpath(folder))
    _check_target(target, folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{target.name[:50]}.", dir=target.parent) as draft:
            for name, data in files.items():
                write_whole(Path(draft, name), data)
            target.mkdir(exist_ok=True)
            for name in files:
                Path(draft, name).replace(target / name)
    except OSError as error:
        raise InputError(f"`{folder}` cannot be written: {reason(error)}.") from None


def read_model(folder: Path, kind: type[Kind]) -> Kind:
    """The model in a folder, as that kind, with every check: files, hashes, shapes, dtypes, finite
    numbers."""
    if not os.path.isdir(folder):  # noqa: PTH112 - Path raises for long names
        raise InputError(f"`{folder}` is not a folder: {_EXPECTED}.")
    files = {name: _read_file(folder / name) for name in ("hashes.json", *DECIDING, "metrics.json")}
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
        return kind(**_fields(config, files), metrics=metrics, name=folder.resolve().name)
    except InputError as error:
        raise InputError(f"The model in `{folder}` cannot be used: {error}") from None
    except (KeyError, TypeError) as error:
        problem = f"`{folder / 'config.json'}` is incomplete ({error}): {_EXPECTED}."
        raise InputError(problem) from None


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


def digest(model: "TextModel") -> str:
    """SHA-256 of what `sha256sum config.json model.safetensors vocabulary.txt` prints in the folder
    of the model."""
    if model not in _digests:
        files = deciding_files(model)
        lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
        _digests[model] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return _digests[model]


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


def _read_file(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a device or a pipe need not end
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
    kinds = {name: str(tensor.dtype) for name, tensor in tensors.items()}
    if kinds != dict.fromkeys(TENSORS, "float32"):
        found = ", ".join(f"`{name}` of {kind}" for name, kind in kinds.items()) or "nothing"
        raise InputError(f"model.safetensors has {found}: expected `bias`, `weights` of float32.")
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
