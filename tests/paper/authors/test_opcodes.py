"""Pickles that want more than to say numbers: nothing of them is run, and one line says what they wanted."""

import pickle
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from paper.authors.making import (
    EMPTY,
    FLOATS,
    ORDERED,
    Call,
    Name,
    New,
    Raw,
    Stored,
    classifier,
    code,
    parts,
    pickled,
    small_file,
    tensor,
)

from hardmax._validation import InputError
from hardmax.paper.authors.opcodes import LARGEST_PICKLE, read_tree
from hardmax.paper.authors.weights import read_weights

LINEAR = Name("torch.nn.modules.linear", "Linear")
CANARY = "canary"
SYSTEM, EVAL = Name("os", "system"), Name("builtins", "eval")
CHECK_CALL, PARTIAL = Name("subprocess", "check_call"), Name("functools", "partial")
TOUCH, WRITE = f"touch {CANARY}", f"open({CANARY!r}, 'w').close()"


def refusal(folder: Path, pickle: Any) -> str:
    with pytest.raises(InputError) as raised:
        read_weights(small_file(folder, pickle))
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


def said(text: str) -> bytes:
    return b"S" + repr(text).encode() + b"\n"


INNER = pickled(Call(SYSTEM, (TOUCH,)))

# What makes the canary where it is unpickled, and what is said of it here.
RUNNING = {
    "REDUCE of os.system": (pickled(Call(SYSTEM, (TOUCH,))), "os.system"),
    "REDUCE of eval": (pickled(Call(EVAL, (WRITE,))), "builtins.eval"),
    "REDUCE of Python 2's eval": (pickled(Call(Name("__builtin__", "eval"), (WRITE,))), "__builtin__.eval"),
    "INST": (b"\x80\x02(" + said(TOUCH) + b"ios\nsystem\n.", "STRING"),
    "INST without text": (b"\x80\x02(" + code(TOUCH) + b"ios\nsystem\n.", "INST"),
    "OBJ": (b"\x80\x02(" + code(CHECK_CALL) + code(["touch", CANARY]) + b"o.", "subprocess.check_call"),
    "REDUCE of another program": (pickled(Call(CHECK_CALL, (["touch", CANARY],))), "subprocess.check_call"),
    "BUILD of an object that sets its own state": (
        b"\x80\x02"
        + code(PARTIAL)
        + code((Name("builtins", "print"),))
        + b"\x81"
        + code((SYSTEM, (TOUCH,), {}, None))
        + b"b)R.",
        "functools.partial",
    ),
    "a name reached through another": (
        b"\x80\x04" + b"cposixpath\nos.system\n" + code((TOUCH,)) + b"R.",
        "protocol 4",
    ),
    "STACK_GLOBAL": (b"\x80\x04\x8c\x02os\x8c\x06system\x93" + code((TOUCH,)) + b"R.", "protocol 4"),
    "a pickle in a pickle": (
        pickled(Call(Name("pickle", "loads"), (Raw(b"C" + bytes([len(INNER)]) + INNER),))),
        "pickle.loads",
    ),
    "inside of a classifier": (
        pickled(classifier(parts(5, 2) | {"sigmoid": Call(EVAL, (WRITE,))})),
        "builtins.eval",
    ),
    "in an attribute that nobody reads": (pickled(classifier(parts(5, 2), note=Call(SYSTEM, (TOUCH,)))), "os.system"),
    "in what a dict is made of": (pickled(Call(ORDERED, ([Call(SYSTEM, (TOUCH,))],))), "os.system"),
}


@pytest.mark.parametrize("name", RUNNING)
def test_what_would_run_is_not_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code, what = RUNNING[name]
    monkeypatch.chdir(tmp_path)
    assert what in refusal(tmp_path, code)
    assert not (tmp_path / CANARY).exists()


# The authors' classes are not there, so that elsewhere these would end before they run.
INSIDE = {"inside of a classifier", "in an attribute that nobody reads"}


