"""Check a certificate of an infinite-depth limit: exactly, alone, and within a budget.

Points z_i with multiplicities m_i go from layer to layer by hardmax self-attention with a matrix A
and a step alpha:

    z_i  ↦  (z_i + alpha w_i) / (1 + alpha),    w_i = the mean of the points in C_i, counted with
    multiplicity,
                                                C_i = argmax_j <A z_i, z_j>, the attended set of
                                                point i.

A certificate states where every point ends, in five statements, and may have a sixth: how far
tokens may be moved. Each has a function with its proof: `check_shape`, `check_attended`,
`is_leader`, `stay`, `is_limit`, `check_radius`. Schema and exit codes: docs/certificate.md."""

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from itertools import chain, groupby, pairwise, repeat
from math import comb, gcd, isqrt, lcm
from operator import add, mul
from pathlib import Path
from typing import Any, NamedTuple

WORK, ROOM, FILE_SIZE = (
    2 * 10**9,
    2**28,
    2**22,
)  # at effort 1: products of two digits (1 ns), bytes held, bytes read
STEP, DIGIT = (
    100,
    30,
)  # what a product of integers costs beside the products of their digits; the bits of a digit
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
STRAIGHT = (0, 0), (1, 0), (2, 0)  # terms without C(m, k)
CLOSE = 4096  # bits of a power of g that is written out
Table = list[list[int]]
Place = dict[int, Table]
Key = tuple[int, int, int]
Form = dict[Key, Table]
Sum = dict[int, int]
Lead = dict[tuple[int, int], Sum]
# What the values look like as JSON. A number is a text, "p" or "p/q".
INDEX, COUNT, INT, OVER = (
    "(0|[1-9][0-9]*)",
    "[1-9][0-9]*",
    "(0|-?[1-9][0-9]*)",
    "(/([2-9]|[1-9][0-9]+))?",
)
LIST = r"\[(?>{0})(,(?>{0}))*+\]".format  # of one or more; nothing is tried twice
INDICES, NUMBERS, WEIGHTS = LIST(INDEX), LIST(f'"{INT}{OVER}"'), LIST(f'"{INDEX}{OVER}"')
LIMIT = f'{{("vertex":{INDEX}|"point":{NUMBERS}|"face":{INDICES},"point":{NUMBERS},"weights":{WEIGHTS})}}'
SCHEMA = {
    "alpha": f'"{COUNT}{OVER}"',
    "metric": f"null|{LIST(NUMBERS)}",
    "denominator": f'"{COUNT}"',
}
SCHEMA |= {
    "points": LIST(LIST(f'"{INT}"')),
    "multiplicities": LIST(COUNT),
    "settled_at": INDEX,
    "limits": LIST(LIMIT),
}
SCHEMA |= {
    "attended": LIST(f'{{"from":{INDEX},"sets":{LIST(INDICES)}}}'),
    "leaders": rf"\[\]|{LIST(INDICES)}",
}
OPTIONAL = {"radius": f'"{INDEX}{OVER}"'}


