"""A pickle of a whole torch module, read by an allow list: what it would build, as records, and nothing is run.

A pickle is a program for a small machine with a stack. Here that machine knows the few instructions that torch.save
writes (protocol 2), makes plain dicts, lists, tuples, texts and numbers, and has four functions and a few names of
classes, none of which is the real one: `REDUCE` of `_rebuild_tensor_v2` gives a `Tensor`, which says what numbers are
meant, and `NEWOBJ` of a class an `Instance`, which has its name. Whatever else a pickle names or does is refused, in
one line.

The machine never looks into what it has built, so that it takes as long as the pickle is, however deep that nests.
"""

import re
from collections.abc import Callable, Iterator
from pickletools import genops
from typing import Any, NoReturn

from hardmax._validation import InputError, shorten
from hardmax.paper.authors.archive import WISH
from hardmax.paper.authors.records import Global, Instance, Storage, Tensor

LARGEST_PICKLE = 2**20  # bytes; the authors' has 2,054
MOST_AXES = 8

STORAGES = frozenset({Global("torch", "FloatStorage")})
CLASSIFIER, ATTENTION = Global("utils.models", "TClassifier"), Global("utils.models", "CustomSelfAttention")
OWN = frozenset({CLASSIFIER, ATTENTION})

_LAYER_MODULE, _LAYER = re.compile(r"torch\.nn\.modules\.[a-z]+", re.ASCII), re.compile("[A-Z][A-Za-z0-9]*", re.ASCII)
_KEY = re.compile("[0-9]{1,6}", re.ASCII)

VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
SPOKEN = frozenset({"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"})  # which say their value
EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_tree(data: bytes, name: str) -> Any:
    """What the pickle would build; `name` is the file's, for errors."""
    if len(data) > LARGEST_PICKLE:
        raise InputError(
            f"{name} has a pickle of {len(data):,} bytes, and at most {LARGEST_PICKLE:,} are read: {WISH}."
        )
    machine = _Machine(name)
    for opcode, argument, place in machine.instructions(data):
        machine.obey(opcode, argument, place)
    return machine.built(len(data))


