"""Certificates of every kind of layer, true and forged, before both checkers and an oracle.

python -m soak.certificates                     2,000 problems, 27 forgeries of each certificate
python -m soak.certificates --problems 500 --start 7000 --forged 9

Of each problem in which every part of a layer is combined (`layer_problems`), the limit, if it is
certified, must have a certificate that both checkers accept and that is true. A forged one has a
true digest; whatever a checker accepts must be true, and no two decisions may differ. Exit code 1
if anything is wrong; a run that is interrupted says what it has found."""

import argparse
import copy
import json
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from certificate_truth import is_true, withstands
from layer_problems import SECONDS, draw, limited
from test_certificate import mutated, signed

import hardmax as hm

Document = dict[str, Any]
SCRIPT = Path(__file__).parents[1] / "page" / "verdicts.js"
MOST_LAYERS = 400  # that the oracle walks
MOVES = 4  # of all tokens, within the radius
EFFORT = 0.02  # of the check of a forged certificate


class Page:
    """The page's checker, in node."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["node", SCRIPT], stdin=pipe, stdout=pipe, text=True)

    def verify(self, document: Document) -> dict[str, Any]:
        """Its verdict: accepted, decided, reason."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(document) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Tally:
    """What was counted, and what was wrong."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.page = Page()

    def wrong(self, what: str, about: object) -> None:
        """Count and print a wrong answer."""
        self.counts[f"WRONG: {what}"] += 1
        print(f"{what}: {about!s:.3000}", file=sys.stderr, flush=True)

    def judge(self, document: Document, name: str, effort: float) -> bool:
        """Whether any checker accepts a certificate. Then it must be true."""
        here, there = hm.verify(document, effort=effort), self.page.verify(document)
        if here.decided and there["decided"]:
            if here.accepted != there["accepted"]:
                self.wrong("disagreement", (name, here.reason, there["reason"], document))
        else:
            self.counts[f"undecided, {name}"] += 1
        if not (here.accepted or there["accepted"]):
            return False
        copies = max(document["cloud"]["multiplicities"] or [1])
        if document["jumps"][-1][0] > MOST_LAYERS or copies > 99:
            self.counts[f"too late for the oracle, {name}"] += 1
            return True
        moves = MOVES if "radius" in document else 0
        holds = is_true(document)
        holds = holds and all(withstands(document, random.Random(k)) for k in range(moves))
        if not holds:
            self.wrong("false, but accepted", (name, document))
        return True


def certified(number: int, tally: Tally) -> list[Document]:
    """The certificates of a problem: without and, in the paper's layer, with a radius."""
    problem = draw(number)
    try:
        with limited(SECONDS):
            lim = hm.limit(problem.cloud, problem.dynamics, max_layers=problem.max_layers)
            kind = f"{'' if lim.certified else 'not '}certified"
            tally.counts[kind] += 1
            if not lim.certified:
                return []
            found = [dict(lim.prove())]
            if problem.dynamics.is_plain and problem.dynamics.is_definite:
                found.append(dict(lim.prove(radius=True)))
    except (TimeoutError, hm.InputError) as error:
        tally.wrong("certified, but no certificate", (number, error))
        return []
    for document in found:
        if not tally.judge(document, "true", 1) or not hm.verify(document):
            tally.wrong("a true certificate is not accepted", number)
    return found


# Forgeries. Each changes one statement, and what has to fit to it for the shape to be right.


def forge_cloud(document: Document, rng: random.Random) -> None:
    """A coordinate is another."""
    row = rng.choice(document["cloud"]["points"])
    k = rng.randrange(len(row))
    row[k] = str(int(row[k]) + rng.choice([-1, 1]))


def forge_set(document: Document, rng: random.Random) -> None:
    """A point attends to one more, one less, or another."""
    n, to = len(document["limit_of"]), rng.choice(document["attended"])["to"]
    k, j = rng.randrange(len(to)), rng.randrange(n)
    old = {*to[k]} if isinstance(to[k], list) else {to[k]}
    new = sorted(rng.choice([old ^ {j}, {j}, old | {j}]))
    to[k] = new if len(new) > 1 else (new or [j])[0]


def forge_entries(document: Document, rng: random.Random) -> None:
    """The last change is left out, or one layer off."""
    entries = document["attended"]
    if len(entries) > 1 and rng.random() < 0.5:
        entries.pop()
    else:
        entries[-1]["from"] += rng.choice([-1, 1])
    document["settled_at"] = entries[-1]["from"]
    document["jumps"][-1][0] = max(document["jumps"][-1][0] + rng.choice([-1, 0]), 0)


