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
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.files import parse_json, read_bytes, reason, shown_name, write_whole
from hardmax._common.validation import InputError
from hardmax.text.card import describe
from hardmax.text.reading import Modifier, VotingRule
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

FORMAT = {"format": "hardmax text model", "version": 2}
TENSORS = ("bias", "weights")  # float32
DECIDING = ("config.json", "model.safetensors", "vocabulary.txt")
_MOST_BYTES, _MOST_JSON = 1 << 30, 1 << 24  # of a file; JSON takes many times its size in memory
_EXPECTED = "expected a folder that `save` wrote"


def write_model(model: "TextModel", folder: Path) -> None:
    """Write a folder, or the files of a model in it anew; other files there stay.

    Nothing is replaced before all is on the disk. Should a process end between two of the six
    files, their hashes differ, and nobody reads a mixture."""
    files = deciding_files(model)
    files |= {
        "metrics.json": _json(model.metrics),
        "README.md": describe(model).encode(),
        "hashes.json": _json({name: _sha256(data) for name, data in files.items()}),
    }
    target = Path(os.path.realpath(folder))
    try:
        if target.is_file():
            raise InputError(f"`{folder}` is a file: expected the name of a folder.")
        names = {path.name for path in target.glob("*")}
        if names and names.isdisjoint(DECIDING):
            wish = "expected a new or empty folder, or one with a model"
            raise InputError(f"`{folder}` has other files: {wish}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{target.name[:50]}.", dir=target.parent) as draft:
            for name, data in files.items():
                write_whole(Path(draft, name), data)
            target.mkdir(exist_ok=True)
            for name in files:
                Path(draft, name).replace(target / name)
    except OSError as error:
        raise InputError(f"`{folder}` cannot be written: {reason(error)}.") from None


def read_model(folder: Path, kind: "type[TextModel]") -> "TextModel":
    """The model in a folder, with every check: files, hashes, shapes, dtypes, finite
    numbers."""
    if not os.path.isdir(folder):  # noqa: PTH112 - Path raises for long names
        raise InputError(f"`{folder}` is not a folder: {_EXPECTED}.")
    files = {name: read_bytes(folder / name, _EXPECTED, at_most=_MOST_BYTES) for name in DECIDING}
    hashes = _read_json(folder / "hashes.json")
    for name, data in files.items():
        if hashes.get(name) != _sha256(data):
            raise InputError(
                f"`{folder / name}` is not the file that was saved: its hash differs. "
                "Copy it again."
            )
    config = _read_json(folder / "config.json")
    if {name: config.get(name) for name in FORMAT} != FORMAT:
        raise InputError(
            f"`{folder / 'config.json'}` is not of format and version {[*FORMAT.values()]}: "
            f"{_EXPECTED}."
        )
    metrics = _read_json(folder / "metrics.json")
    try:
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
        **FORMAT,
        "classes": list(model.classes),
        "modifiers": [asdict(modifier) for modifier in model.modifiers],
        **asdict(model.rule),
        "tokeniser": asdict(model.tokeniser),
        "tokens": len(model.vocabulary),
    }
    contents = _json(config), save(tensors), write_vocabulary(model.vocabulary)
    return dict(zip(DECIDING, contents, strict=True))


def hash_model(model: "TextModel") -> str:
    """SHA-256 of what `sha256sum config.json model.safetensors vocabulary.txt` prints in the folder
    of the model."""
    files = deciding_files(model)
    return _sha256("".join(f"{_sha256(files[name])}  {name}\n" for name in files).encode())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    data = read_bytes(path, _EXPECTED, at_most=_MOST_JSON)
    document = parse_json(data, shown_name(path), _EXPECTED)
    if not isinstance(document, dict):
        raise InputError(f"`{path}` is not a JSON object: {_EXPECTED}.")
    return document


def _json(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
        return f"{text}\n".encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"`classes` and `metrics` must be plain data for JSON: {error}.") from None
