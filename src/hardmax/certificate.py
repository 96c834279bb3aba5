"""Check a certificate of an infinite-depth limit: exactly, alone, and within a budget.

Points z_i with multiplicities go from layer to layer by self-attention:

    z_i  ↦  w_i + R (z_i - w_i),      R = (I + alpha V)^-1,

where w_i is the mean, counted with multiplicity, of the points in the attended set C_i of point i.
docs/certificate.md says what a layer and a certificate are, and proves the statements by numbers:
`statement_1` to `statement_6`."""

import sys

if sys.version_info < (3, 10, 7):  # noqa: UP036 (strangers have other Pythons than the package)
    print("certificate.py needs Python 3.10.7 or later, not", sys.version.split()[0])
    sys.exit(2)

import hashlib
import json
import re
import signal
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import total_ordering
from itertools import chain, groupby, islice, pairwise, product, repeat
from math import comb, gcd, isqrt, lcm
from operator import add, lt, methodcaller, mul
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

# What a check may cost at effort 1.
WORK = 6 * 10**9  # products of two digits, some 2 ns each
ROOM = 2**28  # bytes held
FILE_SIZE = 2**24  # bytes read
STEP = 100  # what a product of integers costs beside the products of their digits
DIGIT = 30  # bits of a digit

CLOSE = 4096  # bits of a power of g that is written out
SHIFT = 64  # bits behind the point of a length
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

Table = list[list[Any]]
"""Lists of numbers, integers or `Far`: one for each coordinate, with an entry for each point."""
Sets = list[list[int]]
"""The attended set of each point, in one head."""
Form = dict[tuple[int, int], Table]
"""Where points are m layers from now: the sum of g^(r m) C(m, k) times a table, by (r, k)."""
Scores = dict[tuple[int, int], list[Any]]
"""The same of the scores of all points."""
Lead = dict[tuple[int, int], Any]
"""The same of one number."""
Sum = dict[int, int]
"""A sum of c g^e, by e."""
Matrix = tuple[Table, int]
"""Rows of integers, and what they are divided by."""

STRAIGHT = (0, 0), (1, 0), (2, 0)  # the (r, k) of leads of points that go straight

# What certificates are made of, see `is_made`. A number is a text, "p" or "p/q".
INDEX, COUNT = 0, 1
INTEGER = "0|-?[1-9][0-9]*"
OVER = "(?:/(?:[2-9]|[1-9][0-9]+))?"
NUMBER, POSITIVE = f"(?:{INTEGER}){OVER}", f"[1-9][0-9]*{OVER}"
SIZE = f"0|{POSITIVE}"
MATRIX = [[NUMBER]]
CLOUD = {
    "denominator": "[1-9][0-9]*",
    "multiplicities": (None, [COUNT]),
    "points": [[INTEGER]],
}
LAYER = {
    "alpha": [POSITIVE],
    "attention": (None, {"localmax": SIZE}, {"topk": COUNT}),
    "heads": (None, [{"metric": (None, MATRIX), "weight": POSITIVE}]),
    "inverse": (None, [MATRIX]),
    "mask": (None, "causal", ["0*1[01]*"]),
    "metric": (None, MATRIX),
    "value": (None, MATRIX),
}
FIRST = {"from": INDEX, "head": INDEX, "to": [(INDEX, [INDEX])]}
FACE = {"face": [INDEX], "point": [NUMBER], "weights": [SIZE]}
SCHEMA = {
    "layer": LAYER,
    "cloud": CLOUD,
    "attended": [(FIRST, FIRST | {"points": [INDEX]})],
    "jumps": [[INDEX, (None, COUNT), INDEX]],
    "settled_at": INDEX,
    "leaders": ([], [[INDEX, INDEX]]),
    "limits": [({"vertex": INDEX}, {"point": [NUMBER]}, {"moves": [NUMBER]}, FACE)],
    "limit_of": [INDEX],
}


class Verdict(NamedTuple):
    """Whether a certificate is accepted, which is also its truth value; if not, the first false
    statement; and what it is about.

    Examples
    --------
    >>> verdict = verify({"format": "hardmax-limit-certificate", "version": 1})
    >>> bool(verdict), verdict.reason
    (False, 'version: unknown here')
    """

    accepted: bool
    reason: str
    facts: Mapping[str, Any] = MappingProxyType({})
    """What was proved, by name: tokens, dimension, layer, cloud and problem (their digests),
    settled_at, leaders, radius. Empty unless it is accepted."""

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        return f"Verdict(accepted={self.accepted}, reason={self.reason!r})"

    @property
    def decided(self) -> bool:
        """False if the check was given up for its cost: then the certificate is neither proved nor
        refuted."""
        return not self.reason.startswith("budget:")

    def sentences(self) -> list[str]:
        """What was proved, a sentence each."""
        if not self.facts:
            return []
        facts, ends = self.facts, "Every token tends to the limit that is named."
        tokens, axes = counted(facts["tokens"], "token"), counted(facts["dimension"], "dimension")
        if facts["moving"]:
            ends = f"For ever move {counted(facts['moving'], 'point')}; all others have limits."
        told = [
            f"The cloud has {tokens} in {axes} (sha256 {facts['cloud']}).",
            f"The layer has {describe_layer(facts['layer'])}.",
            f"The problem, cloud and layer, has the sha256 {facts['problem']}.",
            f"No attended set changes from layer {facts['settled_at']} on.",
            f"In the end there are {counted(len(facts['leaders']), 'leader')}.",
            ends,
        ]
        if facts["radius"] is not None:
            moved = f"Moving every token by at most {facts['radius']}"
            told.append(f"{moved} changes no attended set at any layer.")
        return told


