"""Check a certificate of an infinite-depth limit: exactly, alone, and within a budget.

Points z_i with multiplicities m_i go from layer to layer by hardmax self-attention with a matrix A and a step alpha:

    z_i  ↦  (z_i + alpha w_i) / (1 + alpha),    w_i = the mean of the points in C_i, counted with multiplicity,
                                                C_i = argmax_j <A z_i, z_j>, the attended set of point i.

A certificate states where every point ends, in five statements, and may have a sixth: how far tokens may be moved. Each
has a function with its proof: `check_shape`, `check_attended`, `is_leader`, `last_for_ever`, `is_limit`,
`check_radius`. Schema and exit codes: docs/certificate.md."""

import hashlib
import json
import re
import sys
from itertools import chain, groupby, pairwise, repeat
from math import gcd, isqrt, lcm
from operator import add, mul, ne
from pathlib import Path
from typing import Any, NamedTuple

WORK, ROOM, FILE_SIZE = 2 * 10**9, 2**28, 2**22  # at effort 1: products of two digits (1 ns), bytes held, bytes read
STEP, DIGIT = 100, 30  # what a product of integers costs beside the products of their digits; the bits of a digit
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
Table = list[list[int]]
# What the values look like as JSON. A number is a text, "p" or "p/q".
INDEX, COUNT, INT, OVER = "(0|[1-9][0-9]*)", "[1-9][0-9]*", "(0|-?[1-9][0-9]*)", "(/([2-9]|[1-9][0-9]+))?"
LIST = r"\[(?>{0})(,(?>{0}))*+\]".format  # of one or more; nothing is tried twice
INDICES, NUMBERS, WEIGHTS = LIST(INDEX), LIST(f'"{INT}{OVER}"'), LIST(f'"{INDEX}{OVER}"')
LIMIT = f'{{("vertex":{INDEX}|"point":{NUMBERS}|"face":{INDICES},"point":{NUMBERS},"weights":{WEIGHTS})}}'
SCHEMA = {"alpha": f'"{COUNT}{OVER}"', "metric": f"null|{LIST(NUMBERS)}", "denominator": f'"{COUNT}"'}
SCHEMA |= {"points": LIST(LIST(f'"{INT}"')), "multiplicities": LIST(COUNT), "settled_at": INDEX, "limits": LIST(LIMIT)}
SCHEMA |= {"attended": LIST(f'{{"from":{INDEX},"sets":{LIST(INDICES)}}}'), "leaders": rf"\[\]|{LIST(INDICES)}"}
OPTIONAL = {"radius": f'"{INDEX}{OVER}"'}


class Verdict(NamedTuple("Verdict", [("accepted", bool), ("reason", str)])):
    """Whether a certificate is accepted, which is also its truth value, and if not, the first false statement.

    Examples
    --------
    >>> verdict = verify({"format": "hardmax-limit-certificate", "version": 2})
    >>> bool(verdict), verdict.reason
    (False, 'version: unknown here')
    """

    def __bool__(self) -> bool:
        return self.accepted

    @property
    def decided(self) -> bool:
        """False if the check was given up for its cost: then the certificate is neither proved nor refuted."""
        return not self.reason.startswith("budget:")


class Stop(Exception):
    """Why a check ends: a statement is false, or the rest would cost too much (`budget: …`)."""


def verify(certificate: dict[str, Any], *, effort: float = 1) -> Verdict:
    """Accept a certificate if all of it is true, refuse it if not, or give up at `effort` times the usual cost."""
    if not (isinstance(effort, int | float) and effort > 0):
        raise ValueError(f"`effort` must be a number above 0, not {effort!r}: 10 allows ten times the usual cost.")
    try:
        Check(certificate, effort).walk()
    except (Stop, MemoryError) as error:
        return Verdict(False, str(error) or "budget: this machine has no memory left")
    except Exception as error:  # whatever broke the check off, nothing is proved
        return Verdict(False, f"shape: not as documented, {error!a:.200}")
    return Verdict(True, f"every point has its limit, settled at layer {certificate['settled_at']}")