@pytest.mark.parametrize("name", sorted(RUNNING.keys() - INSIDE))
def test_what_is_not_run_here_runs_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with suppress(TypeError, ValueError):  # some fail after they have run
        pickle.loads(RUNNING[name][0])
    assert (tmp_path / CANARY).exists()


NAMES = [
    ("os", "system"),
    ("posix", "system"),
    ("builtins", "getattr"),
    ("collections", "OrderedDict.__init__"),
    ("collections", "OrderedDict.fromkeys"),
    ("collections.OrderedDict", "fromkeys"),
    ("collections", "namedtuple"),
    ("torch", "load"),
    ("torch", "DoubleStorage"),
    ("torch._utils", "_rebuild_tensor"),
    ("torch._utils", "_import_dotted_name"),
    ("torch.nn.modules.linear", "os"),
    ("torch.nn.modules.linear", "Linear.__init__"),
    ("torch.nn.modules.linear", "Linear.forward.__globals__"),
    ("torch.nn.modules.linear.os", "System"),
    ("torch.nn.modules", "Linear"),
    ("torch.nn.modules.", "Linear"),
    ("torch.hub", "load"),
    ("utils.models", "TClassifier.__reduce__"),
    ("utils.models", "Other"),
    ("utils", "models"),
    ("", ""),
]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_that_are_not_on_the_list_are_refused_even_if_nothing_is_done_with_them(module, name, tmp_path: Path):
    wrong = refusal(tmp_path, classifier(parts(5, 2), note=Name(module, name)))
    assert "names '" in wrong
    assert "nothing of it was run" in wrong