def counted(number: int, noun: str) -> str:
    """A count with its noun."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def describe_layer(layer: dict[str, Any]) -> str:
    """What a layer has, in words."""
    rows = layer["metric"] and "; ".join(", ".join(row) for row in layer["metric"])
    space = f"metric {rows or 'identity':.200}"
    if layer["heads"]:
        space = f"{len(layer['heads'])} heads"
    others = [name for name in ("value", "mask", "attention") if layer[name] is not None]
    return ", ".join([f"alpha {', '.join(layer['alpha'])}", space, *others])


class Stop(Exception):
    """Why a check ends: a statement is false, or the rest would cost too much (`budget: …`)."""


def verify(
    certificate: dict[str, Any],
    *,
    effort: float = 1,
    cloud: str | None = None,
    layer: dict[str, Any] | None = None,
) -> Verdict:
    """Accept a certificate if all of it is true, refuse it if not, or give up at `effort` times the
    usual cost. If the digest of a cloud or a layer is given, the certificate must be about that."""
    if not (isinstance(effort, int | float) and effort > 0):
        wish = "`effort` must be a number above 0"
        raise ValueError(f"{wish}, not {effort!r}: 10 allows ten times the usual cost.")
    try:
        walk = Walk(certificate, effort)
        facts = walk.facts()
        require(cloud in (None, facts["cloud"]), "cloud: the certificate is about another cloud")
        if layer not in (None, facts["layer"]):
            raise Stop(f"layer: it is about {describe_layer(facts['layer'])}")
        walk.walk()
    except (Stop, MemoryError) as error:
        return Verdict(False, str(error) or "budget: this machine has no memory left")
    except Exception as error:  # whatever broke the check off, nothing is proved
        return Verdict(False, f"shape: not as documented, {error!a:.200}")
    facts["moving"] = len(walk.moving)
    outcome = "some points move for ever" if walk.moving else "every point has its limit"
    return Verdict(True, f"{outcome}, settled at layer {facts['settled_at']}", facts)


def require(holds: object, reason: str) -> None:
    """Go on if something holds."""
    if not holds:
        raise Stop(f"{reason:.300}")


def statement_1(certificate: Any) -> None:
    """Statement 1, of texts: nothing is computed yet. `Reader.read_statements` has the rest."""
    is_object = isinstance(certificate, dict) and isinstance(certificate.get("format"), str)
    require(is_object, "shape: not a certificate")
    is_known = certificate["format"] == "hardmax-limit-certificate"
    require(is_known and repr(certificate.get("version")) == "2", "version: unknown here")
    schema = SCHEMA | ({"radius": SIZE} if "radius" in certificate else {})
    rest = {key: certificate[key] for key in certificate if key != "sha256"}
    require({*rest} == {*schema, "format", "version"}, "shape: other keys than documented")
    for key, kind in schema.items():
        require(fits(certificate[key], kind), f"shape: {key} is not as documented")
    require(certificate.get("sha256") == digest(rest), "sha256: not the digest of the rest")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind: null, a pattern of a text, the least of an integer, `[a]` a
    list of one or more a, `[a, b]` a list of an a and a b, `{key: a}` an object with these keys,
    `(a, b)` either."""
    if isinstance(kind, tuple):
        return any(fits(value, one) for one in kind)
    if type(value) is not type(kind):
        return False
    if isinstance(kind, str):
        return bool(re.fullmatch(kind, value))
    if isinstance(kind, int):
        return value >= kind
    if isinstance(kind, dict):
        same_keys = value.keys() == kind.keys()
        return same_keys and all(fits(value[key], kind[key]) for key in kind)
    if kind is None or not isinstance(kind, list):
        return True
    if len(kind) == 1:
        return bool(value) and all(fits(item, kind[0]) for item in value)
    return len(value) == len(kind) and all(map(fits, value, kind))


def digest(document: Any) -> str:
    """The SHA-256 of JSON with sorted keys and no spaces."""
    return hashlib.sha256(ENCODER.encode(document).encode()).hexdigest()


def check_lengths(expected: int, *lists: Any) -> None:
    """All these lists have the length that is expected."""
    require({*map(len, lists)} <= {expected}, "shape: lists of unequal length")


def increase(numbers: list[int], below: int) -> bool:
    """Whether some numbers increase, and are below another one."""
    return all(map(lt, numbers, [*numbers[1:], below]))


def change(sets: Sets, points: Iterable[int], to: list[Any]) -> None:
    """From now on these points have other attended sets."""
    for i, chosen in zip(points, to, strict=True):
        several = chosen if isinstance(chosen, list) else [chosen]
        in_order = increase(several, len(sets)) and chosen != several[:1]
        require(in_order, "shape: attended sets are of points, increasing")
        require(several != sets[i], f"attended: the set of point {i} does not change")
        sets[i] = several


def follows_leader(sets: Sets, i: int) -> bool:
    """Whether a point attends to exactly one point, which attends to itself alone."""
    chosen = sets[i]
    return len(chosen) == 1 and sets[chosen[0]] == chosen


class Head(NamedTuple):
    """A head: its metric times a factor, None for the identity; that factor; its weight."""

    metric: Table | None
    unit: int
    weight: int


@total_ordering
class Far:
    """A number after a long jump: the sum of c g^e over `terms`, where no long power of g is ever
    written out. `powers` pays for what is computed."""

    def __init__(self, powers: "Powers", terms: Sum) -> None:
        self.powers, self.terms = powers, terms

    def __add__(self, other: Any) -> Any:
        return self.powers.total([*self.terms.items(), *terms_of(other).items()])

    def __mul__(self, other: Any) -> Any:
        more = terms_of(other)
        pairs = [*product(self.terms.items(), more.items())]
        self.powers.charge(len(pairs), digits(self.terms.values()), digits(more.values()))
        return self.powers.total([(e + f, x * y) for (e, x), (f, y) in pairs])

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Any:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return other + -1 * self

    def __bool__(self) -> bool:
        return self.powers.sign(self.terms) != 0

    def __eq__(self, other: Any) -> bool:
        return not self - other

    def __lt__(self, other: Any) -> bool:
        return self.powers.sign(terms_of(self - other)) < 0

    def bit_length(self) -> int:
        """Bits of the longest coefficient."""
        return max(map(int.bit_length, self.terms.values()))