def forge_jump(document: Document, rng: random.Random) -> None:
    """A jump is earlier, later or of another length."""
    jump = rng.choice(document["jumps"])
    k = rng.choice([k for k, value in enumerate(jump) if value is not None])
    jump[k] = max(0, jump[k] + rng.choice([-2, -1, 1, 2]))


def forge_leaders(document: Document, rng: random.Random) -> None:
    """Somebody leads too, leads not, or leads from another layer on."""
    leaders = document["leaders"]
    i = rng.randrange(len(document["limit_of"]))
    others = [pair for pair in leaders if pair[0] != i]
    since = dict(leaders).get(i)
    if since is None or rng.random() < 0.5:
        others.append([i, max(0, (since or 0) + rng.choice([-1, 1]))])
    document["leaders"] = sorted(others)


def forge_limits(document: Document, rng: random.Random) -> None:
    """A point has another limit, or the limit is another."""
    limits, limit_of = document["limits"], document["limit_of"]
    if rng.random() < 0.5:
        limit_of[rng.randrange(len(limit_of))] = rng.randrange(len(limits))
        return
    limit = rng.choice(limits)
    if "vertex" in limit:
        limit["vertex"] = rng.randrange(len(limit_of))
        return
    numbers = limit[rng.choice([*{*limit} - {"face"}])]
    numbers[rng.randrange(len(numbers))] = rng.choice(["0", "1", "1/2", "1/3", numbers[0]])


def forge_layer(document: Document, rng: random.Random) -> None:
    """The layer is another."""
    layer = document["layer"]
    name = rng.choice([name for name, part in layer.items() if part])
    part = layer[name]
    if name == "attention":
        ((kind, number),) = part.items()
        other = max(0, int(number) + rng.choice([-1, 1]))
        part[kind] = max(1, other) if kind == "topk" else str(other)
    elif name == "mask":
        rows = [*part] if isinstance(part, list) else []
        i = rng.randrange(len(document["limit_of"]))
        if rows:
            k = rng.randrange(len(rows))
            rows[i] = rows[i][:k] + str(1 - int(rows[i][k])) + rows[i][k + 1 :]
        layer["mask"] = rows or None
    else:
        matrices = [head for head in part if head["metric"]] if name == "heads" else [part]
        place: Any = rng.choice(matrices or [part])
        if isinstance(place, dict) and "metric" in place:
            place = place["metric"]
        while isinstance(place[0], list):
            place = rng.choice(place)
        if isinstance(place[0], str):
            place[rng.randrange(len(place))] = rng.choice(["1/2", "1", "2", "3/4"])
        else:
            place[0]["weight"] = "5"


def forge_radius(document: Document, rng: random.Random) -> None:
    """The radius is larger, or there is one."""
    old = Fraction(document.get("radius", "0")) or Fraction(1, 1000)
    document["radius"] = str(old * rng.choice([Fraction(101, 100), Fraction(5, 4), 2, 9]))


def forge_all(document: Document, rng: random.Random) -> None:
    """Anything becomes anything, once or twice."""
    for _ in range(rng.choice([1, 2])):
        document |= mutated(document, rng)


FORGERIES: list[Callable[[Document, random.Random], None]] = [
    forge_cloud, forge_set, forge_entries, forge_jump, forge_leaders, forge_limits, forge_layer,
    forge_radius, forge_all,
]  # fmt: skip


def forged(document: Document, count: int, rng: random.Random, tally: Tally) -> None:
    """Judge so many forgeries of a certificate."""
    for forge in islice(cycle(FORGERIES), count):
        changed = copy.deepcopy(document)
        forge(changed, rng)
        if changed != document:
            accepted = tally.judge(signed(changed), forge.__name__, EFFORT)
            tally.counts[f"{'accepted' if accepted else 'refused'}, {forge.__name__}"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="soak.certificates", description="Certificates, true and forged."
    )
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--forged", type=int, default=27, help="of each certificate")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # metrics to which the theorem does not apply
    tally = Tally()
    with suppress(KeyboardInterrupt):
        for number in range(asked.start, asked.start + asked.problems):
            for document in certified(number, tally):
                forged(document, asked.forged, random.Random(number), tally)
            if number % 50 == 49:
                print(number + 1, dict(tally.counts), file=sys.stderr, flush=True)
    for name, count in sorted(tally.counts.items()):
        print(f"{count:>8,} {name}")
    return int(any(name.startswith("WRONG") for name in tally.counts))


if __name__ == "__main__":
    sys.exit(main())
