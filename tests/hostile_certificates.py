"""Files made to keep a checker of certificates busy, to fill its memory, or to slip through it.

Every digest is the right one: only the check itself can stop a file. `HOSTILE` has them by name,
each with the verdict it should get: refused, undecided (the budget ends first), or nothing that
could be checked."""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cache
from math import cos, pi, sin
from typing import Any

Document = dict[str, Any]
MOST = 4300  # digits of a number that Python reads without being asked
SAME_HASH = 2**61 - 1  # integers that differ by multiples of it have the same hash
LARGEST = 2**24  # bytes of a file that is read


def canonical(document: Document) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def signed(document: Document) -> bytes:
    return canonical(document | {"sha256": hashlib.sha256(canonical(document)).hexdigest()})


def certificate(points: list[list[str]], **told: Any) -> bytes:
    """A certificate of the right shape: everybody leads from layer 0 on, says it, but for what is
    told: parts of the layer and the cloud by name, attended `sets`, a limit for each point, and the
    layer `proved_at` which they are."""
    places = range(len(points))
    parts = ("alpha", "metric", "value", "inverse", "mask", "attention", "heads")
    layer = {name: told.pop(name, None) for name in parts}
    cloud = {"points": points, "denominator": told.pop("denominator", "1")}
    sets = told.pop("sets", [[i] for i in places])
    to = [chosen[0] if len(chosen) == 1 else chosen for chosen in sets]
    document = {
        "format": "hardmax-limit-certificate",
        "version": 2,
        "layer": layer | {"alpha": [layer["alpha"] or "1"]},
        "cloud": cloud | {"multiplicities": told.pop("multiplicities", None)},
        "attended": [{"from": 0, "head": 0, "to": to}],
        "jumps": [[told.pop("proved_at", 0), None, 1]],
        "settled_at": 0,
        "leaders": [[i, 0] for i in places],
        "limits": [{"vertex": i} for i in places],
        "limit_of": [*places],
    }
    return signed(document | told)


def small(**changes: Any) -> bytes:
    return certificate([["1"], ["-1"]], **changes)


def line(numbers: Iterable[int | str], **changes: Any) -> bytes:
    """Positive numbers that grow: everybody attends to the last, which leads."""
    points = [[str(number)] for number in numbers]
    last = len(points) - 1
    everybody = {
        "sets": [[last]] * len(points),
        "limits": [{"vertex": last}] * len(points),
    }
    return certificate(points, **everybody | {"leaders": [[last, 0]]} | changes)


def long_number(seed: int, digits: int = MOST) -> str:
    """Digits without a pattern; the last of them is 1 or 9, so that few such numbers have a factor
    in common."""
    return str(10 ** (digits - 1) + pow(3, 9 * digits + 2 * seed, 10 ** (digits - 1)))


@cache
def long_counts() -> list[int]:
    return [int(long_number(i)) for i in range(325)]


def endless(n: int = 1, **changes: Any) -> bytes:
    """The numbers from -n to n attend to the other end for ever, and meet in the limit only."""
    points = [[str(i)] for i in (*range(-n, 0), *range(1, n + 1))]
    sets = [[2 * n - 1]] * n + [[0]] * n
    told = {
        "metric": [["-1"]],
        "alpha": "1/2",
        "sets": sets,
        "leaders": [],
    }
    return certificate(points, **told | {"proved_at": 10**18} | changes)


def all_tied(n: int, **changes: Any) -> bytes:
    """With the metric 0 everybody attends to everybody for ever."""
    points = [[str(i)] for i in range(n)]
    told = {
        "metric": [["0"]],
        "sets": [list(range(n))] * n,
        "leaders": [],
    }
    return certificate(points, **told | changes)


def astray() -> bytes:
    """Small positive numbers attend to a negative one far away, which leads: the least score."""
    points = [["-500"], *([str(k)] for k in range(1, 12))]
    told = {
        "sets": [[0]] * 12,
        "leaders": [[0, 0]],
        "limits": [{"vertex": 0}] * 12,
    }
    return certificate(points, **told)


