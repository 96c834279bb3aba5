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
    digest = hashlib.sha256(canonical(document))
    return canonical(document | {"sha256": digest.hexdigest()})


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
    layer["alpha"] = [layer["alpha"] or "1"]
    cloud["multiplicities"] = told.pop("multiplicities", None)
    document = {"format": "hardmax-limit-certificate", "version": 2}
    document |= {"layer": layer, "cloud": cloud}
    document["attended"] = [{"from": 0, "head": 0, "to": to}]
    document["jumps"] = [[told.pop("proved_at", 0), None, 1]]
    document["settled_at"] = 0
    document["leaders"] = [[i, 0] for i in places]
    document["limits"] = [{"vertex": i} for i in places]
    document["limit_of"] = [*places]
    return signed(document | told)


def small(**changes: Any) -> bytes:
    return certificate([["1"], ["-1"]], **changes)


def line(numbers: Iterable[int | str], **changes: Any) -> bytes:
    """Positive numbers that grow: everybody attends to the last, which leads."""
    points = [[str(number)] for number in numbers]
    last = len(points) - 1
    told: Document = {"leaders": [[last, 0]], "sets": [[last]] * len(points)}
    told["limits"] = [{"vertex": last}] * len(points)
    return certificate(points, **told | changes)


def long_number(seed: int, digits: int = MOST) -> str:
    """Digits without a pattern; the last of them is 1 or 9, so that few such numbers have a factor
    in common."""
    least = 10 ** (digits - 1)
    return str(least + pow(3, 9 * digits + 2 * seed, least))


@cache
def long_counts() -> list[int]:
    return [int(long_number(i)) for i in range(325)]


def endless(n: int = 1, **changes: Any) -> bytes:
    """The numbers from -n to n attend to the other end for ever, and meet in the limit only."""
    numbers = [*range(-n, 0), *range(1, n + 1)]
    told: Document = {"metric": [["-1"]], "alpha": "1/2", "leaders": []}
    told["sets"] = [[2 * n - 1]] * n + [[0]] * n
    told["proved_at"] = 10**18
    return certificate([[str(number)] for number in numbers], **told | changes)


def all_tied(n: int, **changes: Any) -> bytes:
    """With the metric 0 everybody attends to all points for ever."""
    points = [[str(i)] for i in range(n)]
    told: Document = {"metric": [["0"]], "leaders": []}
    told["sets"] = [list(range(n))] * n
    return certificate(points, **told | changes)


def astray() -> bytes:
    """Small positive numbers attend to a negative one far away, which leads: the least score."""
    points = [[str(k)] for k in (-500, *range(1, 12))]
    told: Document = {"sets": [[0]] * 12, "leaders": [[0, 0]]}
    told["limits"] = [{"vertex": 0}] * 12
    return certificate(points, **told)


def circle(n: int) -> list[list[str]]:
    """Points so nearly on a circle that each attends to itself, and none is out of its reach."""
    points = []
    for k in range(n):
        turn = 2 * pi * k / n
        points.append([str(round(10**12 * f(turn))) for f in (cos, sin)])
    return points


def close_behind() -> bytes:
    """Two leaders tie for 79 points; 600 others come closer on the way, without ever being level.
    Not a word is false, except that the last point ends where it does not."""
    leaders = [["200", "200", "0", "0"], ["200", "-200", "0", "0"], ["180", "0", "0", "1200000"]]
    others = [["300", "0", str(-1400 - 20 * k), "200"] for k in range(600)]
    tied = [[str(s), "0", str(s), "0"] for s in range(20, 99)]
    vertices = [0, 1, 2] + [2] * len(others)
    told: Document = {"leaders": [[0, 0], [1, 0], [2, 0]]}
    told["sets"] = [[vertex] for vertex in vertices] + [[0, 1]] * len(tied)
    middle, beside = {"point": ["200", "0", "0", "0"]}, {"point": ["200", "0", "0", "1"]}
    limits = [{"vertex": vertex} for vertex in vertices]
    told["limits"] = [*limits, *[middle] * (len(tied) - 1), beside]
    return certificate(leaders + others + tied, **told)


def many_denominators(d: int) -> list[list[str]]:
    """Entries 1 over whole numbers that differ."""
    return [[f"1/{2**17 + d * i + j}" for j in range(d)] for i in range(d)]


def after(key: str, text: str, document: bytes) -> bytes:
    """A file in which some text stands before a key."""
    mark = f'"{key}":'.encode()
    assert document.count(mark) >= 1
    return document.replace(mark, text.encode() + mark, 1)


def filled(unit: str) -> bytes:
    """As much of something as a file holds, in place of the step."""
    copies = unit * ((LARGEST - 99) // len(unit))
    return f'{{"format":"hardmax-limit-certificate","version":2,"layer":[{copies}0]}}'.encode()


Maker = Callable[[], bytes]
NOTHING: dict[str, Maker] = {
    "a repeated key": lambda: after("alpha", '"alpha":"2",', small()),
    "a key repeated by an escape": lambda: after("alpha", r'"\u0061lpha":"2",', small()),
}
NOTHING["a bracket a million times"] = lambda: b"[" * 10**6
NOTHING["an integer of a million digits"] = lambda: b'{"format":' + b"9" * 10**6 + b"}"
NOTHING["half a character"] = lambda: small()[:-2] + b'\xed\xa0\x80"}'
NOTHING["more than is read"] = lambda: small() + b" " * LARGEST
REFUSED: dict[str, Maker] = {"no points": lambda: certificate([])}
REFUSED["a key with a lone surrogate"] = lambda: small(**{"\udfff": 1})
REFUSED["deep lists"] = lambda: filled("[" * 400 + "]" * 400 + ",")
REFUSED["one float of millions of digits"] = lambda: filled(f"1.{'7' * (LARGEST - 199)},")
REFUSED["everybody attends to the furthest from the middle"] = astray
COSTLY_REFUSED: dict[str, Maker] = {"points that come close": close_behind}
COSTLY_REFUSED["long points"] = lambda: line(map(long_number, range(400)))
ONE_HASH = [SAME_HASH * i for i in range(100_000)]
COSTLY_REFUSED["indices of one hash"] = lambda: small(sets=[ONE_HASH, [0]])
UNDECIDED: dict[str, Maker] = {"layers without end": endless}
UNDECIDED["a number too long for Python"] = lambda: certificate([["9" * 100_000]])
UNDECIDED["a metric over many denominators"] = lambda: certificate(
    [["1"] * 115, ["2"] * 115], metric=many_denominators(115)
)
UNDECIDED["many points on a circle"] = lambda: certificate(circle(40_000))
UNDECIDED["everybody tied, and many"] = lambda: all_tied(300, multiplicities=long_counts()[:300])


def judged(verdict: str, files: dict[str, Maker]) -> dict[str, tuple[str, Maker]]:
    return {name: (verdict, make) for name, make in files.items()}


READ = judged("nothing", NOTHING) | judged("refused", REFUSED)
COSTLY = judged("refused", COSTLY_REFUSED) | judged("undecided", UNDECIDED)
HOSTILE = READ | COSTLY
