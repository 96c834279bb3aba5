"""Check a certificate of an infinite-depth limit: exactly, alone, and within a budget.

Points z_i with multiplicities m_i go from layer to layer by hardmax self-attention with a matrix A
and a step alpha:

    z_i  ↦  (z_i + alpha w_i) / (1 + alpha),

where w_i is the mean, counted with multiplicity, of the points in the attended set C_i of point i,
which are those with the largest score <A z_i, z_j>. Let g = 1 / (1 + alpha), the contraction.

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

# What a check may cost at effort 1.
WORK = 2 * 10**9  # products of two digits, some 1 ns each
ROOM = 2**28  # bytes held
FILE_SIZE = 2**22  # bytes read
STEP = 100  # what a product of integers costs beside the products of their digits
DIGIT = 30  # bits of a digit

CLOSE = 4096  # bits of a power of g that is written out
SHIFT = 64  # bits behind the point of a length
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

Table = list[list[int]]
"""Lists of integers: one for each coordinate, with an entry for each point."""
PowerSum = dict[int, Table]
"""A sum of g^e times a table, by e."""
Term = tuple[int, int, int]
"""(e, r, k) stands for g^(e + r m) C(m, k), m layers from now."""
ClosedForm = dict[Term, Table]
"""A sum of terms times tables."""
Sum = dict[int, int]
"""A sum of c g^e, by e."""
Lead = dict[tuple[int, int], Sum]
"""A sum of c g^(e + r m) C(m, k), by (r, k) and e."""

STRAIGHT = (0, 0), (1, 0), (2, 0)  # the (r, k) of leads of points that go straight

# What the values look like as JSON. A number is a text, "p" or "p/q".
INDEX = "(0|[1-9][0-9]*)"
COUNT = "[1-9][0-9]*"
INT = "(0|-?[1-9][0-9]*)"
OVER = "(/([2-9]|[1-9][0-9]+))?"
LIST = r"\[(?>{0})(,(?>{0}))*+\]".format  # of one or more; nothing is tried twice
INDICES = LIST(INDEX)
NUMBERS = LIST(f'"{INT}{OVER}"')
WEIGHTS = LIST(f'"{INDEX}{OVER}"')
FACE = f'"face":{INDICES},"point":{NUMBERS},"weights":{WEIGHTS}'
SCHEMA = {
    "alpha": f'"{COUNT}{OVER}"',
    "metric": f"null|{LIST(NUMBERS)}",
    "denominator": f'"{COUNT}"',
    "points": LIST(LIST(f'"{INT}"')),
    "multiplicities": LIST(COUNT),
    "settled_at": INDEX,
    "limits": LIST(f'{{("vertex":{INDEX}|"point":{NUMBERS}|{FACE})}}'),
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
        wish = "`effort` must be a number above 0"
        raise ValueError(f"{wish}, not {effort!r}: 10 allows ten times the usual cost.")
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


def check_shape(certificate: Any) -> None:
    """Statement 1: the certificate is well formed. Texts and lengths are compared, nothing is
    computed yet."""
    is_object = isinstance(certificate, dict) and isinstance(certificate.get("format"), str)
    _require(is_object, "shape: not a certificate")
    is_known = certificate["format"] == "hardmax-limit-certificate"
    _require(is_known and repr(certificate.get("version")) == "1", "version: unknown here")
    optional = {key: kind for key, kind in OPTIONAL.items() if key in certificate}
    for key, kind in (SCHEMA | optional).items():
        text = ENCODER.encode(certificate.get(key))
        _require(re.fullmatch(kind, text), f"shape: {key} is not as documented")
    rest = ENCODER.encode({key: certificate[key] for key in certificate if key != "sha256"})
    digest = hashlib.sha256(rest.encode()).hexdigest()
    _require(certificate.get("sha256") == digest, "sha256: not the digest of the rest")
    documented = {*SCHEMA, *optional, "format", "version", "sha256"}
    _require({*certificate} == documented, "shape: other keys than documented")

    points, metric = certificate["points"], certificate["metric"] or []
    limits, entries = certificate["limits"], certificate["attended"]
    ends = [limit["point"] for limit in limits if "point" in limit]
    check_lengths(len(points[0]), *points, *metric, metric or points[0], *ends)
    sets = [entry["sets"] for entry in entries]
    check_lengths(len(points), certificate["multiplicities"], limits, *sets)
    _require(len({*map(tuple, points)}) == len(points), "points: not distinct")
    in_order = entries[0]["from"] == 0
    for entry, later in pairwise(entries):
        in_order &= entry["from"] < later["from"] and entry["sets"] != later["sets"]
    _require(in_order, "attended: not listed at layer 0 and whenever they change")


def check_lengths(expected: int, *lists: list[Any]) -> None:
    """All these lists have the length that is expected."""
    _require({*map(len, lists)} == {expected}, "shape: lists of unequal length")


class Check:
    """A check of one certificate. The cost of every step is charged before it is done: numbers grow
    with every layer.

    The points are sums of g^e times a table, in most cases of g^0 alone. A table has d lists of
    numerators over `self.scale`, and d lists of A times the numerators, up to a factor that changes
    no comparison. A layer does the same to all of these lists."""

    def __init__(self, certificate: Any, effort: float) -> None:
        self.effort, self.work = effort, 0
        self.part = "reading it"  # what is being done, for messages
        self.document = certificate
        check_shape(certificate)
        columns = zip(*certificate["points"], strict=True)
        numerators = [[self.number(text)[0] for text in column] for column in columns]
        self.metric = self.read_metric(certificate["metric"] or [])
        points = [*zip(*numerators, strict=True)]
        entries = len(self.metric) * len(points)
        self.charge(entries * (len(self.metric) + 9), points, self.metric, held=entries)
        directions = [[sum(map(mul, row, point)) for point in points] for row in self.metric]
        self.alpha = self.number(certificate["alpha"])
        self.scale, _ = self.number(certificate["denominator"])
        self.contraction = self.alpha[1], sum(self.alpha)  # g, in lowest terms
        self.z: PowerSum = {0: [*numerators, *(directions or numerators)]}
        self.d = len(numerators)
        self.radius = self.number(certificate.get("radius", "0"))

    def charge(self, products: int, left: Any = (), right: Any = (), *, held: int = 0) -> None:
        """Charge for products of an integer of one table by one of another, and for holding so many
        at once; or give up."""
        digits, more_digits = 1, 1
        if left and right:
            digits, more_digits = (
                1 + max(map(int.bit_length, chain([0], *table))) // DIGIT for table in (left, right)
            )
        self.work += products * (STEP + digits * more_digits)
        memory = held * (36 + 4 * (digits + more_digits))
        needed = max(self.work / WORK, memory / ROOM)
        if needed > self.effort:
            way = f"verify(..., effort={max(1, 2 * needed):.0f}) or --effort"
            allowed = f"costs more than effort {self.effort:g} allows"
            raise Stop(f"budget: {self.part} {allowed}; raise it by {way}")

    def number(self, text: str) -> list[int]:
        """Numerator and denominator; in lowest terms, so that equal numbers are equal texts."""
        over, _, under = text.partition("/")
        digits, most = max(len(over), len(under)), sys.get_int_max_str_digits()
        is_short = most == 0 or digits <= most
        _require(
            is_short, f"budget: a number of {digits} digits; PYTHONINTMAXSTRDIGITS allows {most}"
        )
        self.charge(50 + digits**2 // 4000)
        is_reduced = not under or gcd(int(over), int(under)) == 1
        _require(is_reduced, f"shape: {text} is not in lowest terms")
        return [int(over), int(under or "1")]

    def read_metric(self, rows: list[list[str]]) -> Table:
        """A times the common denominator of its entries."""
        metric = [[self.number(text) for text in row] for row in rows]
        common, size = self.common_multiple([q for row in metric for _, q in row]), len(rows) ** 2
        self.charge(5 * size, [*chain(*metric)], [[common]], held=3 * size)
        return [[p * (common // q) for p, q in row] for row in metric]

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
            products = map(mul, numerators, repeat(directions[i]))
            totals = list(map(add, totals, products))
        return totals

    def sign(self, terms: Sum) -> int:
        """The sign of the sum of c g^e over the items (e, c), without ever writing out a long power
        of g.

        First the terms with the smallest e are put aside if their sum is 0: that of the others
        decides then, however small it is. The sum of what is left is enclosed ever more closely,
        until 0 is outside."""
        left = sorted((e, c) for e, c in terms.items() if c)
        for count in range(len(left), 0, -1):
            if self.is_zero(left[:count]):
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

    def is_zero(self, terms: list[tuple[int, int]]) -> bool:
        """Whether the sum of c g^e over some (e, c), e increasing, is 0. Let g = p/q. It is 0 only
        if q^(e-f) divides c, (e, c) and (f, …) being its last two terms; then c g^e is c p^(e-f) /
        q^(e-f) g^f, and both are one term."""
        (p, q), (e, c) = self.contraction, terms[-1]
        for f, more in reversed(terms[:-1]):
            gap = e - f
            self.charge(9, [[c]], [[c]])
            if c:
                is_too_short = gap * (q.bit_length() - 1) > c.bit_length()
                if is_too_short or c % q**gap:
                    return False
                c = c // q**gap * p**gap
            e, c = f, more + c
        return c == 0

    def power(self, exponent: int, bits: int) -> tuple[int, int]:
        """g^exponent times 2^bits, rounded down and up, by squares and products."""
        p, q = self.contraction
        low = high = 1 << bits
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
        entries, last = self.document["attended"], self.document["settled_at"]
        changes = [entry["from"] for entry in entries]
        leaders: dict[int, int] = {}
        pending = [*range(len(entries[0]["sets"]))] if self.radius[0] else []
        form, scale = {}, 1
        for entry, until in zip(entries, [*changes[1:], None], strict=True):
            layer, sets = entry["from"], entry["sets"]
            while layer != until:
                self.part = f"layer {layer}"
                self.check_attended(sets)
                pending = self.check_radius(sets, pending)
                for i, attended in enumerate(sets):
                    if i not in leaders and self.is_leader(i, attended):
                        leaders[i] = layer
                form, scale = self.closed_form(sets)
                latest = last if until is None else last - 1
                _require(layer <= latest, "settled_at: before the last change")
                if until is None:
                    self.check_settled(sets, form, layer)
                    if layer == last:
                        break
                jump = 1
                if until is not None and form and not pending:
                    jump = until - layer
                if jump > 1 and not self.stay(sets, form, jump - 1):
                    jump = 1
                self.move(sets, form, scale, jump)
                layer += jump
        _require(not pending, "radius: not all follow leaders in the end")
        found = ENCODER.encode(sorted(leaders.items()))
        _require(found == ENCODER.encode(self.document["leaders"]), f"leaders: they are {found}")
        ends = {e: table for (e, r, _), table in form.items() if r == 0}
        for i, limit in enumerate(self.document["limits"]):
            self.part = f"the limit of point {i}"
            is_true = self.is_limit(ends, scale, i, limit, leaders)
            said = ENCODER.encode(limit)
            _require(is_true, f"limits: of point {i} it is false that {said}")

    def check_settled(self, sets: Table, form: ClosedForm, layer: int) -> None:
        """The last sets last for ever from the layer on that is said, and are not proved to do so
        earlier."""
        lasts = bool(form) and self.stay(sets, form)
        as_said = lasts == (layer == self.document["settled_at"])
        verb = "last" if lasts else "need not last"
        _require(as_said, f"settled_at: the sets of {self.part} {verb}")

    def check_attended(self, sets: Table) -> None:
        """Statement 2: these are the attended sets, by their definition."""
        n, rows = len(sets), [*chain(*self.z.values())]
        self.charge(12 * (self.d + 9) * (n + 9))
        self.charge(len(self.z) ** 2 * n**2 * self.d, rows, rows)
        for i, said in enumerate(sets):
            attended = self.furthest(self.z, i, [*range(n)])
            if said != attended:
                truth = f"point {i} attends to {attended!s:.99}"
                raise Stop(f"{self.part}: {truth}, not to {said!s:.99}")

    def furthest(self, z: PowerSum, i: int, candidates: list[int]) -> list[int]:
        """Which of some points lie furthest along A z_i."""
        rows = self.rows({(e, 0, 0): x for e, x in z.items()}, i)
        if len(z) == 1:
            (row,) = rows.values()
            highest = max(map(row.__getitem__, candidates), default=0)
            return [j for j in candidates if row[j] == highest]
        best: list[int] = []
        for j in candidates:
            before = best[0] if best else j
            sign = self.sign({e: row[j] - row[before] for (e, _, _), row in rows.items()})
            if sign > 0:
                best = []
            if sign >= 0:
                best.append(j)
        return best

    def rows(self, form: ClosedForm, i: int) -> dict[Term, list[int]]:
        """The scores <A z_i, z_j> for all j, as a form (see `closed_form`). A set of a out of m
        things and one of b have a union of k things in C(m, k) C(k, a) C(a, k - b) cases, so the
        sum of these over k is C(m, a) C(m, b)."""
        rows: dict[Term, list[int]] = {}
        for (e, r, a), x in form.items():
            for (f, s, b), y in form.items():
                scores = self.scores(x, i, y)
                for k in range(max(a, b), a + b + 1):
                    term, factor = (e + f, r + s, k), comb(k, a) * comb(a, k - b)
                    row = scores if factor == 1 else [factor * score for score in scores]
                    rows[term] = [*map(add, rows[term], row)] if term in rows else row
        return rows

    def means(self, sets: Table, z: PowerSum) -> tuple[int, PowerSum]:
        """A factor, and that factor times the mean of the points in each set, counted with
        multiplicity."""
        counts, width = self.document["multiplicities"], 2 * self.d
        totals = [sum(counts[j] for j in several) for several in sets]
        common, rows = self.common_multiple(totals), [*chain(*z.values())]
        size = width * len(z)
        products = size * (2 * sum(map(len, sets)) + 4 * len(sets))
        self.charge(products, rows, [[common]], held=4 * size * len(sets))
        weights = []
        for several, total in zip(sets, totals, strict=True):
            weights.append([(j, counts[j] * (common // total)) for j in several])
        means = [[sum(weight * row[j] for j, weight in pairs) for pairs in weights] for row in rows]
        return common, {e: means[width * k : width * (k + 1)] for k, e in enumerate(z)}

    def mixed(self, *parts: tuple[int, Table]) -> Table:
        """The sum of some tables, each times a factor."""
        factors, tables = zip(*parts, strict=True)
        entries = len(tables[0]) * len(tables[0][0])
        self.charge(4 * len(parts) * entries, [*chain(*tables)], [factors])
        rows = zip(*tables, strict=True)
        return [[sum(map(mul, factors, x)) for x in zip(*row, strict=True)] for row in rows]

    def closed_form(self, sets: Table) -> tuple[ClosedForm, int]:
        """Where the points are m layers later, as long as the sets stay: the sum of g^(e + r m)
        C(m, k) T over all ((e, r, k), T), over a denominator. It is empty if there is no such form.

        With M for the mean over the attended set, a layer is z -> g z + (1-g) M z, and m of them
        are the sum over k of C(m, k) g^(m-k) (1-g)^k M^k z, by the binomial theorem. If M w = w for
        w = M^L z, this is w + g^m sum over k < L of C(m, k) alpha^k (M^k z - w), since (1-g) / g =
        alpha."""
        means, scale = [self.z], self.scale  # z, M z, M^2 z, …
        moving = {*range(len(sets) + 1)}
        while True:
            common, w = self.means(sets, means[-1])
            ways = {e: self.mixed((common, means[-1][e]), (-1, w[e])) for e in w}
            before = moving
            moving = {i for way in ways.values() for row in way for i, x in enumerate(row) if x}
            if not moving:
                break
            if moving >= before:
                return {}, 1  # attention goes round in circles, or as good as
            means = [{e: self.mixed((common, z[e])) for e in z} for z in means]
            means.append(w)
            scale *= common
        *means, w = means
        p, q = self.alpha
        top = q ** max(0, len(means) - 1)
        form = {(e, 0, 0): self.mixed((top, w[e])) for e in w}
        for k, z in enumerate(means):
            factor = p**k * q ** (len(means) - 1 - k)
            form |= {(e, 1, k): self.mixed((factor, z[e]), (-factor, w[e])) for e in w}
        return form, scale * top

    def move(self, sets: Table, form: ClosedForm, scale: int, layers: int) -> None:
        """Go so many layers further."""
        (p, q), (g, h) = self.alpha, self.contraction
        if layers == 1:
            common, w = self.means(sets, self.z)
            self.z = {e: self.mixed((q * common, z), (p, w[e])) for e, z in self.z.items()}
            self.scale *= h * common
            return
        parts: dict[int, list[tuple[int, Table]]] = {}
        close = layers * h.bit_length() <= CLOSE
        for (e, r, k), table in form.items():
            factor, power = self.choose(layers, k), e + r * layers
            if close:
                factor, power = factor * (g if r else h) ** layers, e
            parts.setdefault(power, []).append((factor, table))
        z = {e: self.mixed(*tables) for e, tables in sorted(parts.items())}
        self.z = {e: table for e, table in z.items() if e == 0 or any(map(any, table))}
        self.scale = scale * h**layers if close else scale

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
        counts, z = self.document["multiplicities"], self.z[0]
        transposed = [*map(list, zip(*self.metric, strict=True))]
        _require(self.metric == transposed, "radius: the metric is not symmetric")
        p, q = self.radius
        products = len(pending) * len(sets) * (9 * self.d + 40)
        self.charge(products, [*z, [p * q * p * q]], z)
        directions = [*zip(*z[self.d :], strict=True)]  # A z_i, of each i
        largest = max((abs(x) for row in self.metric for x in row), default=1)
        squared = 2 * self.d * largest * (p * self.scale) ** 2  # 2 e^2 |A|
        for i in pending:
            c, *others = sets[i]
            is_single = not others and counts[c] == 1
            _require(is_single, f"radius: point {i} attends to several tokens, so it is 0")
            scores, length = self.scores(z, i, z), norm_above(directions[i])
            for j in range(len(sets)):
                if j == c:
                    continue
                # |A (z_c - z_j)| is for the move of i, |A z_i| for those of c and j; if i is one of
                # these, its two terms are one.
                way, times = map(int.__sub__, directions[c], directions[j]), 2
                if c == i:
                    way, times = map(add, way, directions[i]), 1
                elif j == i and max(counts) == 1:
                    way, times = map(int.__sub__, way, directions[i]), 1
                linear = p * q * self.scale * (norm_above(way) + times * length)
                lead = (scores[c] - scores[j]) * q * q - squared << SHIFT
                _require(lead > linear, f"radius: not proved at {self.part}, of point {i} over {j}")
        return [i for i in pending if sets[sets[i][0]] != [sets[i][0]]]

    def is_leader(self, i: int, attended: list[int]) -> bool:
        """Statement 3: a point leads from the first layer on at which all that it attends to sit
        where it sits. It never moves again: the others mix their old place, which scores less along
        A z_i, with places none of which scores more. So they score less again, and the attended set
        stays as it is."""
        return all(self.coincide(self.z, i, j) for j in attended)

    def coincide(self, z: PowerSum, i: int, j: int) -> bool:
        """Whether two points sit at the same place."""
        for k in range(self.d if i != j else 0):
            way = {e: table[k][i] - table[k][j] for e, table in z.items()}
            if self.sign(way):
                return False
        return True

    def stay(self, sets: Table, form: ClosedForm, layers: int | None = None) -> bool:
        """Statement 4: the attended sets are the same for so many layers more, or for ever. Ties
        must hold whatever m is, and the leads of others be negative at m = 1, 2, …

        Who follows a leader does so for ever: see `check_radius`."""
        if not any(r for _, r, _ in form):
            return True  # nobody moves
        asked = [i for i, tied in enumerate(sets) if len(tied) > 1 or sets[tied[0]] != tied]
        tables = [*chain(*form.values())]
        products = len(asked) * len(form) ** 2 * len(sets)
        self.charge(products * (self.d + 9), tables, tables)
        for i in asked:
            rows, tied, c = self.rows(form, i), sets[i], sets[i][0]
            for j in tied:
                is_apart = any(row[j] != row[c] for row in rows.values())
                if is_apart and any(map(self.sign, lead_of(rows, j, c).values())):
                    return False
            for j in doubtful(rows, c):
                if j not in tied and not self.is_negative(lead_of(rows, j, c), layers):
                    return False
        return True

    def is_negative(self, lead: Lead, layers: int | None) -> bool:
        """Whether a lead that is negative at m = 0 is so at m = 1, …, layers, or for ever: of ever
        smaller ranges.

        Points that go straight are seldom that close: with s = (1-t)/t their lead over t^2 is b0
        s^2 + b1 s + b2, which is negative for all s >= 0 if b1^2 < 4 b0 b2, since b2 < 0."""
        signs = {key: self.sign(part) for key, part in lead.items()}
        lead = {key: lead[key] for key in lead if signs[key]}
        positive = [key for key in lead if signs[key] > 0]
        main = min(lead, key=lambda key: (key[0], -key[1]))
        if not positive or (layers is None and main in positive):
            return not positive
        self.charge(80)
        if {*lead} <= {*STRAIGHT} and all({*part} == {0} for part in lead.values()):
            b0, a1, a2 = (lead.get(key, {0: 0})[0] for key in STRAIGHT)
            if (a1 + 2 * b0) ** 2 < 4 * b0 * (b0 + a1 + a2):
                return True
        ranges = [(1, layers)]
        while ranges:
            first, last = ranges.pop()
            if last is None:
                if self.is_negative_from(first, lead, main, positive):
                    continue
                middle = 2 * first
            else:
                if self.is_negative_between(first, last, lead, positive):
                    continue
                if first == last:
                    return False
                middle = min(2 * first, (first + last) // 2)
            ranges += [(middle + 1, last), (first, middle)]
        return True

    def is_negative_from(
        self, first: int, lead: Lead, main: tuple[int, int], positive: list[tuple[int, int]]
    ) -> bool:
        """Whether a lead is sure to be negative from a layer on, for ever.

        The main term, with the smallest r, and among those with the largest k, is the largest in
        the end; it is negative. The ratio to it of another term changes from m to m + 1 by the
        factor g^s (m + 1 - k0) / (m + 1 - k), which stays at most 1 once it is so. So if no
        positive term gains on it from `first` on, and their sum with it is negative there, the lead
        is so for ever. (Then first >= k0, or the sum would not be negative, and first >= k, or the
        factor would not be at most 1.)"""
        (g, h), (r0, k0) = self.contraction, main
        terms = []
        for r, k in [main, *positive]:
            size = self.choose(first, k)
            terms += [(e + r * first, c * size) for e, c in lead[r, k].items()]
        for r, k in positive:
            s = r - r0
            if g**s * (first + 1 - k0) > h**s * (first + 1 - k):
                return False
        return self.sign(total(terms)) < 0

    def is_negative_between(
        self, first: int, last: int, lead: Lead, positive: list[tuple[int, int]]
    ) -> bool:
        """Whether a lead is sure to be negative from one layer to another; if they are the same,
        whether it is.

        Put for C(m, k) what it is at the end at which the term is larger. This is a polynomial h0 +
        h1 t + h2 t^2 in t = g^m, negative between two t if it is so at both, and h0 + h1 (t + t')/2
        + h2 t t' is, too: these are its coefficients in Bernstein's form."""
        terms = []
        for (r, k), part in lead.items():
            size = self.choose(last if (r, k) in positive else first, k)
            terms += [(r, e, c * size) for e, c in part.items()]
        shifts = [(0, 0), (first, last), (first + last, first + last)]
        sums = [total((e + r * m, c) for r, e, c in terms) for m in (first, last)]
        sums.append(total((e + shift, c) for r, e, c in terms for shift in shifts[r]))
        return all(self.sign(terms) < 0 for terms in sums)

    def is_limit(
        self, w: PowerSum, scale: int, i: int, limit: dict[str, Any], leaders: dict[int, int]
    ) -> bool:
        """Statement 5: what is said of w_i is true; and there the point ends, since g^m C(m, k)
        tends to 0. `vertex`: that leader sits at w_i. `point`: it is w_i. `face`: w_i is the mean
        of such leaders by the weights, which are all that lie furthest along A w_i: so w_i is in
        the face of the leaders' hull furthest out there."""
        if "vertex" in limit:
            vertex = limit["vertex"]
            return vertex in leaders and self.coincide(w, i, vertex)
        point = [self.number(text) for text in limit["point"]]
        weights = [self.number(text) for text in limit.get("weights", [])]
        rows = [*chain(*w.values())]
        self.charge(5 * self.d, [*rows, [scale]], point)
        for k, (p, q) in enumerate(point):
            there = [(e, q * table[k][i]) for e, table in w.items()]
            if self.sign(total([(0, -p * scale), *there])):
                return False
        return "face" not in limit or self.is_on_face(w, i, limit["face"], weights, leaders)

    def is_on_face(
        self, w: PowerSum, i: int, face: list[int], weights: Table, leaders: dict[int, int]
    ) -> bool:
        """Whether w_i is the mean of the leaders furthest along A w_i by these weights."""
        rows = [*chain(*w.values())]
        common = self.common_multiple([q for _, q in weights])
        products = self.d * (9 * len(weights) + len(rows[0]))
        self.charge(products, rows, [[common], *weights], held=len(weights))
        parts = [p * (common // q) for p, q in weights]
        if face != self.furthest(w, i, sorted(leaders)):
            return False
        if len(parts) != len(face) or sum(parts) != common:
            return False
        parts, members = [*parts, -common], [*face, i]
        for k in range(self.d):
            way = {e: sum(map(mul, parts, map(w[e][k].__getitem__, members))) for e in w}
            if self.sign(way):
                return False
        return True


def lead_of(rows: dict[Term, list[int]], j: int, c: int) -> Lead:
    """The lead of j over c, from the scores of all."""
    lead: Lead = {}
    for (e, r, k), row in rows.items():
        lead.setdefault((r, k), {})[e] = row[j] - row[c]
    return lead


def doubtful(rows: dict[Term, list[int]], c: int) -> Iterable[int]:
    """All points but those whose lead over c, which is negative now, is sure to stay negative.

    It is a sum of terms a g^(e + r m) C(m, k). If e is always 0, and t = g^m, those without k are
    b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with b0 = a0, b1 = a1 + 2 a0, and for b2 the lead now. So it is
    negative for ever if b0, b1 and all a with k > 0 are 0 or less; if not, it is looked into."""
    if any(e for e, _, _ in rows):
        return range(len(next(iter(rows.values()))))
    b0 = rows[0, 0, 0]
    b1 = [x + 2 * y for x, y in zip(rows[0, 1, 0], b0, strict=True)]
    tests = [b0, b1, *(row for (_, _, k), row in rows.items() if k)]
    return {j for row in tests if max(row) > row[c] for j, x in enumerate(row) if x > row[c]}


def total(terms: Iterable[tuple[int, int]]) -> Sum:
    """The sum of c g^e over some (e, c)."""
    added: Sum = {}
    for e, c in terms:
        added[e] = added.get(e, 0) + c
    return added


def norm_above(vector: Iterable[int]) -> int:
    """The length of a vector times 2^SHIFT, rounded up."""
    return isqrt(sum(x * x for x in vector) << 2 * SHIFT) + 1


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key appears twice: a file is one certificate, not two."""
    _require(len(dict(pairs)) == len(pairs), "a key appears twice in one object")
    return dict(pairs)


def main(file: str = "", effort: str = "1", *_: str) -> int:
    """Print the verdict on a file, and return the exit code."""
    try:
        path, factor = Path(file), float(effort)
        is_small = path.stat().st_size <= FILE_SIZE * max(1, factor)
        _require(is_small, "larger than 4 MB; allow more by FILE EFFORT")
        certificate = json.loads(path.read_bytes(), object_pairs_hook=once)
        verdict = verify(certificate, effort=factor)
    except (Stop, OSError, ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable as JSON: {error}")
    if verdict:
        word, code = "accepted", 0
    elif not verdict.decided:
        word, code = "undecided", 3
    else:
        is_unread = verdict.reason.startswith(("unreadable", "version"))
        word, code = "refused", 2 if is_unread else 1
    print(f"{word}: {verdict.reason}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
