"""Certificates of every kind of layer, true and forged, before both checkers and an oracle.

python -m soak.certificates                     2,000 problems, 27 forgeries of each certificate
python -m soak.certificates --problems 500 --start 7000 --forged 9

Of each problem in which every part of a layer is combined (`layer_problems`), the limit, if it is
certified, must have a certificate that both checkers accept and that is true. A forged one has a
true digest; whatever a checker accepts must be true, and no two decisions may differ. Exit code 1
if anything is wrong; a run that is interrupted says what it has found."""

import argparse
import json
import random
import subprocess
import sys
import warnings
from collections import Counter
from contextlib import suppress
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
            if problem.dynamics.traits.plain and problem.dynamics.is_definite:
                found.append(dict(lim.prove(radius=True)))
    except (TimeoutError, hm.InputError) as error:
        tally.wrong("certified, but no certificate", (number, error))
        return []
    for document in found:
        if not tally.judge(document, "true", 1) or not hm.verify(document):
            tally.wrong("a true certificate is not accepted", number)
    return found


def forged(document: Document, count: int, rng: random.Random, tally: Tally) -> None:
    """Judge so many copies of a certificate in which anything became anything, once or twice."""
    for k in range(count):
        changed = mutated(document, rng)
        if k % 2:
            changed = mutated(changed, rng)
        accepted = tally.judge(signed(changed), "forged", EFFORT)
        tally.counts["accepted, forged" if accepted else "refused, forged"] += 1


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
