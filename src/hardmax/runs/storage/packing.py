"""Documents with arrays in files: `.npz` (arrays, with the rest as JSON inside) or `.json` (all of it plain text).

In JSON arrays are lists. In npz an array at the top of the document is an entry under its own name, where other
programs find it; all others of a dtype lie one after the other in one entry, since a batch may have many thousands of
them. The document says `{"array": entry}` or `{"array": entry, "start": …, "shape": …}` in their place.

This is no safetensors, as models are: a run has integers of any length and lists of lists, and what is in it should be
there for whoever has numpy alone.

A file carries a digest, SHA-256, of all else that is in it: in JSON of the document written without spaces and with its
keys in order, in npz of all other entries, in order of their names. Whatever was edited, cut or mixed up is refused. A
digest protects from accidents, not from people: whoever changes a run on purpose can make a new one. To trust a
stranger's result ask for the certificate of its limit, and `hardmax.verify` it.
"""

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.checking import short
from hardmax.errors import InputError
from hardmax.tokens.arrays import read_arrays
from hardmax.tokens.files import write_whole
from hardmax.tokens.reading import parse_json, read_bytes, shown_name

VERSION, UNSIGNED = 4, (2, 3)  # those without a digest: of a run only where it began is taken from them
RUN, RUNS = "hardmax-trajectory", "hardmax-trajectories"
_HOLDS = {RUN: "the run of one cloud", RUNS: "the runs of a batch of clouds"}
_READER = {RUN: "`Trajectory.load`", RUNS: "`Trajectories.load`"}
_DOCUMENT, _DIGEST = "document", "digest"


def write_document(path: Path, format: str, document: dict[str, Any]) -> None:
    """Write a document in the form that the suffix names, whole or not at all."""
    document = {"format": format, "version": VERSION} | document
    match path.suffix.lower():
        case ".json":
            write_whole(path, json.dumps(signed(document), default=np.ndarray.tolist).encode())
        case ".npz":
            write_whole(path, _archive(document))
        case suffix:
            raise InputError(f"`path` must end in .npz or .json, not {suffix or 'nothing'!r}.")


def read_document(path: Path, format: str) -> dict[str, Any]:
    """Read a document of a format; a file that holds anything else, or was changed, is told apart in one line.

    Documents of UNSIGNED versions may have been changed: whoever reads them must not trust what they claim.
    """
    name, wish = shown_name(path), f"expected {_HOLDS[format]}, as `save` writes it"
    data = read_bytes(path, wish)
    if path.suffix.lower() == ".json":
        document = parse_json(data, name, wish)
        is_whole = isinstance(document, dict) and document.pop(_DIGEST, None) == _digest_of_text(document)
    else:
        arrays = read_arrays(data, name)
        if _DOCUMENT not in arrays:
            raise InputError(f"{name} holds the arrays {', '.join(sorted(arrays)) or '(none)'}: {wish}.")
        said = arrays.pop(_DIGEST, np.empty(0, dtype=np.uint8)).tobytes()
        is_whole = said == _digest_of_arrays(arrays)
        with damage_named(path):
            text = arrays[_DOCUMENT].tobytes()
            document = parse_json(text, name, wish, object_hook=lambda item: _put_back(item, arrays))
    _check_kind(document, format, name, wish)
    if document["version"] == VERSION and not is_whole:
        raise InputError(f"{name} is not what was saved: its digest differs. Copy it again, or save it again.")
    return document


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its digest, as it stands in JSON."""
    return document | {_DIGEST: _digest_of_text(document)}


def _check_kind(document: Any, format: str, name: str, wish: str) -> None:
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, str) or found not in _HOLDS:
        raise InputError(f"{name} was not saved by hardmax: {wish}.")
    if found != format:
        raise InputError(f"{name} holds {_HOLDS[found]}: read it with {_READER[found]}.")
    version = document.get("version")
    if version not in (*UNSIGNED, VERSION) or isinstance(version, bool):
        raise InputError(f"{name} has version {short(version)}: this hardmax reads up to version {VERSION}.")


def _digest_of_text(document: dict[str, Any]) -> str:
    text = json.dumps(document, default=np.ndarray.tolist, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # Lengths first, so that no two archives say the same in another way.
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode() + b"\n")
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Whatever breaks off the making of a run from a document becomes one line that names the file."""
    try:
        yield
    except InputError as error:
        complaint = str(error) if shown_name(path) in str(error) else f"{shown_name(path)} holds no sound run: {error}"
        raise InputError(complaint) from None
    except Exception as error:  # a document may be wrong in any way at all
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{shown_name(path)} is damaged ({type(error).__name__}: {reason}). Save it again.") from None


def _archive(document: dict[str, Any]) -> bytes:
    entries = {name: value for name, value in document.items() if isinstance(value, np.ndarray)}
    pools: dict[str, list[np.ndarray]] = defaultdict(list)
    lengths: dict[str, int] = defaultdict(int)

    def set_aside(array: np.ndarray) -> dict[str, Any]:
        pool = array.dtype.name
        place = {"array": pool, "start": lengths[pool], "shape": array.shape}
        pools[pool].append(array.ravel())
        lengths[pool] += array.size
        return place

    named = {name: {"array": name} for name in entries}
    text = json.dumps(document | named, default=set_aside).encode()
    entries |= {pool: np.concatenate(arrays) for pool, arrays in pools.items()}
    entries[_DOCUMENT] = np.frombuffer(text, dtype=np.uint8)
    entries[_DIGEST] = np.frombuffer(_digest_of_arrays(entries), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **entries)
    return buffer.getvalue()


def _put_back(item: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    if item.keys() == {"array"}:
        return arrays[item["array"]]
    if item.keys() != {"array", "start", "shape"}:
        return item
    start, shape = item["start"], item["shape"]
    if min([start, *shape]) < 0:
        raise ValueError("an array that begins, or is, less than nothing")
    return arrays[item["array"]][start : start + prod(shape)].reshape(shape)