class _Machine:
    def __init__(self, name: str) -> None:
        self.name = name
        self.place = 0  # of the last instruction, in bytes
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks under each mark
        self.memo: dict[int, Any] = {}

    def refuse(self, what: str) -> NoReturn:
        raise InputError(f"{self.name}: its pickle {what}; nothing of it was run. {WISH.capitalize()}.")

    def instructions(self, data: bytes) -> Iterator[tuple[str, Any, int]]:
        """Those of the pickle, up to its end, with what they say and where they stand."""
        try:
            for opcode, argument, place in genops(data):
                yield opcode.name, argument, place or 0
        except Exception:  # pickletools names in many ways what is no opcode, cut off, or not in its form
            self.refuse("is cut off, or no pickle")

    def obey(self, opcode: str, argument: Any, place: int) -> None:
        """Do what one instruction says, if it is one of ours."""
        self.place = place
        if (opcode == "PROTO") != (place == 0):
            self.refuse("does not begin with its protocol" if place == 0 else "begins twice")
        if opcode in VALUES:
            self.stack.append(VALUES[opcode])
        elif opcode in SPOKEN:
            self.stack.append(argument)
        elif opcode in EMPTY:
            self.stack.append(EMPTY[opcode]())
        elif opcode in TUPLES:
            self._tuple(TUPLES[opcode])
        elif opcode in _STEPS:
            _STEPS[opcode](self, argument)
        elif opcode != "STOP":
            self.refuse(f"has the instruction {opcode}")

    def built(self, size: int) -> Any:
        """The one thing that is left when all is done."""
        if self.place != size - 1:
            self.refuse("is followed by something else")
        if self.below or len(self.stack) != 1:
            self.refuse("ends in the middle")
        return self.stack[0]

    # ------------------------------------------------------------ the stack

    def _pop(self) -> Any:
        if not self.stack:
            self.refuse("takes what is not there")
        return self.stack.pop()

    def _top(self, kind: type, what: str) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            self.refuse(f"adds {what} to something else")
        return self.stack[-1]

    def _since_mark(self) -> list[Any]:
        if not self.below:
            self.refuse("takes what is not there")
        above, self.stack = self.stack, self.below.pop()
        return above

    def _proto(self, version: int) -> None:
        if version != 2:
            self.refuse(f"has protocol {version}, and torch.save writes 2")

    def _mark(self, _: None) -> None:
        self.below.append(self.stack)
        self.stack = []

    def _put(self, place: int) -> None:
        if not self.stack:
            self.refuse("takes what is not there")
        self.memo[place] = self.stack[-1]

    def _get(self, place: int) -> None:
        if place not in self.memo:
            self.refuse("takes what is not there")
        self.stack.append(self.memo[place])

    # ------------------------------------------------------------ containers

    def _tuple(self, size: int) -> None:
        self.stack.append(tuple([self._pop() for _ in range(size)][::-1]))

    def _marked_tuple(self, _: None) -> None:
        items = self._since_mark()
        self.stack.append(tuple(items))

    def _append(self, _: None) -> None:
        item = self._pop()
        self._top(list, "an item").append(item)

    def _appends(self, _: None) -> None:
        items = self._since_mark()
        self._top(list, "items").extend(items)

    def _set_item(self, _: None) -> None:
        value, key = self._pop(), self._pop()
        self._set(key, value)

    def _set_items(self, _: None) -> None:
        items = self._since_mark()
        if len(items) % 2:
            self.refuse("has a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._set(key, value)

    def _set(self, key: Any, value: Any) -> None:
        table = self._top(dict, "an entry")
        # Texts alone: to compare other keys would be to look into them, however deep they nest.
        if not isinstance(key, str):
            self.refuse("has a key that is no text")
        if key in table:
            self.refuse(f"has the key {shorten(key)} twice")
        table[key] = value

    # ------------------------------------------------------------ names, and what is done with them

    def _global(self, said: str) -> None:
        module, _, name = said.partition(" ")
        named = Global(module, name)
        if not (named in _CALLS or named in STORAGES or _is_class(named)):
            self.refuse(f"names {shorten(str(named), 80)}")
        self.stack.append(named)

    def _persistent(self, _: None) -> None:
        match self._pop():
            case ("storage", Global() as kind, str(key), str(), count) if (
                kind in STORAGES and _KEY.fullmatch(key) and _is_size(count)
            ):
                self.stack.append(Storage(kind, key, count))
            case _:
                self.refuse("refers to something that is no storage of numbers")

    def _reduce(self, _: None) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(function, Global):
            self.refuse("calls something that has no name")
        made = _CALLS[function](arguments) if function in _CALLS else None
        if made is None:
            self.refuse(f"calls {function} in a way that torch.save does not")
        self.stack.append(made)

    def _new(self, _: None) -> None:
        arguments, named = self._pop(), self._pop()
        if not (isinstance(named, Global) and _is_class(named) and isinstance(arguments, tuple) and not arguments):
            self.refuse("makes an object in a way that torch.save does not")
        self.stack.append(Instance(named))

    def _build(self, _: None) -> None:
        state = self._pop()
        made = self._top(Instance, "attributes")
        if not isinstance(state, dict) or made.state is not None:
            self.refuse("sets attributes in a way that torch.save does not")
        made.state = state


def _dict_of(arguments: Any) -> dict[str, Any] | None:
    return {} if isinstance(arguments, tuple) and not arguments else None


def _set_of(arguments: Any) -> tuple[()] | None:
    match arguments:
        case (list(items),) if not items:
            return ()
    return None


def _tensor_of(arguments: Any) -> Tensor | None:
    match arguments:
        case (Storage() as storage, offset, tuple(shape), tuple(strides), bool(), dict(hooks)) if (
            not hooks and _is_size(offset) and _are_sizes(shape) and _are_sizes(strides) and len(shape) == len(strides)
        ):
            return Tensor(storage, offset, shape, strides)
    return None


def _parameter_of(arguments: Any) -> Tensor | None:
    match arguments:
        case (Tensor() as tensor, bool(), dict(hooks)) if not hooks:
            return tensor
    return None


def _is_class(named: Global) -> bool:
    is_layer = _LAYER_MODULE.fullmatch(named.module) and _LAYER.fullmatch(named.name)
    return named in OWN or is_layer is not None


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _are_sizes(values: tuple[Any, ...]) -> bool:
    return len(values) <= MOST_AXES and all(map(_is_size, values))


# What is called, by its name, and what it would give; None: it is not called with what torch.save gives it.
_CALLS: dict[Global, Callable[[Any], Any]] = {
    Global("collections", "OrderedDict"): _dict_of,
    Global("__builtin__", "set"): _set_of,
    Global("torch._utils", "_rebuild_tensor_v2"): _tensor_of,
    Global("torch._utils", "_rebuild_parameter"): _parameter_of,
}
_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": _Machine._proto,
    "MARK": _Machine._mark,
    "BINPUT": _Machine._put,
    "LONG_BINPUT": _Machine._put,
    "BINGET": _Machine._get,
    "LONG_BINGET": _Machine._get,
    "TUPLE": _Machine._marked_tuple,
    "APPEND": _Machine._append,
    "APPENDS": _Machine._appends,
    "SETITEM": _Machine._set_item,
    "SETITEMS": _Machine._set_items,
    "GLOBAL": _Machine._global,
    "BINPERSID": _Machine._persistent,
    "REDUCE": _Machine._reduce,
    "NEWOBJ": _Machine._new,
    "BUILD": _Machine._build,
}
