"""Files of the authors' kind, made byte by byte, so that each can be wrong in one way; and one that torch makes."""

import io
import struct
import sys
import types
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

REAL = Path(__file__).parents[4] / "shared" / "data" / "paper" / "authors_model_d2.pth"


class Name(NamedTuple):
    """A class or function, as GLOBAL says it."""

    module: str
    name: str


class Call(NamedTuple):
    """REDUCE: a function and what it is called with."""

    function: Name
    arguments: tuple[Any, ...]


class New(NamedTuple):
    """NEWOBJ of a class, and BUILD with its attributes."""

    of: Name
    state: dict[str, Any]


class Stored(NamedTuple):
    """BINPERSID: what stands elsewhere in the file."""

    said: tuple[Any, ...]


class Raw(NamedTuple):
    """Instructions as they are."""

    code: bytes


def code(value: Any) -> bytes:
    """The instructions that build a value, in protocol 2."""
    match value:
        case Raw(instructions):
            return instructions
        case Name(module, name):
            return f"c{module}\n{name}\n".encode()
        case Call(function, arguments):
            return code(function) + code(arguments) + b"R"
        case New(of, state):
            return code(of) + b")\x81" + code(state) + b"b"
        case Stored(said):
            return code(said) + b"Q"
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return b"J" + struct.pack("<i", value) if abs(value) < 2**31 else b"\x8a\x09" + value.to_bytes(9, "little")
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
        case tuple():
            return b"(" + b"".join(map(code, value)) + b"t"
        case list():
            return b"](" + b"".join(map(code, value)) + b"e"
        case dict():
            return b"}(" + b"".join(code(key) + code(item) for key, item in value.items()) + b"u"
    raise TypeError(value)


def pickled(value: Any) -> bytes:
    """A whole pickle."""
    return b"\x80\x02" + code(value) + b"."


def archive(members: dict[str, bytes], root: str = "model", compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive with these files in its folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as written:
        for name, data in members.items():
            written.writestr(zipfile.ZipInfo(f"{root}/{name}"), data, compression)
    return buffer.getvalue()


ORDERED, A_SET = Name("collections", "OrderedDict"), Name("__builtin__", "set")
FLOATS = Name("torch", "FloatStorage")
EMPTY = Call(ORDERED, ())


def tensor(key: str, shape: tuple[int, ...], strides: tuple[int, ...], **other: Any) -> Call:
    """A parameter: numbers of `data/key`; `other` are its `count`, `offset` and `kind`, where they are unusual."""
    count, offset, kind = other.get("count", int(np.prod(shape))), other.get("offset", 0), other.get("kind", FLOATS)
    stored = Stored(("storage", kind, key, "cpu", count))
    rebuilt = Call(Name("torch._utils", "_rebuild_tensor_v2"), (stored, offset, shape, strides, False, EMPTY))
    return Call(Name("torch._utils", "_rebuild_parameter"), (rebuilt, True, EMPTY))


def module(of: Name, parameters: dict[str, Any] | None = None, **others: Any) -> New:
    """A module with its parameters; `others` are further attributes."""
    usual = {"training": True, "_parameters": parameters or EMPTY, "_buffers": EMPTY, "_modules": EMPTY}
    return New(of, {**usual, "_non_persistent_buffers_set": Call(A_SET, ([],)), **others})


def parts(rows: int, d: int) -> dict[str, Any]:
    """The modules of a classifier."""
    layers = "torch.nn.modules"
    return {
        "encoder": module(
            Name(f"{layers}.sparse", "Embedding"), {"weight": tensor("0", (rows, d), (d, 1))}, max_norm=None
        ),
        "attention": module(Name("utils.models", "CustomSelfAttention"), {"alpha": tensor("1", (1,), (1,))}),
        "decoder": module(
            Name(f"{layers}.linear", "Linear"), {"weight": tensor("2", (1, d), (d, 1)), "bias": tensor("3", (1,), (1,))}
        ),
        "sigmoid": module(Name(f"{layers}.activation", "Sigmoid")),
    }


CLASSIFIER = Name("utils.models", "TClassifier")


def classifier(modules: dict[str, Any], **others: Any) -> New:
    """The whole module."""
    return module(CLASSIFIER, **{"_modules": modules, "depth": 8, **others})


EMBEDDINGS = np.array([[0.5, 0.25], [2, 0], [-2, 0.5], [0.125, 0.125], [0, -1.5]], dtype=np.float32)
NUMBERS = {
    "data/0": EMBEDDINGS.tobytes(),
    "data/1": np.float32(2.5).tobytes(),
    "data/2": np.array([-3, 1.5], dtype=np.float32).tobytes(),
    "data/3": np.float32(-0.25).tobytes(),
}


def members(value: Any = None, **changes: bytes | None) -> dict[str, bytes]:
    """The files of the archive: a small classifier, or with another pickle (or value of it), or other numbers."""
    pickle = value if isinstance(value, bytes) else pickled(classifier(parts(5, 2)) if value is None else value)
    usual = {"data.pkl": pickle, "byteorder": b"little", **NUMBERS, "version": b"3\n"} | changes
    return {name: data for name, data in usual.items() if data is not None}


def small_file(folder: Path, value: Any = None, **changes: bytes | None) -> Path:
    """A small classifier in a file, or what shall be otherwise in it."""
    path = folder / "small.pth"
    path.write_bytes(archive(members(value, **changes)))
    return path


def saved_by_torch(path: Path, patch: pytest.MonkeyPatch, rows: int = 30, d: int = 2) -> dict[str, np.ndarray]:
    """A whole module with the authors' names, as torch.save writes it; gives its numbers."""
    torch = pytest.importorskip("torch")

    class CustomSelfAttention(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.alpha = torch.nn.Parameter(torch.tensor([1.75]))
            self.emb, self.temperature = d, 0.001

    class TClassifier(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = torch.nn.Embedding(rows, d)
            self.attention, self.depth = CustomSelfAttention(), 8
            self.decoder, self.sigmoid = torch.nn.Linear(d, 1), torch.nn.Sigmoid()

    home = types.ModuleType("utils.models")
    for kind in (CustomSelfAttention, TClassifier):
        kind.__module__, kind.__qualname__ = "utils.models", kind.__name__
        setattr(home, kind.__name__, kind)
    patch.setitem(sys.modules, "utils", types.ModuleType("utils"))
    patch.setitem(sys.modules, "utils.models", home)
    torch.manual_seed(0)
    made = TClassifier()
    torch.save(made, path)
    return {name: weight.detach().numpy().copy() for name, weight in made.named_parameters()}