class Verdict(NamedTuple("Verdict", [("accepted", bool), ("reason", str)])):
    """Whether a certificate is accepted, which is also its truth value, and if not, the first false
    statement.

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
        """False if the check was given up for its cost: then the certificate is neither proved nor
        refuted."""
        return not self.reason.startswith("budget:")


class Stop(Exception):
    """Why a check ends: a statement is false, or the rest would cost too much (`budget: …`)."""


def verify(certificate: dict[str, Any], *, effort: float = 1) -> Verdict:
    """Accept a certificate if all of it is true, refuse it if not, or give up at `effort` times the
    usual cost."""
    if not (isinstance(effort, int | float) and effort > 0):
        raise ValueError(
            f"`effort` must be a number above 0, not {effort!r}: 10 allows ten times the usual cost."
        )
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
    """Statement 1: the certificate is well formed. Texts and lengths are compared, nothing is
    computed yet."""
    _require(isinstance(c, dict) and isinstance(c.get("format"), str), "shape: not a certificate")
    _require(
        (c["format"], repr(c.get("version"))) == ("hardmax-limit-certificate", "1"),
        "version: unknown here",
    )
    for key, kind in (SCHEMA | {key: kind for key, kind in OPTIONAL.items() if key in c}).items():
        _require(
            re.fullmatch(kind, ENCODER.encode(c.get(key))), f"shape: {key} is not as documented"
        )
    rest = ENCODER.encode({key: value for key, value in c.items() if key != "sha256"})
    _require(
        c.get("sha256") == hashlib.sha256(rest.encode()).hexdigest(),
        "sha256: not the digest of the rest",
    )
    _require(
        {*c} - {*OPTIONAL} == {*SCHEMA, "format", "version", "sha256"},
        "shape: other keys than documented",
    )
    points, metric, entries, ends = c["points"], c["metric"] or [], c["attended"], c["limits"]
    widths = {
        *map(
            len,
            [
                *points,
                *metric,
                metric or points[0],
                *(end["point"] for end in ends if "point" in end),
            ],
        )
    }
    lengths = {
        *map(len, [points, c["multiplicities"], ends, *(entry["sets"] for entry in entries)])
    }
    _require(len(widths) == len(lengths) == 1, "shape: lists of unequal length")
    _require(len({*map(tuple, points)}) == len(points), "points: not distinct")
    changes = all(
        one["from"] < two["from"] and one["sets"] != two["sets"] for one, two in pairwise(entries)
    )
    _require(
        entries[0]["from"] == 0 and changes,
        "attended: not listed at layer 0 and whenever they change",
    )


class Check:
    """A check of one certificate. The cost of every step is charged before it is done: numbers grow
    with every layer.

    The points are sums of g^e times a table, g = 1 / (1 + alpha), in most cases of g^0 alone. A
    table has d lists of numerators over `self.scale`, and d lists of A times the numerators, up to
    a factor that changes no comparison. A layer does the same to all of these lists."""

    def __init__(self, certificate: Any, effort: float) -> None:
        self.effort, self.work, self.part, self.document = effort, 0, "reading it", certificate
        check_shape(certificate)
        numerators = [
            [self.number(text)[0] for text in column]
            for column in zip(*certificate["points"], strict=True)
        ]
        metric = [[self.number(text) for text in row] for row in certificate["metric"] or []]
        points, common = (
            [*zip(*numerators, strict=True)],
            self.common_multiple([q for row in metric for _, q in row]),
        )
        self.charge(5 * len(metric) ** 2, [*chain(*metric)], [[common]], held=3 * len(metric) ** 2)
        self.metric = metric = [[p * (common // q) for p, q in row] for row in metric]
        self.charge(
            len(metric) * (len(metric) + 9) * len(points),
            points,
            metric,
            held=len(metric) * len(points),
        )
        directions = [[sum(map(mul, line, point)) for point in points] for line in metric]
        self.alpha, (self.scale, _) = (
            self.number(certificate["alpha"]),
            self.number(certificate["denominator"]),
        )
        self.keep = self.alpha[1], sum(self.alpha)  # g, in lowest terms
        self.z, self.d = {0: [*numerators, *(directions or numerators)]}, len(numerators)
        self.radius = self.number(certificate.get("radius", "0"))

    def charge(self, products: int, some: Any = (), others: Any = (), *, held: int = 0) -> None:
        """Charge for products of integers of some by those of others, and for holding so many at
        once; or give up."""
        one = two = 1
        if some and others:
            one, two = (
                1 + max(map(int.bit_length, chain([0], *table))) // DIGIT
                for table in (some, others)
            )
        self.work += products * (STEP + one * two)
        needed = max(self.work / WORK, held * (36 + 4 * (one + two)) / ROOM)
        if needed > self.effort:
            way = f"verify(..., effort={max(1, 2 * needed):.0f}) or --effort"
            raise Stop(
                f"budget: {self.part} costs more than effort {self.effort:g} allows; raise it by {way}"
            )

    def number(self, text: str) -> list[int]:
        """Numerator and denominator; in lowest terms, so that equal numbers are equal texts."""
        over, _, under = text.partition("/")
        digits, most = max(len(over), len(under)), sys.get_int_max_str_digits()
        _require(
            not 0 < most < digits,
            f"budget: a number of {digits} digits; PYTHONINTMAXSTRDIGITS allows {most}",
        )
        self.charge(50 + digits**2 // 4000)
        _require(
            not under or gcd(int(over), int(under)) == 1, f"shape: {text} is not in lowest terms"
        )
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
        for numerators, directions in zip(y[: self.d], x[self.d :], strict=True):
            totals = list(map(add, totals, map(mul, numerators, repeat(directions[i]))))
        return totals

    def sign(self, terms: Sum) -> int:
        """The sign of the sum of c g^e over the items (e, c), without ever writing out a long power
        of g.

        First the terms with the smallest e are put aside if their sum is 0: that of the others
        decides then, however small it is. Let g = p/q. A sum is 0 only if q^(e-f) divides c, (e, c)
        and (f, …) being its last two terms; then c g^e is c p^(e-f) / q^(e-f) g^f. The sum of what
        is left is enclosed ever more closely, until 0 is outside."""
        left, (p, q) = sorted((e, c) for e, c in terms.items() if c), self.keep
        for count in range(len(left), 0, -1):
            (e, c), *before = reversed(left[:count])
            for f, more in before:
                gap = e - f
                self.charge(9, [[c]], [[c]])
                if c and (gap * (q.bit_length() - 1) > c.bit_length() or c % q**gap):
                    break
                e, c = f, more + (c and c // q**gap * p**gap)
            else:
                if c == 0:
                    left = left[count:]
                    break
        bits, low, high = 0, 0, 0
        while left and low <= 0 <= high:
            bits += 64 + bits
            low = high = 0
            for e, c in left:
                ends = [c * end for end in self.power(e - left[0][0], bits)]
                low, high = low + min(ends), high + max(ends)
        return (low > 0) - (high < 0)

    def power(self, exponent: int, bits: int) -> tuple[int, int]:
        """g^exponent times 2^bits, rounded down and up, by squares and products."""
        (p, q), low, high = self.keep, 1 << bits, 1 << bits
        self.charge(4 * exponent.bit_length() + 1, [[low]], [[low, q]])
        for digit in f"{exponent:b}" if exponent else "":
            low, high = low * low >> bits, -(-high * high >> bits)
            if digit == "1":
                low, high = low * p // q, -(-high * p // q)
        return low, high

    def walk(self) -> None:
        """Statements 2 to 4, from the points on, from one change of sets to the next; then who
        leads; then statement 5.

        Nobody becomes a leader on a way in closed form: who leads stands still from then on, with
        all that it attends to, and what stands still in such a form in the end did so from the
        start."""
        entries, last, leaders = self.document["attended"], self.document["settled_at"], {}
        pending, form, scale = [*range(len(entries[0]["sets"]))] if self.radius[0] else [], {}, 1
        for entry, until in zip(
            entries, [*(entry["from"] for entry in entries[1:]), None], strict=True
        ):
            layer, sets = entry["from"], entry["sets"]
            while layer != until:
                self.part = f"layer {layer}"
                self.check_attended(sets)
                pending = self.check_radius(sets, pending)
                leaders |= {
                    i: layer
                    for i in range(len(sets))
                    if i not in leaders and self.is_leader(i, sets[i])
                }
                form, scale = self.closed_form(sets)
                _require(layer <= last - (until is not None), "settled_at: before the last change")
                if until is None:
                    found = "last" if form and self.stay(sets, form) else "need not last"
                    _require(
                        (found == "last") == (layer == last),
                        f"settled_at: the sets of {self.part} {found}",
                    )
                    if layer == last:
                        break
                jump = 1 if until is None or pending or not form else until - layer
                jump = jump if jump > 1 and self.stay(sets, form, jump - 1) else 1
                self.move(sets, form, scale, jump)
                layer += jump
        _require(not pending, "radius: not all follow leaders in the end")
        found = ENCODER.encode(sorted(leaders.items()))
        _require(found == ENCODER.encode(self.document["leaders"]), f"leaders: they are {found}")
        ends = {e: table for (e, r, _), table in form.items() if r == 0}
        for i, limit in enumerate(self.document["limits"]):
            self.part, said = f"the limit of point {i}", ENCODER.encode(limit)
            _require(
                self.is_limit(ends, scale, i, limit, leaders),
                f"limits: of point {i} it is false that {said}",
            )

    def check_attended(self, sets: Table) -> None:
        """Statement 2: these are the attended sets, by their definition."""
        everybody, rows = [*range(len(sets))], [*chain(*self.z.values())]
        self.charge(12 * (self.d + 9) * (len(sets) + 9))
        self.charge(len(self.z) ** 2 * len(sets) ** 2 * self.d, rows, rows)
        for i, said in enumerate(sets):
            attended = self.furthest(self.z, i, everybody)
            if said != attended:
                raise Stop(
                    f"{self.part}: point {i} attends to {attended!s:.99}, not to {said!s:.99}"
                )

    def furthest(self, z: Place, i: int, some: list[int]) -> list[int]:
        """Which of some points lie furthest along A z_i."""
        rows, best = self.rows({(e, 0, 0): x for e, x in z.items()}, i), []
        if len(z) == 1:
            (row,) = rows.values()
            highest = max(map(row.__getitem__, some), default=0)
            return [j for j in some if row[j] == highest]
        for j in some:
            lead = (
                self.sign({e: row[j] - row[best[0]] for (e, _, _), row in rows.items()})
                if best
                else 1
            )
            best = [j] if lead > 0 else best + [j] * (lead == 0)
        return best

    def rows(self, form: Form, i: int) -> dict[Key, list[int]]:
        """The scores <A z_i, z_j> for all j, as a form (see `closed_form`). A set of a out of m
        things and one of b have a union of k things in C(m, k) C(k, a) C(a, k - b) cases, so the
        sum of these over k is C(m, a) C(m, b)."""
        found: dict[Key, list[int]] = {}
        for (e, r, a), x in form.items():
            for (f, s, b), y in form.items():
                scores = self.scores(x, i, y)
                for k in range(max(a, b), a + b + 1):
                    factor, old = comb(k, a) * comb(a, k - b), found.get((e + f, r + s, k))
                    row = scores if factor == 1 else [factor * score for score in scores]
                    found[e + f, r + s, k] = [*map(add, old, row)] if old else row
        return found

    def means(self, sets: Table, z: Place) -> tuple[int, Place]:
        """A factor, and that factor times the mean of the points in each set, counted with
        multiplicity."""
        counts, size = self.document["multiplicities"], 2 * self.d * len(z)
        totals = [sum(counts[j] for j in several) for several in sets]
        common, rows = self.common_multiple(totals), [*chain(*z.values())]
        self.charge(
            size * (2 * sum(map(len, sets)) + 4 * len(sets)),
            rows,
            [[common]],
            held=4 * size * len(sets),
        )
        shares = [
            [counts[j] * (common // total) for j in several]
            for several, total in zip(sets, totals, strict=True)
        ]
        pairs = [*zip(sets, shares, strict=True)]
        means = [
            [sum(share * row[j] for j, share in zip(*pair, strict=True)) for pair in pairs]
            for row in rows
        ]
        return common, {e: means[2 * self.d * k : 2 * self.d * (k + 1)] for k, e in enumerate(z)}

    def mixed(self, *parts: tuple[int, Table]) -> Table:
        """The sum of some tables, each times a factor."""
        factors, tables = zip(*parts, strict=True)
        self.charge(
            4 * len(parts) * len(tables[0]) * len(tables[0][0]), [*chain(*tables)], [factors]
        )
        return [
            [sum(map(mul, factors, each)) for each in zip(*rows, strict=True)]
            for rows in zip(*tables, strict=True)
        ]

    def closed_form(self, sets: Table) -> tuple[Form, int]:
        """Where the points are m layers later, as long as the sets stay: the sum of g^(e + r m)
        C(m, k) T over all ((e, r, k), T), over a denominator. It is empty if there is no such form.

        With M for the mean over the attended set, a layer is z -> g z + (1-g) M z, and m of them
        are the sum over k of C(m, k) g^(m-k) (1-g)^k M^k z, by the binomial theorem. If M w = w for
        w = M^L z, this is w + g^m sum over k < L of C(m, k) alpha^k (M^k z - w), since (1-g) / g =
        alpha."""
        means, scale, (p, q) = [self.z], self.scale, self.alpha
        moving = {*range(len(sets) + 1)}
        while True:
            common, w = self.means(sets, means[-1])
            ways = {e: self.mixed((common, means[-1][e]), (-1, w[e])) for e in w}
            before, moving = (
                moving,
                {i for way in ways.values() for row in way for i, x in enumerate(row) if x},
            )
            if not moving:
                break
            if moving >= before:
                return {}, 1  # attention goes round in circles, or as good as
            means = [*({e: self.mixed((common, z[e])) for e in z} for z in means), w]
            scale *= common
        *means, w = means
        top = q ** max(0, len(means) - 1)
        form = {(e, 0, 0): self.mixed((top, w[e])) for e in w}
        for k, z in enumerate(means):
            factor = p**k * q ** (len(means) - 1 - k)
            form |= {(e, 1, k): self.mixed((factor, z[e]), (-factor, w[e])) for e in w}
        return form, scale * top

    def move(self, sets: Table, form: Form, scale: int, layers: int) -> None:
        """Go so many layers further."""
        (p, q), (g, h) = self.alpha, self.keep
        if layers == 1:
            common, w = self.means(sets, self.z)
            self.z = {e: self.mixed((q * common, z), (p, w[e])) for e, z in self.z.items()}
            self.scale *= h * common
            return
        parts: dict[int, list[tuple[int, Table]]] = {}
        close = layers * h.bit_length() <= CLOSE
        for (e, r, k), table in form.items():
            factor = self.choose(layers, k) * (1 if not close else g**layers if r else h**layers)
            parts.setdefault(e if close else e + r * layers, []).append((factor, table))
        z = {e: self.mixed(*tables) for e, tables in sorted(parts.items())}
        self.z = {e: table for e, table in z.items() if e == 0 or any(map(any, table))}
        self.scale = scale * (h**layers if close else 1)

    def choose(self, m: int, k: int) -> int:
        """C(m, k)."""
        self.charge(k * (1 + k * (m.bit_length() // DIGIT) ** 2))
        return comb(m, k)

    def check_radius(self, sets: Table, pending: list[int]) -> list[int]:
        """Statement 6: moving every token by at most e, the radius, changes no attended set. Of
        some points: of those that followed no leader at the layer before; returns those that follow
        none here.

        While the sets are the same, a layer is the same convex combination, so every token is off
        by at most e. Let i attend to c alone, a single token; A is symmetric. The lead of c over j,
        L = <A z_i, z_c - z_j>, then changes by at most e (|A (z_c - z_j)| + 2 |A z_i|) + 2 e^2 |A|;
        if i is c, or j and no token is repeated, the two terms with its move are one. L must be
        larger than this. |A| is at most d times the largest entry. Who follows a leader l does so
        for ever: a layer later <A z_i, z_j - l> is a mix of what it was, which is negative, and of
        <A z_i, w_j - l>, <A l, z_j - l> and <A l, w_j - l>, none of which is positive."""
        if not pending:
            return []
        counts, (p, q), at, z = self.document["multiplicities"], self.radius, self.scale, self.z[0]
        _require(
            self.metric == [*map(list, zip(*self.metric, strict=True))],
            "radius: the metric is not symmetric",
        )
        largest = max((abs(x) for row in self.metric for x in row), default=1)
        self.charge(len(pending) * len(sets) * (9 * self.d + 40), [*z, [p * q * p * q]], z)
        looks = [*zip(*z[self.d :], strict=True)]
        quadratic, shift = 2 * self.d * largest * (p * at) ** 2, 64
        for i in pending:
            (c, *others), scores = sets[i], self.scores(z, i, z)
            _require(
                not others and counts[c] == 1,
                f"radius: point {i} attends to several tokens, so it is 0",
            )
            for j in (j for j in range(len(sets)) if j != c):
                once = c == i or (j == i and max(counts) == 1)
                more = (
                    looks[i]
                    if once and c == i
                    else [-x for x in looks[i]]
                    if once
                    else [0] * self.d
                )
                way = sum(
                    (x - y + z) ** 2 for x, y, z in zip(looks[c], looks[j], more, strict=True)
                )
                norms = (
                    isqrt(way << 2 * shift)
                    + 1
                    + (2 - once) * (isqrt(sum(x * x for x in looks[i]) << 2 * shift) + 1)
                )
                left = ((scores[c] - scores[j]) * q * q - quadratic << shift) - p * q * at * norms
                _require(left > 0, f"radius: not proved at {self.part}, of point {i} over {j}")
        return [i for i in pending if sets[sets[i][0]] != [sets[i][0]]]

    def is_leader(self, i: int, attended: list[int]) -> bool:
        """Statement 3: a point leads from the first layer on at which all that it attends to sit
        where it sits. It never moves again: the others mix their old place, which scores less along
        A z_i, with places none of which scores more. So they score less again, and the attended set
        stays as it is."""
        return all(self.coincide(self.z, i, j) for j in attended)

    def coincide(self, z: Place, i: int, j: int) -> bool:
        """Whether two points sit at the same place."""
        return i == j or not any(
            self.sign({e: z[e][k][i] - z[e][k][j] for e in z}) for k in range(self.d)
        )

    def stay(self, sets: Table, form: Form, layers: int | None = None) -> bool:
        """Statement 4: the attended sets are the same for so many layers more, or for ever. Ties
        must hold whatever m is, and the leads of others be negative at m = 1, 2, …

        Take c in C_i. The lead of j, <A z_i, z_j - z_c>, is a sum of terms a g^(e + r m) C(m, k).
        If e is always 0, and t = g^m, those without k are b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with b0
        = a0, b1 = a1 + 2 a0, and for b2 the lead now, which is negative. So the lead is negative
        for ever if b0, b1 and all a with k > 0 are 0 or less; if not, it is looked into. Who
        follows a leader does so for ever: see `check_radius`."""
        if not any(r for _, r, _ in form):
            return True  # nobody moves
        asked = [i for i, tied in enumerate(sets) if len(tied) > 1 or sets[tied[0]] != tied]
        tables = [*chain(*form.values())]
        self.charge(len(asked) * len(form) ** 2 * len(sets) * (self.d + 9), tables, tables)
        for i in asked:
            rows, tied, c = self.rows(form, i), sets[i], sets[i][0]
            doubtful = {*range(len(sets))} - {*tied}
            if {*form} <= {(0, r, k) for _, r, k in form}:
                b1 = [x + 2 * y for x, y in zip(rows[0, 1, 0], rows[0, 0, 0], strict=True)]
                tests = [rows[0, 0, 0], b1, *(row for (_, _, k), row in rows.items() if k)]
                doubtful &= {
                    j for row in tests if max(row) > row[c] for j, x in enumerate(row) if x > row[c]
                }
            unlike = {j for j in tied if any(row[j] != row[c] for row in rows.values())}
            for j in [*unlike, *doubtful]:
                lead: Lead = {}
                for (e, r, k), row in rows.items():
                    lead.setdefault((r, k), {})[e] = row[j] - row[c]
                if (
                    any(map(self.sign, lead.values()))
                    if j in unlike
                    else not self.is_negative(lead, layers)
                ):
                    return False
        return True

    def is_negative(self, lead: Lead, layers: int | None) -> bool:
        """Whether a lead that is negative at m = 0 is so at m = 1, …, layers, or for ever: of ever
        smaller ranges.

        From `first` to `last`: put for C(m, k) what it is at the end at which the term is larger.
        This is a polynomial h0 + h1 t + h2 t^2 in t = g^m, negative between two t if it is so at
        both, and h0 + h1 (t + t')/2 + h2 t t' is, too: these are its coefficients in Bernstein's
        form. From `first` on: the term with the smallest r, and among those with the largest k, is
        the largest in the end. If it is negative, the ratio to it of another term changes from m to
        m + 1 by the factor g^s (m + 1 - k0) / (m + 1 - k), which stays at most 1 once it is so. So
        if no positive term gains on it from `first` on, and their sum with it is negative there,
        the lead is so for ever. (Then first >= k0, or the sum would not be negative, and first >=
        k, or the factor would not be at most 1.)

        Points that go straight are seldom that close: with s = (1-t)/t their lead over t^2 is b0
        s^2 + b1 s + b2, which is negative for all s >= 0 if b1^2 < 4 b0 b2, since b2 < 0."""
        signs = {key: self.sign(part) for key, part in lead.items()}
        lead = {key: lead[key] for key in lead if signs[key]}
        positive = [key for key in lead if signs[key] > 0]
        r0, k0 = main = min(lead, key=lambda key: (key[0], -key[1]))
        if not positive or (layers is None and main in positive):
            return not positive
        self.charge(80)
        if {*lead} <= {*STRAIGHT} and all({*part} == {0} for part in lead.values()):
            b0, a1, a2 = (lead.get(key, {0: 0})[0] for key in STRAIGHT)
            if (a1 + 2 * b0) ** 2 < 4 * b0 * (b0 + a1 + a2):
                return True
        (g, h), ranges = self.keep, [(1, layers)]
        while ranges:
            first, last = ranges.pop()
            if last is None:
                falls = all(
                    g ** (r - r0) * (first + 1 - k0) <= h ** (r - r0) * (first + 1 - k)
                    for r, k in positive
                )
                terms = [
                    (e + r * first, c * self.choose(first, k))
                    for r, k in [main, *positive]
                    for e, c in lead[r, k].items()
                ]
                if falls and self.sign(total(terms)) < 0:
                    continue
            else:
                sizes = {
                    (r, k): self.choose(last if (r, k) in positive else first, k) for r, k in lead
                }
                terms = [(r, e, c * sizes[r, k]) for r, k in lead for e, c in lead[r, k].items()]
                shifts = [(0, 0), (first, last), (first + last, first + last)]
                sums = [total((e + r * m, c) for r, e, c in terms) for m in (first, last)]
                sums.append(total((e + shift, c) for r, e, c in terms for shift in shifts[r]))
                if all(self.sign(each) < 0 for each in sums):
                    continue
                if first == last:
                    return False
            middle = 2 * first if last is None else min(2 * first, (first + last) // 2)
            ranges += [(middle + 1, last), (first, middle)]
        return True

    def is_limit(
        self, w: Place, scale: int, i: int, limit: dict[str, Any], leaders: dict[int, int]
    ) -> bool:
        """Statement 5: what is said of w_i is true; and there the point ends, since g^m C(m, k)
        tends to 0. `vertex`: that leader sits at w_i. `point`: it is w_i. `face`: w_i is the mean
        of such leaders by the weights, which are all that lie furthest along A w_i: so w_i is in
        the face of the leaders' hull furthest out there."""
        if (v := limit.get("vertex")) is not None:
            return v in leaders and self.coincide(w, i, v)
        point, weights = (
            [self.number(text) for text in limit.get(key, [])] for key in ("point", "weights")
        )
        rows = [*chain(*w.values())]
        self.charge(5 * self.d, [*rows, [scale]], point)
        ways = (
            total([(0, -p * scale), *((e, q * w[e][k][i]) for e in w)])
            for k, (p, q) in enumerate(point)
        )
        if (false := any(map(self.sign, ways))) or "face" not in limit:
            return not false
        common = self.common_multiple([q for _, q in weights])
        self.charge(
            self.d * (9 * len(weights) + len(rows[0])),
            rows,
            [[common], *weights],
            held=len(weights),
        )
        face, parts = self.furthest(w, i, sorted(leaders)), [p * (common // q) for p, q in weights]
        if limit["face"] != face or len(parts) != len(face) or sum(parts) != common:
            return False
        parts, face = [*parts, -common], [*face, i]
        ways = (
            {e: sum(map(mul, parts, map(w[e][k].__getitem__, face))) for e in w}
            for k in range(self.d)
        )
        return not any(map(self.sign, ways))


def total(terms: Iterable[tuple[int, int]]) -> Sum:
    """The sum of c g^e over some (e, c)."""
    added: Sum = {}
    for e, c in terms:
        added[e] = added.get(e, 0) + c
    return added


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key appears twice: a file is one certificate, not two."""
    _require(len(dict(pairs)) == len(pairs), "a key appears twice in one object")
    return dict(pairs)


if __name__ == "__main__":
    try:
        path, effort = Path(*sys.argv[1:2]), float(*sys.argv[2:3] or [1])
        _require(
            path.stat().st_size <= FILE_SIZE * max(1, effort),
            "larger than 4 MB; allow more by FILE EFFORT",
        )
        verdict = verify(json.loads(path.read_bytes(), object_pairs_hook=once), effort=effort)
    except (Stop, OSError, ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable as JSON: {error}")
    print(
        f"{'accepted' if verdict else 'refused' if verdict.decided else 'undecided'}: {verdict.reason}"
    )
    sys.exit(
        0
        if verdict
        else 3
        if not verdict.decided
        else 1 + verdict.reason.startswith(("unreadable", "version"))
    )