def _require(holds: object, reason: str) -> None:
    if not holds:
        raise Stop(f"{reason:.300}")


def check_shape(c: Any) -> None:
    """Statement 1: the certificate is well formed. Texts and lengths are compared, nothing is computed yet."""
    _require(isinstance(c, dict) and isinstance(c.get("format"), str), "shape: not a certificate")
    _require((c["format"], repr(c.get("version"))) == ("hardmax-limit-certificate", "1"), "version: unknown here")
    for key, kind in (SCHEMA | {key: kind for key, kind in OPTIONAL.items() if key in c}).items():
        _require(re.fullmatch(kind, ENCODER.encode(c.get(key))), f"shape: {key} is not as documented")
    rest = ENCODER.encode({key: value for key, value in c.items() if key != "sha256"})
    _require(c.get("sha256") == hashlib.sha256(rest.encode()).hexdigest(), "sha256: not the digest of the rest")
    _require({*c} - {*OPTIONAL} == {*SCHEMA, "format", "version", "sha256"}, "shape: other keys than documented")
    points, metric, entries, ends = c["points"], c["metric"] or [], c["attended"], c["limits"]
    widths = {*map(len, [*points, *metric, metric or points[0], *(end["point"] for end in ends if "point" in end)])}
    lengths = {*map(len, [points, c["multiplicities"], ends, *(entry["sets"] for entry in entries)])}
    _require(len(widths) == len(lengths) == 1, "shape: lists of unequal length")
    _require(len({*map(tuple, points)}) == len(points), "points: not distinct")
    changes = all(one["from"] < two["from"] and one["sets"] != two["sets"] for one, two in pairwise(entries))
    _require(entries[0]["from"] == 0 and changes, "attended: not listed at layer 0 and whenever they change")


