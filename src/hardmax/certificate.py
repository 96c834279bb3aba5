"""Check a certificate of an infinite-depth limit, exactly and alone. Schema, proof, exit codes: docs/certificate.md.

A layer takes z_i to (z_i + alpha w_i) / (1 + alpha), w_i the mean of the attended set C_i = argmax_j <A z_i, z_j>."""

import hashlib
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from operator import add, mul, sub
from pathlib import Path
from typing import Any, NamedTuple

FILE_SIZE, WORK = 256 * 2**20, 10**16  # no larger file is read, no longer walk is walked (minutes, for a few points)
as_text = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode  # texts tell 1 from True, Python does not


class Verdict(NamedTuple("Verdict", [("accepted", bool), ("reason", str)])):
    """Whether a certificate is accepted, which is also its truth value, and if not, the first false statement."""

    def __bool__(self) -> bool:
        return self.accepted


def verify(certificate: dict[str, Any]) -> Verdict:
    """Accept a certificate if every statement in it is true, refuse it at the first that is not. Never raises."""
    try:
        false = next((reason for holds, reason in _statements(json.loads(as_text(certificate))) if not holds), "")
    except Exception as error:  # whatever broke the check off, nothing is proved
        false = f"shape: not as documented, {error!a}"
    return Verdict(not false, false or f"every point has its limit, settled at layer {certificate['settled_at']}")


def _statements(c: Any) -> Iterator[tuple[bool, str]]:
    def along(x: list[int], rows: list[list[int]]) -> list[int]:
        return [sum(map(mul, x[d + 1 :], row)) for row in rows]

    # 1. The certificate is well formed. Numbers are read, and must look the same when written again.
    yield c.get("format") == "hardmax-limit-certificate" and as_text(c.get("version")) == "1", "version: unknown here"
    yield c.pop("sha256", 0) == hashlib.sha256(as_text(c).encode()).hexdigest(), "sha256: not the digest of the rest"
    n, d, m, last = len(c["points"]), len(c["points"][0]), c["multiplicities"], c["settled_at"]
    metric = [[str(int(i == j)) for i in range(d)] for j in range(d)] if c["metric"] is None else c["metric"]
    table = [[c["alpha"]], [c["denominator"]], *c["points"], *metric]
    rows = [[Fraction(*map(int, text.split("/"))) for text in row] for row in table]
    [[alpha], [over], *points], a = rows[: n + 2], rows[n + 2 :]
    yield len(c) == 11 and [[str(x) for x in row] for row in rows] == table, "shape: other keys, or unreduced numbers"
    yield {*map(len, [*points, *a, a])} == {d} and n == len(m) == len(c["limits"]), "shape: lists of unequal length"
    yield "/" not in as_text(table[1 : n + 2]) and len({*map(tuple, points)}) == n, "points: not whole, or not distinct"
    yield {*map(type, [last, *m])} == {int} and min(alpha, over, last + 1, *m) > 0, "alpha or a count: not positive"
    # From here on a row holds z_i, the denominator, and A z_i up to a factor: layers do the same to all three.
    scale = lcm(*(x.denominator for row in a for x in row))
    z = w = [[*map(int, row), int(over), *(int(scale * sum(map(mul, line, row))) for line in a)] for row in points]
    attended, since, said, listed = [], {}, [], {entry["from"]: entry["sets"] for entry in c["attended"]}
    for layer in range(last + 1):
        z = [[alpha.denominator * x + alpha.numerator * y for x, y in zip(z[i], w[i], strict=True)] for i in range(n)]
        yield layer * n * n * d * z[0][d].bit_length() ** 2 < WORK, f"layer {layer}: too much work to go on"
        # 2. The attended sets are the listed ones.  3. Leaders attend to their own place alone.
        said, scores = listed.get(layer, said), (along(x, z) for x in z)
        sets = [[j for j, score in enumerate(row) if score == best] for row in scores for best in [max(row)]]
        for i in range(n):
            yield said[i] == sets[i], f"layer {layer}: point {i} attends to {sets[i]}, not to {said[i]!a}"
        attended += [] if attended and attended[-1]["sets"] == sets else [{"from": layer, "sets": sets}]
        since = {i: since.get(i, layer) for i in range(n) if i in since or all(z[j] == z[i] for j in sets[i])}
        # 4. From settled_at on, not before, they last: targets stand still, and nobody overtakes on the way there.
        total = [[sum(m[j] * z[j][k] for j in several) for k in range(2 * d + 1)] for several in sets]
        common = lcm(*(row[d] for row in total))
        z, w = ([[common // row[d] * x for x in row] for row in rows] for rows in (z, total))
        lasts = not any(sum(m[j] * (w[j][k] - z[j][k]) for j in several) for several in sets for k in range(d))
        for i, tied in enumerate(sets if lasts else []):
            curves = [*zip(along(w[i], w), map(add, along(w[i], z), along(z[i], w)), along(z[i], z), strict=True)]
            for j, curve in enumerate(curves):
                b0, b1, b2 = map(sub, curve, curves[tied[0]])  # j's lead is b0 (1-t)^2 + b1 t(1-t) + b2 t^2
                lasts &= b0 == b1 == 0 if j in tied else b0 <= 0 and (b1 <= 0 or b1 * b1 < 4 * b0 * b2)
        yield lasts == (layer == last), f"settled_at: the sets of layer {layer} {'last' if lasts else 'need not last'}"
    yield as_text(attended) == as_text(c["attended"]), "attended: not listed at layer 0 and whenever they change"
    yield as_text([*since.items()]) == as_text(c["leaders"]), f"leaders: they are {as_text([*since.items()])}"
    # 5. The limits are the targets, and a face has all leaders that lie furthest along A times the limit.
    for i, (claim, end) in enumerate(zip(c["limits"], w, strict=True)):
        heights = along(end, [z[v] for v in since])
        face = [v for v, height in zip(since, heights, strict=True) if height == max(heights)]
        weights = [Fraction(*map(int, text.split("/"))) for text in claim.get("weights", [])]
        mean = [sum(map(mul, weights, column)) for column in zip(*(z[v] for v in face), strict=True)]
        point = [str(Fraction(x, end[d])) for x in end[:d]] if "point" in claim else []
        true = [{"point": point}, *({"vertex": v} for v in since if z[v] == end)]
        if len(weights) == len(face) and mean == end and min(weights) >= 0:
            true.append({"face": face, "weights": [str(x) for x in weights], "point": point})
        yield as_text(claim) in map(as_text, true), f"limits: of point {i} it is false that {as_text(claim)}"


if __name__ == "__main__":
    try:
        if Path(*sys.argv[1:]).stat().st_size > FILE_SIZE:
            raise ValueError("larger than 256 MB")
        verdict = verify(json.loads(Path(*sys.argv[1:]).read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable as JSON: {error}")
    print(f"{'accepted' if verdict else 'refused'}: {verdict.reason}")
    sys.exit(0 if verdict else 2 if verdict.reason.startswith(("unreadable", "version")) else 1)