WITHOUT_NAMES = {
    "a name made of two texts": (b"\x80\x02X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93.", "STACK_GLOBAL"),
    "EXT1": (b"\x80\x02\x82\x01.", "EXT1"),
    "EXT2": (b"\x80\x02\x83\x01\x00.", "EXT2"),
    "EXT4": (b"\x80\x02\x84\x01\x00\x00\x00.", "EXT4"),
    "PERSID": (b"\x80\x02Pos.system\n.", "PERSID"),
    "NEWOBJ_EX": (b"\x80\x02" + code(LINEAR) + b")}\x92.", "NEWOBJ_EX"),
    "DUP": (b"\x80\x02N2.", "DUP"),
    "POP": (b"\x80\x02NN0.", "POP"),
    "POP_MARK": (b"\x80\x02N(1.", "POP_MARK"),
    "bytes": (b"\x80\x02C\x01x.", "SHORT_BINBYTES"),
    "bytearray": (b"\x80\x02\x96\x01\x00\x00\x00\x00\x00\x00\x00x.", "BYTEARRAY8"),
    "a set": (b"\x80\x02\x8f.", "EMPTY_SET"),
    "a list in protocol 0": (b"\x80\x02(l.", "LIST"),
    "NEXT_BUFFER": (b"\x80\x02\x97.", "NEXT_BUFFER"),
}
WRONG_USE = {
    "a class is called": (Call(LINEAR, ()), "calls torch.nn.modules.linear.Linear"),
    "a storage is called": (Call(FLOATS, ()), "calls torch.FloatStorage"),
    "a dict is called": (Raw(b"}" + code(()) + b"R"), "calls something that has no name"),
    "an ordered dict of something": (Call(ORDERED, ([("a", 1)],)), "calls collections.OrderedDict"),
    "a function is made": (Raw(code(ORDERED) + b")\x81"), "makes an object"),
    "a class is made of something": (Raw(code(LINEAR) + code((1,)) + b"\x81"), "makes an object"),
    "a text is made": (Raw(code("os") + b")\x81"), "makes an object"),
    "attributes of a class": (Raw(code(LINEAR) + code({"forward": 1}) + b"b"), "attributes to something else"),
    "attributes of a dict": (Raw(code(EMPTY) + code({"x": 1}) + b"b"), "attributes to something else"),
    "slots": (Raw(code(LINEAR) + b")\x81" + code((None, {"__class__": 1})) + b"b"), "sets attributes"),
    "attributes twice": (Raw(code(New(LINEAR, {})) + code({"x": 1}) + b"b"), "sets attributes"),
    "items of a tuple": (Raw(b")Na"), "an item to something else"),
    "entries of a list": (Raw(b"]" + code("a") + b"Ns"), "an entry to something else"),
    "a key twice": (Raw(b"}" + 2 * (code("a") + b"Ns")), "'a' twice"),
    "a key that is a number": (Raw(b"}" + code(1) + b"Ns"), "no text"),
    "a key without a value": (Raw(b"}(" + code("a") + b"u"), "without a value"),
    "a storage that is no storage": (Stored(("module", FLOATS, "0", "cpu", 1)), "no storage"),
    "a storage somewhere else": (Stored(("storage", FLOATS, "../../etc/passwd", "cpu", 1)), "no storage"),
    "a storage of a class": (Stored(("storage", LINEAR, "0", "cpu", 1)), "no storage"),
    "a storage of minus one": (Stored(("storage", FLOATS, "0", "cpu", -1)), "no storage"),
    "a storage of truth": (Stored(("storage", FLOATS, "0", "cpu", True)), "no storage"),
    "a storage without a tuple": (Stored("os.system"), "no storage"),  # pyright: ignore[reportArgumentType]
    "a tensor of nothing": (Call(Name("torch._utils", "_rebuild_tensor_v2"), (1, 2, 3)), "calls torch._utils._rebuild"),
    "a tensor with hooks": (
        Call(
            Name("torch._utils", "_rebuild_tensor_v2"),
            (Stored(("storage", FLOATS, "0", "cpu", 1)), 0, (1,), (1,), False, {"hook": 1}),
        ),
        "calls torch._utils._rebuild_tensor_v2",
    ),
    "a shape that is too large": (tensor("0", (2**40,), (1,), count=1), "calls torch._utils._rebuild_tensor_v2"),
    "a negative stride": (tensor("0", (2,), (-1,), count=2), "calls torch._utils._rebuild_tensor_v2"),
    "a shape without strides": (tensor("0", (2, 1), (1,), count=2), "calls torch._utils._rebuild_tensor_v2"),
    "too many axes": (tensor("0", (1,) * 9, (1,) * 9), "calls torch._utils._rebuild_tensor_v2"),
    "a parameter of nothing": (
        Call(Name("torch._utils", "_rebuild_parameter"), (None, True, {})),
        "_rebuild_parameter",
    ),
    "what is not there": (Raw(b"h\x07"), "takes what is not there"),
    "below a mark": (Raw(b"N(\x85"), "takes what is not there"),
    "below the first": (Raw(b"R"), "takes what is not there"),
    "no mark": (Raw(b"Nt"), "takes what is not there"),
    "kept before there is anything": (Raw(b"q\x00N"), "takes what is not there"),
    "a mark is left": (Raw(b"N("), "ends in the middle"),
    "two things are left": (Raw(b"NN"), "ends in the middle"),
}
ODD = {
    "nothing": (b"", "is cut off, or no pickle"),
    "no end": (b"\x80\x02N", "is cut off, or no pickle"),
    "no instruction": (b"\x80\x02\xff.", "is cut off, or no pickle"),
    "no protocol": (b"N.", "does not begin with its protocol"),
    "protocol 0": (pickle.dumps({"a": 1}, protocol=0), "does not begin with its protocol"),
    "protocol 3": (pickle.dumps({"a": 1}, protocol=3), "protocol 3"),
    "protocol 5": (pickle.dumps({"a": 1}, protocol=5), "protocol 5"),
    "protocol 255": (b"\x80\xffN.", "protocol 255"),
    "protocol twice": (b"\x80\x02\x80\x02N.", "begins twice"),
    "something after the end": (pickled(None) + pickled(Call(SYSTEM, (TOUCH,))), "followed by something else"),
    "a number of a million digits": (b"\x80\x02L" + b"9" * 10**6 + b"L\n.", "is cut off, or no pickle"),
    "a number of two gigabytes": (b"\x80\x02\x8b\xff\xff\xff\x7f.", "is cut off, or no pickle"),
    "a text of four gigabytes": (b"\x80\x02X\xff\xff\xff\xffabc.", "is cut off, or no pickle"),
    "a text larger than all memory": (b"\x80\x02\x8d" + struct.pack("<Q", 2**63 - 1) + b"abc.", "is cut off"),
    "a text that is not UTF-8": (b"\x80\x02X\x01\x00\x00\x00\xff.", "is cut off, or no pickle"),
    "a name with a letter that looks like another": (pickled(Name("\u043es", "system")), "is cut off, or no pickle"),
    "a name that does not end": (b"\x80\x02cos.", "is cut off, or no pickle"),
    "too large": (b"\x80\x02" + b"N" * LARGEST_PICKLE + b".", "at most"),
}


