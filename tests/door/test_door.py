"""Everything public, called with wrong arguments: it refuses in one clear line, or is right to take them.

Some hundred calls with every change, all that there are with one wrong argument where there is time.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from door import calls
from door.bad_values import BAD
from door.fine import is_fine
from effort import THOROUGH

import hardmax as hm
from hardmax._validation import MissingExtra

ROOMS: dict[str, Callable[[], Iterator[calls.Call]]] = {
    "dynamics": calls.dynamics_calls,
    "results": calls.result_calls,
    "geometry": calls.geometry_calls,
    "clouds": calls.cloud_calls,
    "texts": calls.text_calls,
    "clustering": calls.clustering_calls,
    "classifier": calls.classifier_calls,
    "figures": calls.figure_calls,
}
NEEDS = {"clustering": ("sklearn",), "classifier": ("sklearn", "torch"), "figures": ("matplotlib",)}
ONES, PAIRS = (3000, 500) if THOROUGH else (150, 50)
LONGEST_LINE = 400
# A certificate may be anything at all: whatever it is, the answer is that it proves nothing.
JUDGED = {"verify.certificate": lambda verdict: not verdict}


class Case(NamedTuple):
    """A call, and the wrong values of one or two of its arguments by name."""

    call: calls.Call
    wrong: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.call.name}({', '.join(f'{argument}={value}' for argument, value in self.wrong)})"


@pytest.fixture(autouse=True, scope="module")
def saved_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("door"))
        calls.a_run().save("saved.npz")
        calls.a_batch().save("saved_batch.npz")
        calls.a_model().save("saved_model")
        yield


def cases(room: str) -> list[Case]:
    """Wrong calls, the same in every run: some with one wrong argument, some with two."""
    for module in NEEDS.get(room, ()):
        pytest.importorskip(module)
    draw = random.Random(room)
    singles = [Case(call, ((argument, value),)) for call in ROOMS[room]() for argument in call.good for value in BAD]
    several = [call for call in ROOMS[room]() if len(call.good) > 1]
    pairs = [_pair(draw.choice(several), draw) for _ in range(PAIRS)]
    return draw.sample(singles, min(ONES, len(singles))) + pairs


def _pair(call: calls.Call, draw: random.Random) -> Case:
    return Case(call, tuple((argument, draw.choice(list(BAD))) for argument in draw.sample(list(call.good), 2)))


def trouble(case: Case) -> str | None:
    """What is wrong with the answer to a wrong call; None if it is as it should be."""
    places = [f"{case.call.name}.{argument}" for argument, _ in case.wrong]
    try:
        answer = case.call(**{argument: BAD[value]() for argument, value in case.wrong})
    except hm.InputError as refusal:
        return None if is_one_line(str(refusal)) else f"says {str(refusal)[:LONGEST_LINE]!r}"
    except MissingExtra:
        return None
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:200]!r}"
    taken = [
        value
        for place, (_, value) in zip(places, case.wrong, strict=True)
        if not is_fine(place, value) and not (place in JUDGED and JUDGED[place](answer))
    ]
    return f"takes {taken} without a word" if taken else None


def is_one_line(message: str) -> bool:
    """Whether it is a line that people can read, and names something."""
    return len(message.split()) > 3 and "`" in message and message.isprintable() and len(message) <= LONGEST_LINE


@pytest.mark.parametrize("room", ROOMS)
def test_good_arguments_are_taken(room: str):
    for module in NEEDS.get(room, ()):
        pytest.importorskip(module)
    for call in ROOMS[room]():
        call()


@pytest.mark.parametrize("room", ROOMS)
def test_wrong_arguments_are_refused_in_one_line(room: str):
    found = {str(case): why for case in cases(room) if (why := trouble(case)) is not None}
    assert not found, "\n".join(itertools.islice((f"{case} {why}" for case, why in found.items()), 30))


@pytest.mark.skipif(not THOROUGH, reason="counts what `make soak` tries")
def test_two_thousand_calls_are_tried():
    assert len({str(case) for room in ROOMS for case in cases(room)}) >= 2000


def test_the_judge_finds_each_kind_of_trouble():
    def refuses_without_a_word(what: object) -> None:
        raise hm.InputError("")

    def told(function: Callable[..., object]) -> str:
        return trouble(Case(calls.Call("call", function, {"what": []}), (("what", "1"),))) or "nothing"

    assert "says" in told(refuses_without_a_word)
    assert "raises TypeError" in told(lambda what: len(what))
    assert "takes ['1']" in told(lambda what: None)