def circle(n: int) -> list[list[str]]:
    """Points so nearly on a circle that each attends to itself, and none is out of its reach."""
    turns = (2 * pi * k / n for k in range(n))
    return [[str(round(10**12 * f(turn))) for f in (cos, sin)] for turn in turns]


def close_behind() -> bytes:
    """Two leaders tie for 79 points; 600 others come closer on the way, without ever being level.
    Not a word is false, except that the last point ends where it does not."""
    leaders = [["200", "200", "0", "0"], ["200", "-200", "0", "0"], ["180", "0", "0", "1200000"]]
    others = [["300", "0", str(-1400 - 20 * k), "200"] for k in range(600)]
    tied = [[str(s), "0", str(s), "0"] for s in range(20, 99)]
    sets = [[0], [1], [2], *[[2]] * len(others), *[[0, 1]] * len(tied)]
    limits = [{"vertex": v} for v in (0, 1, 2, *[2] * len(others))] + [
        {"point": ["200", "0", "0", "0"]}
    ] * len(tied)
    return certificate(
        leaders + others + tied,
        sets=sets,
        leaders=[[0, 0], [1, 0], [2, 0]],
        limits=[*limits[:-1], {"point": ["200", "0", "0", "1"]}],
    )


def wide(d: int, entry: Callable[[int], str]) -> list[list[str]]:
    return [[entry(d * i + j) for j in range(d)] for i in range(d)]


def after(key: str, text: str, document: bytes) -> bytes:
    """A file in which some text stands before a key."""
    mark = f'"{key}":'.encode()
    assert document.count(mark) >= 1
    return document.replace(mark, text.encode() + mark, 1)


def filled(unit: str) -> bytes:
    """As much of something as a file holds, in place of the step."""
    copies = unit * ((LARGEST - 99) // len(unit))
    return f'{{"format":"hardmax-limit-certificate","version":2,"layer":[{copies}0]}}'.encode()


READ: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a repeated key": ("nothing", lambda: after("alpha", '"alpha":"2",', small())),
    "a key repeated by an escape": (
        "nothing",
        lambda: after("alpha", r'"\u0061lpha":"2",', small()),
    ),
    "a bracket a million times": ("nothing", lambda: b"[" * 10**6),
    "an integer of a million digits": ("nothing", lambda: b'{"format":' + b"9" * 10**6 + b"}"),
    "half a character": ("nothing", lambda: small()[:-2] + b'\xed\xa0\x80"}'),
    "more than is read": ("nothing", lambda: small() + b" " * LARGEST),
    "no points": ("refused", lambda: certificate([])),
    "a key with a lone surrogate": ("refused", lambda: small(**{"\udfff": 1})),
    "deep lists": ("refused", lambda: filled("[" * 400 + "]" * 400 + ",")),
    "one float of millions of digits": (
        "refused",
        lambda: filled("1." + "7" * (LARGEST - 199) + ","),
    ),
    "everybody attends to the furthest from the middle": ("refused", astray),
}
COSTLY: dict[str, tuple[str, Callable[[], bytes]]] = {
    "long points": ("refused", lambda: line(map(long_number, range(400)))),
    "a number too long for Python": ("undecided", lambda: certificate([["9" * 100_000]])),
    "a metric over many denominators": (
        "undecided",
        lambda: certificate(
            [["1"] * 115, ["2"] * 115], metric=wide(115, lambda k: f"1/{2**17 + k}")
        ),
    ),
    "many points on a circle": ("undecided", lambda: certificate(circle(40_000))),
    "indices of one hash": (
        "refused",
        lambda: small(
            sets=[[SAME_HASH * i for i in range(100_000)], [0]],
        ),
    ),
    "layers without end": ("undecided", endless),
    "everybody tied, and many": (
        "undecided",
        lambda: all_tied(300, multiplicities=long_counts()[:300]),
    ),
    "points that come close": ("refused", close_behind),
}
HOSTILE = READ | COSTLY