@pytest.mark.parametrize("name", WITHOUT_NAMES | WRONG_USE | ODD)
def test_what_torch_does_not_write_is_refused(name: str, tmp_path: Path):
    value, what = (WITHOUT_NAMES | WRONG_USE | ODD)[name]
    assert what in refusal(tmp_path, value if isinstance(value, bytes) else pickled(value))


LEVELS = 100_000


def laughs() -> bytes:
    """Lists of two lists each, forty levels: few bytes that say a million million things."""
    levels = (b"](h%bh%beq%b" % (bytes([k]), bytes([k]), bytes([k + 1])) for k in range(40))
    return b"(]q\x00" + b"".join(levels) + b"t"


DEEP = {
    "lists": b"]" * LEVELS + b"N" + b"a" * LEVELS,
    "tuples": b")" + b"\x85" * LEVELS,
    "marks": b"(" * LEVELS + b"t" * LEVELS,
    "objects": (code(LINEAR) + b"q\x00" + b")\x81q\x01" + b"}q\x02" + code("a") + b"h\x01sb"),
    "a list in itself": b"]q\x00h\x00a",
    "a list of itself, twice": b"]q\x00(h\x00h\x00e",
    "a key": b"})" + b"\x85" * LEVELS + b"Ns",
    "a storage": b")" + b"\x85" * LEVELS + b"Q",
    "what is called": b")" + b"\x85" * LEVELS + b")R",
    "what a tensor is made of": code(Name("torch._utils", "_rebuild_tensor_v2")) + b")" + b"\x85" * LEVELS + b"R",
    "lists of lists, doubled": laughs(),
}


@pytest.mark.parametrize("name", DEEP)
def test_what_nests_deeply_or_in_itself_takes_no_longer_than_its_length(name: str, tmp_path: Path):
    began = time.process_time()
    refusal(tmp_path, b"\x80\x02" + DEEP[name] + b".")
    assert time.process_time() - began < 10


def test_what_would_be_endless_written_out_is_not_written_out(tmp_path: Path):
    assert "depth is a tuple" in refusal(tmp_path, pickled(classifier(parts(5, 2), depth=Raw(laughs()))))


def test_plain_data_are_what_they_say():
    value = {
        "a": [1, -2, 2**40],
        "b": (True, False, None),
        "c": 0.5,
        "d": {},
        "e": "é",
        "f": (1, 2),
        "g": (1,),
        "h": (),
    }
    assert read_tree(pickle.dumps(value, protocol=2), "`x`") == value


@pytest.mark.parametrize("size", range(0, 60, 7))
def test_a_pickle_that_is_cut_off_is_refused(size: int, tmp_path: Path):
    whole = pickled(classifier(parts(5, 2)))
    assert "is cut off" in refusal(tmp_path, whole[: len(whole) * size // 60])
