"""Everything public, called with wrong arguments: an InputError of one line that names the
argument, and nothing else.

What is of the kind that an argument takes may be taken; what is of no such kind may not.
"""

import random
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from door import calls
from door.bad_values import BAD, kind_of
from effort import THOROUGH

import hardmax as hm
from hardmax._common.validation import MissingExtra

ROOMS = {
    "core": calls.core_calls,
    "results": calls.result_calls,
    "geometry": calls.geometry_calls,
    "clouds": calls.cloud_calls,
    "texts": calls.text_calls,
}
ROOMS |= {"figures": calls.figure_calls, "widget": calls.widget_calls}
NEEDS = {"figures": ("matplotlib",), "widget": ("anywidget",)}
VALUES = {}
for kinds_of_values, values in BAD.items():
    for name, make_value in values.items():
        VALUES[name] = kinds_of_values.split(), make_value
# Arguments that take more than their kind: "call.argument" and values, each with `*` for any.
TAKEN = [
    ("Dynamics.alpha", "list of halves"),  # steps of the first layers
    ("Dynamics.*", "None"),
    ("Dynamics.*", "number as text"),  # a table of one number
    ("Head.*", "None"),
    ("Head.*", "number as text"),
    ("FeedForward.*_bias", "None"),
    ("Localmax.slack", "2^63"),
    ("falsify.tokens", "1"),  # one number that is both ends
    ("falsify.alphas", "ragged"),  # of each the steps of the first layers
    ("parse_decimals.values", "*"),  # numbers of any shape
    ("find_metric.leaders", "set"),
    ("verify.certificate", "*"),  # whatever it is, the answer is that it proves nothing
    ("HardmaxClassifier.alpha", "1"),  # numbers are steps, too
    ("TextModel.layers", "inf"),
    ("TextModel.score_table.table", "lazy frame"),
    ("TextModel.bias", "*2.5"),  # one number for two classes
]
LONGEST_LINE = 400


Case = tuple[str, Callable[..., Any], dict[str, Any], str, str]


def cases(room: str) -> Iterator[Case]:
    """Each call with one wrong argument: all of them where there is time, else some, the same in
    every run."""
    every = []
    for call in ROOMS[room]():
        for argument in call[2]:
            every += [(*call, argument, value) for value in VALUES]
    if not THOROUGH:
        every = random.Random(room).sample(every, min(200, len(every)))
    yield from every


def trouble(
    place: str, call: Callable[..., Any], arguments: dict[str, Any], argument: str, value: str
) -> str | None:
    """What is wrong with the answer to a wrong call; None if it is as it should be."""
    kinds, make = VALUES[value]
    try:
        call(**(arguments | {argument: make()}))
    except hm.InputError as refusal:
        line = str(refusal)
        is_one_line = line.isprintable() and len(line) <= LONGEST_LINE
        if is_one_line and "`" in line and len(line.split()) > 3:
            return None
        return f"is refused with {line[:LONGEST_LINE]!r}"
    except MissingExtra:
        return None
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:200]!r}"
    if kind_of(arguments[argument]) in kinds:
        return None
    for where, what in TAKEN:
        if fnmatchcase(f"{place}.{argument}", where) and fnmatchcase(value, what):
            return None
    return "is taken without a word"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("room", ROOMS)
def test_good_arguments_are_taken_and_wrong_ones_are_refused_in_one_line(room):
    for module in NEEDS.get(room, ()):
        pytest.importorskip(module)
    for _, call, arguments in ROOMS[room]():
        call(**arguments)
    found = []
    for case in cases(room):
        why = trouble(*case)
        if why:
            found.append(f"{case[0]}({case[3]}={case[4]!r}) {why}")
    assert not found, "\n".join(found[:60])