class Budget:
    """What a check may cost. The cost of every step is charged before it is done: numbers grow with
    every layer."""

    def __init__(self, effort: float) -> None:
        self.effort, self.work = effort, 0
        self.part = "reading it"  # what is being done, for messages

    def charge(self, products: int, left: int = 1, right: int = 1, *, held: int = 0) -> None:
        """Charge for products of integers with these numbers of digits, and for holding that
        many at once; or give up."""
        self.work += products * (STEP + left * right)
        needed = max(self.work / WORK, held * (36 + 4 * (left + right)) / ROOM)
        if needed > self.effort:
            way = f"verify(..., effort={max(1, 2 * needed):.0f}) or --effort"
            allowed = f"costs more than effort {self.effort:g} allows"
            raise Stop(f"budget: {self.part} {allowed}; raise it by {way}")

    def charge_texts(self, texts: list[str]) -> None:
        """Charge for reading integers."""
        longest, most = max(map(len, texts)), sys.get_int_max_str_digits()
        long = f"budget: a number of {longest} digits; PYTHONINTMAXSTRDIGITS allows {most}"
        require(most == 0 or longest <= most, long)
        self.charge(sum(5 + len(text) ** 2 // 4000 for text in texts), held=len(texts))

    def number(self, text: str) -> tuple[int, int]:
        """Numerator and denominator; in lowest terms, so that equal numbers are equal texts."""
        over, _, under = text.partition("/")
        self.charge_texts([over, under])
        is_reduced = not under or gcd(int(over), int(under)) == 1
        require(is_reduced, f"shape: {text} is not in lowest terms")
        return int(over), int(under or "1")

    def common_multiple(self, numbers: list[int]) -> int:
        """The least common multiple. It may be as long as all the numbers together."""
        common = 1
        for number, _ in groupby(sorted(numbers)):
            self.charge(8, digits([common]), digits([number]))
            common = lcm(common, number)
        return common


class Powers(Budget):
    """Sums of powers of g, `self.contraction`: their signs, now and at all later layers."""

    contraction: tuple[int, int]
    """Numerator and denominator of g, in lowest terms."""

    def total(self, terms: Iterable[tuple[int, int]]) -> Any:
        """The sum of c g^e over some (e, c): an integer, if it is one as it stands."""
        added: Sum = {}
        for e, c in terms:
            added[e] = added.get(e, 0) + c
        self.charge(len(added))
        added = {e: c for e, c in added.items() if c}
        return Far(self, added) if any(added) else added.get(0, 0)

    def sign(self, terms: Sum) -> int:
        """The sign of the sum of c g^e over the items (e, c). The terms with the smallest e are put
        aside if their sum is 0: that of the others decides then, however small it is. The sum of
        what is left is enclosed ever more closely, until 0 is outside."""
        left = sorted((e, c) for e, c in terms.items() if c)
        if len(left) < 2:
            return sum((c > 0) - (c < 0) for _, c in left)
        for count in range(len(left), 1, -1):
            if self.is_zero(left[:count]):
                left = left[count:]
                break
        bits, low, high = 0, 0, 0
        while left and low <= 0 <= high:
            bits += 64 + bits
            low = high = 0
            for e, c in left:
                self.charge(4, digits([1 << bits]), digits([c]))
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
            self.charge(9, digits([c]), digits([c]))
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
        self.charge(4 * exponent.bit_length() + 1, digits([low]), digits([low, q]))
        for digit in f"{exponent:b}" if exponent else "":
            low, high = low * low >> bits, -(-high * high >> bits)
            if digit == "1":
                low, high = low * p // q, -(-high * p // q)
        return low, high

    def choose(self, m: int, k: int) -> int:
        """C(m, k)."""
        self.charge(k * (1 + k * (m.bit_length() // DIGIT) ** 2))
        return comb(m, k)

    def times(self, number: Any, factor: int, exponent: int) -> list[tuple[int, int]]:
        """The terms (e, c) of a number times a factor and g^exponent."""
        return [(e + exponent, c * factor) for e, c in terms_of(number).items()]

    def value(self, lead: Lead, m: int) -> Any:
        """A lead m layers later."""
        parts = lead.items()
        return self.total(chain(*(self.times(x, self.choose(m, k), r * m) for (r, k), x in parts)))

    def is_kept(self, lead: Lead, layers: int | None) -> bool:
        """Whether a lead vanishes term by term, or is negative at m = 0, 1, …"""
        if not any(lead.values()):
            return True
        return self.value(lead, 0) < 0 and self.is_negative(lead, layers)

    def is_negative(self, lead: Lead, layers: int | None) -> bool:
        """Whether a lead that is negative at m = 0 is so at m = 1, …, layers, or for ever: of ever
        smaller ranges. With s = (1-t)/t, that of points that go straight is b0 s^2 + b1 s + b2 over
        t^2, which is negative for all s >= 0 if b1^2 < 4 b0 b2, since b2 < 0."""
        lead = {key: part for key, part in lead.items() if part}
        positive = [key for key, part in lead.items() if part > 0]
        main = min(lead, key=lambda key: (key[0], -key[1]))
        if not positive or (layers is None and main in positive):
            return not positive
        self.charge(80)
        if {*lead} <= {*STRAIGHT}:
            b0, a1, a2 = (lead.get(key, 0) for key in STRAIGHT)
            b1 = a1 + 2 * b0
            if b1 * b1 < 4 * b0 * (b0 + a1 + a2):
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
        """Whether a lead is sure to be negative from a layer on, for ever: if no positive term
        gains on the main one, the largest in the end, and their sum is negative there.

        From m to m + 1 the ratio of a term to it changes by the factor g^s (m + 1 - k0) / (m + 1 -
        k), which stays at most 1 once it is so. (Here first >= k0, or the sum would not be
        negative, and first >= k, or the factor would not be at most 1.)"""
        (g, h), (r0, k0) = self.contraction, main
        for r, k in positive:
            s = r - r0
            if g**s * (first + 1 - k0) > h**s * (first + 1 - k):
                return False
        return self.value({key: lead[key] for key in [main, *positive]}, first) < 0

    def is_negative_between(
        self, first: int, last: int, lead: Lead, positive: list[tuple[int, int]]
    ) -> bool:
        """Whether a lead is sure to be negative from one layer to another; if they are the same,
        whether it is. With C(m, k) at the end at which its term is larger, the lead is at most h0 +
        h1 t + h2 t^2, t = g^m, which has these three coefficients in Bernstein's form."""
        parts = []
        for (r, k), part in lead.items():
            size = self.choose(last if (r, k) in positive else first, k)
            parts.append((r, part, size))
        for m, n in (first, first), (last, last), (first, last):
            ways = (0, 0), (m, n), (m + n, m + n)  # exponents, for each r, of twice the coefficient
            terms = [self.times(part, size, way) for r, part, size in parts for way in ways[r]]
            if self.total(chain(*terms)) >= 0:
                return False
        return True


class Reader(Powers):
    """What a certificate says: statement 1. The points are the numbers in `self.z` over
    `self.scale`."""

    def __init__(self, certificate: Any, effort: float) -> None:
        super().__init__(effort)
        self.document = certificate
        statement_1(certificate)
        self.layer = layer = certificate["layer"]
        self.mask = layer["mask"]
        rows = self.read_points(certificate["cloud"])
        self.n, self.d = len(rows), len(rows[0])
        self.z = points_of(rows)
        self.is_far = False
        self.radius = self.number(certificate.get("radius", "0"))
        self.steps = [self.number(text) for text in layer["alpha"]]
        require(layer["alpha"][-2:-1] != layer["alpha"][-1:], "layer: the last two steps are one")
        if isinstance(self.mask, list):
            check_lengths(self.n, self.mask, *self.mask)
        attention: dict[str, Any] = layer["attention"] or {"localmax": "0"}
        self.most = attention.get("topk")
        self.slack = self.number(attention.get("localmax", "0"))
        if self.slack[1] > 1:  # so that it is a whole number, with the points over this scale
            self.z, self.scale = self.mixed((self.slack[1], self.z)), self.slack[1] * self.scale
        self.read_heads()
        self.read_value()
        parts = ("value", "mask", "attention", "heads")
        self.is_plain = all(layer[part] is None for part in parts)
        is_paper = self.is_plain and len(self.steps) == 1
        require(is_paper or not self.radius[0], "radius: it is for the paper's layer only")
        self.read_statements()

    def read_heads(self) -> None:
        """The heads of the layer: one, if there are no others."""
        metric, heads = self.layer["metric"], self.layer["heads"]
        require(heads is None or metric is None, "layer: heads have their own metrics")
        heads = heads or [{"metric": metric, "weight": "1"}]
        weights = [self.number(head["weight"]) for head in heads]
        common = self.common_multiple([q for _, q in weights])
        self.charge(len(weights), digits(*weights), digits([common]))
        self.heads = []
        for head, (p, q) in zip(heads, weights, strict=True):
            table, unit = self.read_matrix(head["metric"]) if head["metric"] else (None, 1)
            self.heads.append(Head(table, unit, p * (common // q)))

    def read_value(self) -> None:
        """How points move at the steps of the layer, and of what kind the value matrix is:
        `self.projection` if it is a P with P P = P, `self.vanishing` if its square is 0; g is that
        of the last step."""
        value, inverses = self.layer["value"], self.layer["inverse"]
        self.vanishing = self.projection = self.inverses = None
        self.beta, self.has_form = self.steps[-1], True
        require((value is None) == (inverses is None), "layer: value and inverse go together")
        if value is not None:
            check_lengths(len(self.steps), inverses)
            rows, unit = self.read_matrix(value)
            self.inverses = [self.read_matrix(inverse) for inverse in inverses]
            for step, inverse in zip(self.steps, self.inverses, strict=True):
                self.check_inverse(rows, unit, step, inverse)
            self.read_form(rows, unit)
        self.contraction = (1, 1) if self.vanishing else (self.beta[1], sum(self.beta))

    def check_inverse(self, rows: Table, unit: int, step: tuple[int, int], inverse: Matrix) -> None:
        """(I + alpha V) R = I."""
        (p, q), (table, below) = step, inverse
        turned, one = self.product(rows, table), q * unit
        for i, j in product(range(self.d), repeat=2):
            entry = one * table[i][j] + p * turned[i][j]
            require(entry == one * below * (i == j), "layer: inverse is not that of I + alpha V")

    def read_form(self, rows: Table, unit: int) -> None:
        """Whether V V = a V with a >= 0: then V V = 0, or V = a P with P P = P."""
        square = self.product(rows, rows)
        entries = [*zip(chain(*square), chain(*rows), strict=True)]
        above, below = next((pair for pair in entries if pair[1]), (0, 1))
        if below < 0:
            above, below = -above, -below
        # a is above / (below unit)
        self.has_form = above >= 0 and all(above * x == below * y for y, x in entries)
        if self.has_form and not above:
            self.vanishing = rows, unit
        elif self.has_form:
            self.projection = [[below * x for x in row] for row in rows], above
            p, q = self.beta
            over, under = p * above, q * below * unit
            common = gcd(over, under)
            self.beta = over // common, under // common

    def product(self, left: Table, right: Table) -> Table:
        """The product of two matrices."""
        self.charge(len(left) ** 3, digits(*left), digits(*right))
        columns = [*zip(*right, strict=True)]
        return [[sum(map(mul, row, column)) for column in columns] for row in left]

    def read_statements(self) -> None:
        """Statement 1, of lengths and orders."""
        told, n, d = self.document, self.n, self.d
        heads, entries, jumps = len(self.heads), told["attended"], told["jumps"]
        places = [(entry["from"], entry["head"]) for entry in entries]
        in_order = places[:heads] == [(0, head) for head in range(heads)]
        in_order &= [entry for entry in entries if "points" not in entry] == entries[:heads]
        for entry, later in pairwise(places[heads - 1 :]):
            in_order &= entry < later and later[0] > 0 and later[1] < heads
        require(in_order, "attended: not listed at layer 0 and whenever they change")
        for entry in entries:
            points = entry.get("points") or [*range(n)]
            require(increase(points, n), "shape: points are not increasing")
            check_lengths(len(points), entry["to"])
        changes = [layer for layer, _ in places]
        require(told["settled_at"] == changes[-1], "settled_at: not the last change")
        ends = [end for _, end, _ in jumps]
        require(ends.pop() is None and None not in ends, "shape: jumps is not as documented")
        for (start, end, _), (later, _, _) in pairwise(jumps):
            require(start < end <= later, "jumps: not in order")
            is_still = bisect_right(changes, start) == bisect_right(changes, end - 1)
            require(is_still, "jumps: sets change inside of one")
        require(changes[-1] <= jumps[-1][0], "settled_at: before the last change")
        require(max(depth for _, _, depth in jumps) <= n, "jumps: more steps than points")
        check_lengths(n, told["limit_of"])
        require(max(told["limit_of"]) < len(told["limits"]), "shape: limit_of has no such limit")
        for limit in told["limits"]:
            check_lengths(d, *(limit[key] for key in ("point", "moves") if key in limit))
            is_known = max(limit.get("vertex", 0), *limit.get("face", [0])) < n
            require(is_known, "shape: there is no such point")
        self.moving: set[int] = set()

    def read_points(self, cloud: dict[str, Any]) -> list[tuple[int, ...]]:
        """The distinct points times `self.scale`, and in `self.counts` how often each is there.
        With a mask all rows are kept apart."""
        width = len(cloud["points"][0])
        check_lengths(width, *cloud["points"])
        texts = [*chain(*cloud["points"]), cloud["denominator"]]
        self.charge_texts(texts)
        *numbers, self.scale = map(int, texts)
        rows = [*zip(*[iter(numbers)] * width, strict=True)]
        counts = cloud["multiplicities"] or [1] * len(rows)
        check_lengths(len(rows), counts)
        self.charge(3 * len(rows), held=4 * len(rows))
        if self.mask is None:
            merged: dict[tuple[int, ...], int] = {}
            for row, count in zip(rows, counts, strict=True):
                merged[row] = merged.get(row, 0) + count
            rows, counts = [*merged], [*merged.values()]
        self.counts = counts
        return rows

    def read_matrix(self, rows: list[list[str]]) -> Matrix:
        """A matrix times the common denominator of its entries, and that."""
        check_lengths(self.d, rows, *rows)
        matrix = [[self.number(text) for text in row] for row in rows]
        common, size = self.common_multiple([q for row in matrix for _, q in row]), self.d**2
        self.charge(5 * size, digits(*chain(*matrix)), digits([common]), held=3 * size)
        return [[p * (common // q) for p, q in row] for row in matrix], common

    def facts(self) -> dict[str, Any]:
        """What the certificate is about, and what it says."""
        size = digits(*self.z)
        self.charge(9 * self.n * self.d, size, digits([self.scale]), held=2 * self.n * self.d)
        factor = gcd(self.scale, *chain(*self.z))
        points = [[str(x // factor) for x in row] for row in points_of(self.z)]
        cloud = {"denominator": str(self.scale // factor), "multiplicities": self.counts}
        layer = {key: part for key, part in self.layer.items() if key != "inverse"}
        known = digest(cloud | {"points": points})
        return {
            "tokens": sum(self.counts),
            "points": self.n,
            "dimension": self.d,
            "cloud": known,
            "layer": layer,
            "problem": digest({"cloud": known, "layer": layer}),
            "settled_at": self.document["settled_at"],
            "leaders": [point for point, _ in self.document["leaders"]],
            "radius": self.document.get("radius"),
        }

    def mixed(self, *parts: tuple[Any, Table]) -> Table:
        """The sum of some tables, each times a factor."""
        factors = [factor for factor, _ in parts]
        longest = max(digits(*table) for _, table in parts)
        products = len(parts) * self.d * self.n
        self.charge(2 * products, longest, digits(factors), held=self.d * self.n)
        columns = zip(*(table for _, table in parts), strict=True)
        return [weighted(factors, several) for several in columns]

    def applied(self, rows: Table, table: Table) -> Table:
        """A matrix times each point of a table."""
        products = 2 * self.d**2 * self.n
        self.charge(products, digits(*rows), digits(*table), held=self.d * self.n)
        return [weighted(row, table) for row in rows]

    def allows(self, i: int, j: int) -> bool:
        """Whether point i may attend to point j."""
        if isinstance(self.mask, list):
            return self.mask[i][j] == "1"
        return self.mask is None or j <= i

    def allowed(self, i: int) -> list[int]:
        """The points that a point may attend to."""
        if self.mask is None:
            return [*range(self.n)]
        return [j for j in range(self.n) if self.allows(i, j)]

    def size(self, points: Iterable[int]) -> int:
        """How many tokens some points are."""
        return sum(map(self.counts.__getitem__, points))


class Walk(Reader):
    """The layers of a certificate, one after the other or over its jumps."""

    def walk(self) -> None:
        """Statements 2 to 6."""
        self.sets: list[Sets] = [[[]] * self.n for _ in self.heads]
        self.leaders: dict[int, int] = {}
        self.unsure: set[int] = set()
        self.asked = [*range(self.n)]
        self.pending = [*range(self.n)] if self.radius[0] else []
        self.changes = [*self.document["attended"]]
        jumps, layer = iter(self.document["jumps"]), 0
        start, end, depth = next(jumps)
        while True:
            self.arrive(layer)
            if layer != start:
                self.z, self.scale = self.moved(layer)
                layer += 1
                continue
            form, scale = self.look_ahead(layer, end, depth)
            if end is None:
                break
            self.jump(form, scale, end - layer)
            layer, (start, end, depth) = end, next(jumps)
        found = ENCODER.encode(sorted(self.leaders.items()))
        require(found == ENCODER.encode(self.document["leaders"]), f"leaders: they are {found}")
        statement_5(self, form, scale)

    def arrive(self, layer: int) -> None:
        """Statements 2, 3 and 6 at a layer, with the sets that change there."""
        self.part = f"layer {layer}"
        while self.changes and self.changes[0]["from"] == layer:
            entry = self.changes.pop(0)
            points = entry.get("points") or range(self.n)
            change(self.sets[entry["head"]], points, entry["to"])
            self.asked = sorted({*self.asked, *points})
        for head, sets in zip(self.heads, self.sets, strict=True):
            statement_2(self, head, sets)
        if self.is_plain:
            # Who follows a leader does so for ever: see `statement_6`.
            self.asked = [i for i in self.asked if not follows_leader(self.sets[0], i)]
        self.pending = statement_6(self, self.sets[0], self.pending)
        leading = statement_3(self)
        since_when = f"budget: since when these points lead is not known: {self.unsure!s:.99}"
        require(self.unsure.isdisjoint(leading), since_when)
        self.leaders = {i: self.leaders.get(i, layer) for i in leading}
        self.unsure = set()

    def look_ahead(self, layer: int, end: int | None, depth: int) -> tuple[Form, int]:
        """Where points are m layers later, and statement 4: up to there the sets stay."""
        require(not self.pending, "radius: not all follow leaders before a jump, or in the end")
        form, scale = self.closed_form(depth, layer)
        last = None if end is None else end - layer - 1
        verb = f"the sets of {self.part} need not last"
        require(statement_4(self, form, scale, last), f"settled_at: {verb}")
        if self.mask is not None:
            self.leaders = {i: k for i, k in self.leaders.items() if leads_on(self, form, i)}
            others = {*range(self.n)}.difference(self.leaders)
            self.unsure = {i for i in others if leads_on(self, form, i, last)}
        return form, scale

    def picks(self) -> int:
        """How many points are attended to, by all in all heads."""
        return sum(map(len, chain(*self.sets)))

    def moved(self, layer: int) -> tuple[Table, int]:
        """The points a layer later, and what they are divided by."""
        index = min(layer, len(self.steps) - 1)
        (p, q), (factor, w) = self.steps[index], self.means(self.z)
        self.charge(3, digits([self.scale]))
        if self.inverses is None:
            after = self.mixed((q * factor, self.z), (p, w))
            return after, self.scale * (p + q) * factor
        rows, below = self.inverses[index]
        turned = self.applied(rows, self.mixed((factor, self.z), (-1, w)))
        return self.mixed((below, w), (1, turned)), self.scale * below * factor

    def means(self, table: Table) -> tuple[int, Table]:
        """A factor, and that factor times the mean of the points that each attends to, counted with
        multiplicity; of several heads the mean by their weights."""
        several = [chosen for chosen in chain(*self.sets) if len(chosen) > 1]
        common = self.common_multiple([*map(self.size, several)])
        factor, picks = common * sum(head.weight for head in self.heads), self.picks()
        self.charge((self.d + 2) * picks, digits(*table, self.counts), digits([factor]), held=picks)
        means = [[0] * self.n for _ in table]
        for head, sets in zip(self.heads, self.sets, strict=True):
            unit = head.weight * common
            shares = [(i, chosen) for i, chosen in enumerate(sets) if len(chosen) > 1]
            for k, column in enumerate(table):
                part = [unit * column[chosen[0]] for chosen in sets]
                for i, chosen in shares:
                    total = sum(self.counts[j] * column[j] for j in chosen)
                    part[i] = unit // self.size(chosen) * total
                means[k] = [*map(add, means[k], part)]
        return factor, means

    def closed_form(self, depth: int, layer: int) -> tuple[Form, int]:
        """Where the points are m layers later, as long as the sets stay, over a denominator.

        With M for the mean over the attended set and w = M^L z, where M w = w must hold, this is w
        + g^m sum over k < L of C(m, k) alpha^k (M^k z - w), by the binomial theorem. If V = a P
        with P P = P, that is so of P z with alpha a, and z - P z stands still. If V V = 0, each
        step is the same, alpha V (M z - z)."""
        z, scale, (p, q) = self.z, self.scale, self.beta
        if depth == 0:
            after, later = self.moved(layer)
            is_still = self.mixed((later, z)) == self.mixed((scale, after))
            require(is_still, f"jumps: points move at {self.part}")
            return {(0, 0): z}, scale
        is_known = self.has_form and (depth == 1 or not self.vanishing)
        constant = layer >= len(self.steps) - 1
        require(is_known and constant, f"jumps: there is no such form at {self.part}")
        if self.vanishing:
            rows, unit = self.vanishing
            common, w = self.means(z)
            way = self.applied(rows, self.mixed((p, w), (-p * common, z)))
            below = common * q * unit
            return {(0, 0): self.mixed((below, z)), (0, 1): way}, scale * below
        y = z
        if self.projection:
            rows, below = self.projection
            y, z, scale = self.applied(rows, z), self.mixed((below, z)), scale * below
        means = [y]  # y, M y, M^2 y, …
        for _ in range(depth):
            common, w = self.means(means[-1])
            if common > 1:
                means = [self.mixed((common, x)) for x in means]
                z, scale = self.mixed((common, z)), scale * common
            means.append(w)
        *means, w = means
        common, after = self.means(w)
        is_last = self.mixed((common, w)) == after
        require(is_last, f"jumps: targets move after {depth} steps at {self.part}")
        self.charge(depth, digits([p]), digits([q ** min(depth, CLOSE)]))
        top = q ** (depth - 1)
        form = {(0, 0): self.mixed((top, w))}
        if self.projection:
            form = {(0, 0): self.mixed((top, w), (top, z), (-top, means[0]))}
        for k, x in enumerate(means):
            factor = p**k * q ** (depth - 1 - k)
            way = self.mixed((factor, x), (-factor, w))
            if any(map(any, way)):
                form[1, k] = way
        return form, scale * top

    def jump(self, form: Form, scale: int, layers: int) -> None:
        """Go many layers further."""
        (g, h), moves = self.contraction, any(r for r, _ in form)
        if moves and layers * h.bit_length() > CLOSE:
            powers, self.is_far = [1, self.total([(layers, 1)])], True
        else:
            powers = [h ** (layers * moves), g ** (layers * moves)]
            scale *= powers[0]
        parts = [(self.choose(layers, k) * powers[r], x) for (r, k), x in form.items()]
        self.z, self.scale = self.mixed(*parts), scale

    def room(self, head: Head, scale: int) -> int:
        """How far below the largest a score may be, of points over a scale."""
        p, q = self.slack
        self.charge(3 if p else 0, digits([scale]), digits([scale, p, q]))
        return p * head.unit * scale**2 // q if p else 0

    def rows(self, head: Head, form: Form, i: int) -> Scores:
        """The scores <A z_i, z_j> for all j, as a form (see `closed_form`). A set of a out of m
        things and one of b have a union of k things in C(m, k) C(k, a) C(a, k - b) cases, so the
        sum of these over k is C(m, a) C(m, b)."""
        rows: Scores = {}
        for (r, a), x in form.items():
            u = along(head, [column[i] for column in x])
            for (s, b), y in form.items():
                scores = weighted(u, y)
                for k in range(max(a, b), a + b + 1):
                    term, factor = (r + s, k), comb(k, a) * comb(a, k - b)
                    row = weighted([factor], [scores])
                    rows[term] = weighted([1, 1], [rows[term], row]) if term in rows else row
        return rows


# Statements 2 to 6, at the layer where a walk is.


def statement_2(walk: "Walk", head: Head, sets: Sets) -> None:
    """Statement 2: of some points these are the attended sets, by their definition.

    Let u = A z_i, and t the least score that the listed set admits. Who reaches it is at least
    as far from any place o as (t - <u, o>) / |u|, if this is positive: Cauchy and Schwarz. So
    of the points, sorted by their distance from o, only the first few are looked at."""
    if not walk.asked:
        return
    table, n, d = walk.z, walk.n, walk.d
    size = digits(*table)
    longer = size + digits(*(head.metric or [[1]]))
    walk.charge(n * (7 * d + 20), size, size, held=n * (3 * d + 3))
    order, nearness, centre = [*range(n)], [], []
    if not walk.is_far:
        centre = [sum(column) // n for column in table]
        ways = [[x - o for x in column] for column, o in zip(table, centre, strict=True)]
        squares = [sum(map(mul, way, way)) for way in zip(*ways, strict=True)]
        order.sort(key=squares.__getitem__, reverse=True)
        nearness = [-squares[j] for j in order]
    ordered = [[*map(column.__getitem__, order)] for column in table]
    points, room = points_of(table), walk.room(head, walk.scale)
    for i in walk.asked:
        said, u = sets[i], along(head, points[i])
        walk.charge((5 + len(said)) * d + 9, longer, size)
        scores = [sum(map(mul, u, points[j])) for j in said]
        least, count = min(scores) if walk.most else max(scores) - room, n
        rest = least - sum(map(mul, u, centre)) if nearness else 0
        if rest > 0:
            count = bisect_right(nearness, -rest * rest // sum(map(mul, u, u)))
        walk.charge(count * d, longer, size)
        scores = weighted(u, [islice(column, count) for column in ordered])
        pairs = zip(order, scores, strict=False)
        reached = {j: score for j, score in pairs if score >= least}
        if walk.mask is not None:
            reached = {j: score for j, score in reached.items() if walk.allows(i, j)}
        holds = sorted(reached) == said
        if holds and walk.most:
            above = walk.size(j for j in said if reached[j] > least)
            is_all = walk.size(said) >= walk.most or said == walk.allowed(i)
            holds = above < walk.most and is_all
        require(holds, f"{walk.part}: point {i} does not attend to {said!s:.99}")


def statement_3(walk: "Walk") -> list[int]:
    """Statement 3: those points lead for which all that they attend to sit where they sit. Without
    a mask, no point becomes a leader or stops being one while the sets stay: who sits in one place
    attends to the same, so who meets has met before."""
    walk.charge(walk.picks() * walk.d // 4)
    places = points_of(walk.z)
    leads = [True] * walk.n
    for sets in walk.sets:
        for i, chosen in enumerate(sets):
            leads[i] &= all(places[i] == places[j] for j in chosen)
    return [i for i, holds in enumerate(leads) if holds]


def leads_on(walk: "Walk", form: Form, i: int, at: int | None = None) -> bool:
    """Whether a point coincides with all that it attends to at every layer of a form, or at
    one: term by term, since no other sum of terms is 0 at all late layers."""
    for j in {j for sets in walk.sets for j in sets[i]}:
        for k in range(walk.d):
            lead = {term: x[k][i] - x[k][j] for term, x in form.items()}
            if any(lead.values()) if at is None else walk.value(lead, at):
                return False
    return True


def statement_4(walk: "Walk", form: Form, scale: int, layers: int | None = None) -> bool:
    """Statement 4: the attended sets are the same for a number of layers more, or for ever.

    In the paper's layer, who follows a leader does so for ever: see `statement_6`."""
    if layers == 0 or not any(map(any, form)):
        return True  # nothing moves
    size = digits(*chain(*form.values()))
    for head, sets in zip(walk.heads, walk.sets, strict=True):
        asked = [i for i in range(walk.n) if not walk.is_plain or not follows_leader(sets, i)]
        products = len(asked) * len(form) ** 2 * walk.n
        walk.charge(products * (walk.d + 9), size, size)
        room = walk.room(head, scale)
        for i in asked:
            rows = walk.rows(head, form, i)
            if not set_stays(walk, rows, i, sets[i], room, layers):
                return False
    return True


def set_stays(
    walk: "Walk", rows: Scores, i: int, said: list[int], room: int, layers: int | None
) -> bool:
    """Whether a point keeps its attended set: no point crosses the score of the last that counts,
    or, with a slack, that of the first less the slack, and it stays the first. The slack of
    hardmax is 0: then leads inside of the set must vanish, whatever m is."""
    if walk.most and walk.size(walk.allowed(i)) <= walk.most:
        return True
    now = {j: sum(row[j] for (_, k), row in rows.items() if not k) for j in said}
    c = (min if walk.most else max)(said, key=now.__getitem__)
    rivals = [j for j in doubtful(rows, c, room).difference(said) if walk.allows(i, j)]
    if not all(walk.is_negative(lead_of(rows, j, c, room), layers) for j in rivals):
        return False
    leads = [lead_of(rows, c, j, -room) for j in said if j != c]
    if not walk.most:
        leads += [lead_of(rows, j, c) for j in said if j != c]
    return all(walk.is_kept(lead, layers) for lead in leads)


def statement_5(walk: "Walk", form: Form, scale: int) -> None:
    """Statement 5, of every description: it is true of one of its points, and all others end
    where that one does."""
    ends = points_of(form[0, 0])
    steps = points_of(form.get((0, 1), [[0] * walk.n] * walk.d))
    walk.moving = {i for i, step in enumerate(steps) if any(step)}
    members: dict[int, list[int]] = {}
    for i, number in enumerate(walk.document["limit_of"]):
        members.setdefault(number, []).append(i)
    for number, points in members.items():
        limit, first = walk.document["limits"][number], points[0]
        walk.part = f"the limit of point {first}"
        walk.charge(len(points) * walk.d)
        moves = "moves" in limit
        x = steps if moves else ends
        false = [i for i in points if x[i] != x[first] or moves != (i in walk.moving)]
        if not is_limit(walk, x, scale, first, limit):
            false = [first]
        said = ENCODER.encode(limit)
        require(not false, f"limits: of point {min(false, default=0)} it is false that {said}")


def is_limit(walk: "Walk", x: Table, scale: int, i: int, limit: dict[str, Any]) -> bool:
    """Statement 5: what is said of x_i is true: where the point ends, since g^m C(m, k) tends
    to 0; or, with `moves`, by what it moves."""
    if "vertex" in limit:
        return limit["vertex"] in walk.leaders and x[limit["vertex"]] == x[i]
    point = [walk.number(text) for text in limit.get("point") or limit["moves"]]
    walk.charge(5 * walk.d, digits([scale], *x), digits(*point))
    is_there = all(p * scale == q * end for (p, q), end in zip(point, x[i], strict=True))
    return is_there and ("face" not in limit or is_on_face(walk, x, i, limit))


def is_on_face(walk: "Walk", x: Table, i: int, limit: dict[str, Any]) -> bool:
    """Whether x_i is the mean of the leaders furthest along A x_i by these weights."""
    face, weights = limit["face"], [walk.number(text) for text in limit["weights"]]
    common = walk.common_multiple([q for _, q in weights])
    products, longest = walk.d * (9 * len(weights) + walk.n), digits([common], *weights)
    walk.charge(products, digits(*x), longest, held=len(weights))
    parts = [p * (common // q) for p, q in weights]
    u = along(walk.heads[0], x[i])
    scores = {v: sum(map(mul, u, x[v])) for v in walk.leaders}
    highest = max(scores.values(), default=0)
    is_face = face == sorted(v for v in scores if scores[v] == highest)
    if walk.layer["heads"] or not is_face or len(parts) != len(face) or sum(parts) != common:
        return False
    return weighted(parts, [x[v] for v in face]) == weighted([common], [x[i]])


def statement_6(walk: "Walk", sets: Sets, pending: list[int]) -> list[int]:
    """Statement 6: moving every token by at most e, the radius, changes no attended set. Of
    those points that followed no leader a layer before; returns those that follow none here.

    Let i attend to c alone, a single token; A is symmetric. All are off by at most e, so the
    lead of c over j, <A z_i, z_c - z_j>, by at most e (|A (z_c - z_j)| + 2 |A z_i|) + 2 e^2
    |A|, and |A| is at most d times the largest entry. Who follows a leader l does so for ever:
    a layer later <A z_i, z_j - l> is a mix of what it was, which is negative, and of <A z_i,
    w_j - l>, <A l, z_j - l> and <A l, w_j - l>, none of which is positive."""
    if not pending:
        return []
    (head,), z, (p, q) = walk.heads, walk.z, walk.radius
    metric = head.metric or [[1]]
    require(metric == points_of(metric), "radius: A is not symmetric")
    products, size = len(pending) * walk.n * (9 * walk.d + 40), digits(*z)
    walk.charge(products, size + digits([p * q * p * q]), size)
    directions = [along(head, point) for point in points_of(z)]
    largest = max(abs(x) for row in metric for x in row)
    squared = 2 * walk.d * largest * (p * walk.scale) ** 2  # 2 e^2 |A|
    for i in pending:
        c, *others = sets[i]
        is_single = not others and walk.counts[c] == 1
        require(is_single, f"radius: point {i} attends to several tokens, so it is 0")
        scores, length = weighted(directions[i], z), norm_above(directions[i])
        for j in range(walk.n):
            if j == c:
                continue
            # |A (z_c - z_j)| is for the move of i, |A z_i| for those of c and j; if i is one of
            # these, its two terms are one.
            way, times = map(int.__sub__, directions[c], directions[j]), 2
            if c == i:
                way, times = map(add, way, directions[i]), 1
            elif j == i and max(walk.counts) == 1:
                way, times = map(int.__sub__, way, directions[i]), 1
            linear = p * q * walk.scale * (norm_above(way) + times * length)
            lead = (scores[c] - scores[j]) * q * q - squared << SHIFT
            require(lead > linear, f"radius: not proved at {walk.part}, of point {i} over {j}")
    return [i for i in pending if not follows_leader(sets, i)]


def digits(*rows: Iterable[Any]) -> int:
    """Digits of the longest of some numbers."""
    return 1 + max(map(methodcaller("bit_length"), chain(*rows)), default=0) // DIGIT


def terms_of(number: Any) -> Sum:
    """A number as a sum of c g^e."""
    return number.terms if isinstance(number, Far) else {0: number}


def points_of(table: Iterable[Iterable[Any]]) -> Table:
    """The points of a table, each with all its coordinates."""
    return [*map(list, zip(*table, strict=True))]


def weighted(weights: Iterable[Any], columns: Iterable[Iterable[Any]]) -> list[Any]:
    """The sum of some columns, each times its weight."""
    total: list[Any] = []
    for weight, column in zip(weights, columns, strict=True):
        more = column if weight == 1 else map(mul, repeat(weight), column)
        total = [*map(add, total, more)] if total else [*more]
    return total


def along(head: Head, vector: Any) -> Any:
    """A times a vector, up to a positive factor."""
    if head.metric is None:
        return vector
    return [sum(map(mul, row, vector)) for row in head.metric]


def lead_of(rows: Scores, j: int, c: int, more: int = 0) -> Lead:
    """The lead of j over c, from the scores of all, and a number more."""
    lead = {term: row[j] - row[c] for term, row in rows.items()}
    lead[0, 0] += more
    return lead


def doubtful(rows: Scores, c: int, room: int) -> set[int]:
    """All points but those whose lead over c and this room, negative now, is sure to stay negative.

    It is a sum of terms a g^(r m) C(m, k). With t = g^m, those without k are b0 (1-t)^2 + b1 t
    (1-t) + b2 t^2 with b0 = a0, b1 = a1 + 2 a0, and for b2 the lead now. So it is negative for ever
    if b0, b1 and all a with k > 0 are 0 or less; if not, it is looked into."""
    still = rows[0, 0]
    tests = [(row, row[c]) for (_, k), row in rows.items() if k]
    tests.append((still, still[c] - room))
    if (1, 0) in rows:
        row = weighted([1, 2], [rows[1, 0], still])
        tests.append((row, row[c] - 2 * room))
    return {j for row, most in tests if max(row) > most for j, x in enumerate(row) if x > most}


def norm_above(vector: Iterable[int]) -> int:
    """The length of a vector times 2^SHIFT, rounded up."""
    return isqrt(sum(x * x for x in vector) << 2 * SHIFT) + 1


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key appears twice: a file is one certificate, not two."""
    require(len(dict(pairs)) == len(pairs), "unreadable: a key appears twice in one object")
    return dict(pairs)


def read_whole(path: Path, effort: float) -> bytes:
    """What is in a file, or comes from a pipe."""
    name = f"{path.name!r:.99}"
    try:
        is_small = path.stat().st_size <= FILE_SIZE * max(1, effort)
        require(is_small, f"unreadable: {name} is larger than 16 MB; a higher effort allows more")
        require(path.is_file() or path.is_fifo(), f"unreadable: {name} is not a file")
        return path.read_bytes()
    except OSError as error:
        raise Stop(f"unreadable: {name}: {error.strerror}") from None


# The last point attends to two that follow others, ties with them at layer 12, and then leads.
EXAMPLE = """{"format":"hardmax-limit-certificate","version":2,"layer":{"alpha":["1/2"],
"metric":null,"value":null,"inverse":null,"mask":null,"attention":null,"heads":null},
"cloud":{"denominator":"4","points":[["7","8"],["7","-8"],["8","4"],["8","-4"],["2","0"]],
"multiplicities":null},"attended":[{"from":0,"head":0,"to":[0,1,0,1,[2,3]]},{"from":12,"head":0,
"points":[4],"to":[[2,3,4]]},{"from":13,"head":0,"points":[4],"to":[4]}],"jumps":[[0,12,2],
[13,null,1]],"settled_at":13,"limits":[{"vertex":0},{"vertex":1},{"vertex":4}],
"limit_of":[0,1,0,1,2],"leaders":[[0,0],[1,0],[4,13]]}"""
USAGE = """usage: certificate.py FILE [EFFORT]

Check a proof of where tokens end; an effort of 10 allows ten times the usual time and memory.
Exit code: 0 accepted, 1 refused, 2 nothing was checked, 3 undecided."""
LIES = ("1/2", "1"), ("12", "11"), ("[2,3,4]", "[3,4]"), ("[4,13]", "[4,12]"), ("1,2]", "1,1]")


def passes_test() -> bool:
    """Whether this Python accepts an example, and refuses it with any of some lies."""
    true = json.loads(EXAMPLE)
    told = [true, *(json.loads(EXAMPLE.replace(*lie)) for lie in LIES)]
    accepted = [bool(verify(one | {"sha256": digest(one)})) for one in told]
    return accepted == [one is true for one in told]


def main() -> int:
    """Print the verdict on a file, and return the exit code."""
    words = sys.argv[1:]
    if len(words) not in (1, 2) or words[0].startswith("-"):
        print(USAGE)
        return 2
    if not passes_test():
        print("nothing checked: it fails on its own example with Python", sys.version.split()[0])
        return 2
    try:
        effort = float(*words[1:] or "1")
        data = read_whole(Path(words[0]), effort)
        verdict = verify(json.loads(data, object_pairs_hook=once), effort=effort)
    except Stop as stop:
        verdict = Verdict(False, str(stop))
    except (ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable: {error}")
    if verdict.reason.startswith(("unreadable", "version")):
        print(verdict.reason)
        return 2
    word, code = ("refused", 1) if verdict.decided else ("undecided", 3)
    if verdict:
        word, code = "accepted", 0
    print("\n".join([f"{word}: {verdict.reason}", *verdict.sentences()]))
    return code


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` closes the pipe, and that is fine
    sys.exit(main())