class Check:
    """A check of one certificate. The cost of every step is charged before it is done: numbers grow with every layer.

    The points are a table of integers: d lists of numerators, one of denominators, all of them equal, and d lists of A
    times the numerators, up to a factor that changes no comparison. A layer does the same to all of these lists.
    """

    def __init__(self, certificate: Any, effort: float) -> None:
        self.effort, self.work, self.part, self.ahead, self.document = effort, 0, "reading it", 1.0, certificate
        check_shape(certificate)
        numerators = [[self.number(text)[0] for text in column] for column in zip(*certificate["points"], strict=True)]
        metric = [[self.number(text) for text in row] for row in certificate["metric"] or []]
        points, common = [*zip(*numerators, strict=True)], self.common_multiple([q for row in metric for _, q in row])
        self.charge(5 * len(metric) ** 2, [*chain(*metric)], [[common]], held=3 * len(metric) ** 2)
        metric = [[p * (common // q) for p, q in row] for row in metric]
        self.charge(len(metric) * (len(metric) + 9) * len(points), points, metric, held=len(metric) * len(points))
        directions = [[sum(map(mul, line, point)) for point in points] for line in metric]
        self.alpha, (denominator, _) = self.number(certificate["alpha"]), self.number(certificate["denominator"])
        self.z, self.d = [*numerators, [denominator] * len(points), *(directions or numerators)], len(numerators)
        self.radius, self.metric = self.number(certificate.get("radius", "0")), metric

    def charge(self, products: int, some: Any = (), others: Any = (), *, held: int = 0) -> None:
        """Charge for products of integers of some by those of others, and for holding so many at once; or give up."""
        one = two = 1
        if some and others:
            one, two = (1 + max(map(int.bit_length, chain([0], *table))) // DIGIT for table in (some, others))
        self.work += products * (STEP + one * two)
        needed = max(self.work / WORK, held * (36 + 4 * (one + two)) / ROOM)
        if needed > self.effort:
            way = f"verify(..., effort={max(1, 2 * needed * self.ahead):.0f}) or --effort"
            raise Stop(f"budget: {self.part} costs more than effort {self.effort:g} allows; raise it by {way}")

    def number(self, text: str) -> list[int]:
        """Numerator and denominator; in lowest terms, so that equal numbers are equal texts."""
        over, _, under = text.partition("/")
        digits, most = max(len(over), len(under)), sys.get_int_max_str_digits()
        _require(not 0 < most < digits, f"budget: a number of {digits} digits; PYTHONINTMAXSTRDIGITS allows {most}")
        self.charge(50 + digits**2 // 4000)
        _require(not under or gcd(int(over), int(under)) == 1, f"shape: {text} is not in lowest terms")
        return [int(over), int(under or "1")]

    def common_multiple(self, numbers: list[int]) -> int:
        """The least common multiple. It may be as long as all the numbers together."""
        common = 1
        for number, _ in groupby(sorted(numbers)):
            self.charge(8, [[common]], [[number]])
            common = lcm(common, number)
        return common

    def scores(self, x: Table, i: int, y: Table) -> list[int]:
        """<A x_i, y_j> for all j."""
        totals = [0] * len(y[0])
        for numerators, directions in zip(y[: self.d], x[self.d + 1 :], strict=True):
            totals = list(map(add, totals, map(mul, numerators, repeat(directions[i]))))
        return totals

    def means(self, sets: Table, z: Table) -> list[Table]:
        """The points z, and the mean of those in each set, counted with multiplicity; all over one denominator."""
        counts, size = self.document["multiplicities"], len(z) * len(sets)
        self.charge(2 * len(z) * sum(map(len, sets)), z, [counts], held=4 * size)
        totals = [[sum(counts[j] * each[j] for j in several) for several in sets] for each in z]
        common = self.common_multiple(totals[self.d])
        self.charge(8 * size, totals, [[common // z[self.d][0] * max(self.alpha)]], held=9 * size)
        return [[[common // q * p for p, q in zip(each, of[self.d], strict=True)] for each in of] for of in (z, totals)]

    def walk(self) -> None:
        """Statements 2 to 4, layer by layer, from the points on; then who leads; then statement 5."""
        coming, last, sets, leaders = self.document["attended"][::-1], self.document["settled_at"], [], {}
        w, (p, q) = self.z, self.alpha
        pending = [*range(len(self.z[0]))] if self.radius[0] else []
        for layer in range(last + 1):
            self.part, self.ahead = f"layer {layer}", ((min(last, 10**12) + 1) / (layer + 1)) ** 3  # as the work grows
            if layer > 0:
                self.z = [[q * x + p * y for x, y in zip(*each, strict=True)] for each in zip(self.z, w, strict=True)]
            sets = coming.pop()["sets"] if coming and coming[-1]["from"] == layer else sets
            self.check_attended(sets)
            pending = self.check_radius(sets, pending)
            leaders |= {i: layer for i in range(len(sets)) if i not in leaders and self.is_leader(i, sets[i])}
            self.z, w = self.means(sets, self.z)
            found = "last" if self.last_for_ever(sets, w) else "need not last"
            _require((found == "last") == (layer == last), f"settled_at: the sets of layer {layer} {found}")
        _require(not pending, "radius: not all follow leaders in the end")
        _require(not coming, "attended: not listed at layer 0 and whenever they change")
        self.ahead, found = 1.0, ENCODER.encode(sorted(leaders.items()))
        _require(found == ENCODER.encode(self.document["leaders"]), f"leaders: they are {found}")
        for i, limit in enumerate(self.document["limits"]):
            self.part, said = f"the limit of point {i}", ENCODER.encode(limit)
            _require(self.is_limit(w, i, limit, leaders), f"limits: of point {i} it is false that {said}")

    def check_attended(self, sets: Table) -> None:
        """Statement 2: these are the attended sets, by their definition."""
        self.charge(6 * (self.d + 9) * (len(sets) + 9))
        self.charge(len(sets) ** 2 * self.d, self.z, self.z)
        for i, said in enumerate(sets):
            scores = self.scores(self.z, i, self.z)
            best = max(scores)
            attended = [j for j, score in enumerate(scores) if score == best]
            if said != attended:
                raise Stop(f"{self.part}: point {i} attends to {attended!s:.99}, not to {said!s:.99}")

    def check_radius(self, sets: Table, pending: list[int]) -> list[int]:
        """Statement 6: moving every token by at most e, the radius, changes no attended set. Of some points: of those
        that followed no leader at the layer before; returns those that follow none here.

        While the sets are the same, a layer is the same convex combination, so every token is off by at most e. Let i
        attend to c alone, a single token; A is symmetric. The lead of c over j, L = <A z_i, z_c - z_j>, then changes by
        at most e (|A (z_c - z_j)| + 2 |A z_i|) + 2 e^2 |A|; if i is c, or j and no token is repeated, the two terms
        with its move are one. L must be larger than this. |A| is at most d times the largest entry. Who follows a
        leader l does so for ever: a layer later <A z_i, z_j - l> is a mix of what it was, which is negative, and of
        <A z_i, w_j - l>, <A l, z_j - l> and <A l, w_j - l>, none of which is positive."""
        if not pending:
            return []
        counts, (p, q), at = self.document["multiplicities"], self.radius, self.z[self.d][0]
        _require(self.metric == [*map(list, zip(*self.metric, strict=True))], "radius: the metric is not symmetric")
        largest = max((abs(x) for row in self.metric for x in row), default=1)
        self.charge(len(pending) * len(sets) * (9 * self.d + 40), [*self.z, [p * q * p * q]], self.z)
        looks = [*zip(*self.z[self.d + 1 :], strict=True)]
        quadratic, shift = 2 * self.d * largest * (p * at) ** 2, 64
        for i in pending:
            (c, *others), scores = sets[i], self.scores(self.z, i, self.z)
            _require(not others and counts[c] == 1, f"radius: point {i} attends to several tokens, so it is 0")
            for j in (j for j in range(len(sets)) if j != c):
                once = c == i or (j == i and max(counts) == 1)
                more = looks[i] if once and c == i else [-x for x in looks[i]] if once else [0] * self.d
                way = sum((x - y + z) ** 2 for x, y, z in zip(looks[c], looks[j], more, strict=True))
                norms = (
                    isqrt(way << 2 * shift) + 1 + (2 - once) * (isqrt(sum(x * x for x in looks[i]) << 2 * shift) + 1)
                )
                left = ((scores[c] - scores[j]) * q * q - quadratic << shift) - p * q * at * norms
                _require(left > 0, f"radius: not proved at {self.part}, of point {i} over {j}")
        return [i for i in pending if sets[sets[i][0]] != [sets[i][0]]]

    def is_leader(self, i: int, attended: list[int]) -> bool:
        """Statement 3: a point leads from the first layer on at which all that it attends to sit where it sits.
        It never moves again: the others mix their old place, which scores less along A z_i, with places none of which
        scores more. So they score less again, and the attended set stays as it is."""
        return all(each[j] == each[i] for j in attended for each in self.z)

    def last_for_ever(self, sets: Table, w: Table) -> bool:
        """Statement 4: the attended sets are the same at all later layers. Two things are asked.

        (a) Targets stand still: the mean of w over C_i is w_i, as that of z is. So while the sets stay, points go
            straight: k layers later they are at z_i(t) = (1-t) w_i + t z_i with t = 1 / (1 + alpha)^k.
        (b) The sets stay on the way. Take c in C_i; the lead of j over c is <A z_i(t), z_j(t) - z_c(t)>, which is
            b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with b0 = <A w_i, w_j - w_c>, b2 = <A z_i, z_j - z_c> and
            b1 = <A w_i, z_j - z_c> + <A z_i, w_j - w_c>. It must be 0 for all j in C_i, where b2 = 0 is known, and
            negative on 0 < t <= 1 for all others, where b2 < 0 is known. Divide by t^2 and put s = (1-t)/t >= 0:
            b0 s^2 + b1 s + b2 < 0 for all s >= 0 if and only if b0 <= 0, and b1 <= 0 or b1^2 < 4 b0 b2."""
        if ne(*self.means(sets, w)):
            return False
        groups = [[*same] for _, same in groupby(sorted(range(len(sets)), key=sets.__getitem__), sets.__getitem__)]
        self.charge((len(sets) + 2 * len(groups)) * len(sets) * self.d, self.z, w)
        for group in groups:  # those with one attended set have one target
            tied, b0, w_z = sets[group[0]], self.scores(w, group[0], w), self.scores(w, group[0], self.z)
            c = tied[0]
            for i in group:
                b1 = [*map(add, w_z, self.scores(self.z, i, w))]
                if max(b0) > b0[c] or any(b0[j] != b0[c] or b1[j] != b1[c] for j in tied):
                    return False
                for j in (j for j, value in enumerate(b1) if value > b1[c]):
                    self.charge(3 * self.d + 9, [[each[i] for each in self.z]], [[each[j] for each in self.z]])
                    b2 = sum(a[i] * (x[j] - x[c]) for a, x in zip(self.z[self.d + 1 :], self.z, strict=False))
                    if (b1[j] - b1[c]) ** 2 >= 4 * (b0[j] - b0[c]) * b2:
                        return False
        return True

    def is_limit(self, w: Table, i: int, limit: dict[str, Any], leaders: dict[int, int]) -> bool:
        """Statement 5: what is said of w_i is true; and there the point ends, since t tends to 0.
        `vertex`: that leader sits at w_i. `point`: it is w_i. `face`: w_i is the mean of such leaders by the weights,
        which are all that lie furthest along A w_i: so w_i is in the face of the leaders' hull furthest out there."""
        at = [each[i] for each in w]
        if (v := limit.get("vertex")) is not None:
            return v in leaders and at == [each[v] for each in self.z]
        point, weights = ([self.number(text) for text in limit.get(key, [])] for key in ("point", "weights"))
        self.charge(5 * self.d, [at], point)
        true = all(p * at[self.d] == q * x for (p, q), x in zip(point, at[: self.d], strict=True))
        if not true or "face" not in limit:
            return true
        common = self.common_multiple([q for _, q in weights])
        self.charge(self.d * (9 * len(weights) + len(w[0])), self.z, [[common, *at], *weights], held=len(weights))
        scores, parts = self.scores(w, i, self.z), [p * (common // q) for p, q in weights]
        highest = max((scores[v] for v in leaders), default=0)
        face = [v for v in sorted(leaders) if scores[v] == highest]
        mean = [sum(map(mul, parts, (each[v] for v in face))) for each in self.z]
        return limit["face"] == face and len(parts) == len(face) and mean == [common * x for x in at]


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key appears twice: a file is one certificate, not two."""
    _require(len(dict(pairs)) == len(pairs), "a key appears twice in one object")
    return dict(pairs)


if __name__ == "__main__":
    try:
        path, effort = Path(*sys.argv[1:2]), float(*sys.argv[2:3] or [1])
        _require(path.stat().st_size <= FILE_SIZE * max(1, effort), "larger than 4 MB; allow more by FILE EFFORT")
        verdict = verify(json.loads(path.read_bytes(), object_pairs_hook=once), effort=effort)
    except (Stop, OSError, ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable as JSON: {error}")
    print(f"{'accepted' if verdict else 'refused' if verdict.decided else 'undecided'}: {verdict.reason}")
    sys.exit(0 if verdict else 3 if not verdict.decided else 1 + verdict.reason.startswith(("unreadable", "version")))
