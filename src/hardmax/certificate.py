"""Check a certificate of an infinite-depth limit: exactly, alone, and within a budget.

Points z_i with multiplicities m_i go from layer to layer by self-attention:

    z_i  ↦  w_i + R (z_i - w_i),      R = (I + alpha V)^-1,

where w_i is the mean, counted with multiplicity, of the points in the attended set C_i of point i.
In the paper's layer V is the identity, so that R is the contraction g = 1 / (1 + alpha), and C_i
are the points with the largest score <A z_i, z_j>. Other layers have a value matrix V, a mask,
other attention than hardmax, steps that differ, or several heads.

A certificate states where every point ends, in five statements, and may have a sixth: how far
tokens may be moved. Each has a function with its proof: `check_shape`, `check_attended`,
`is_leader`, `stay`, `is_limit`, `check_radius`. Schema and exit codes: docs/certificate.md."""

import hashlib
import json
import re
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import chain, groupby, islice, pairwise, repeat
from math import comb, gcd, isqrt, lcm
from operator import add, lt, mul
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
BLOCK = 10_000  # points whose candidates are counted at a time
SHIFT = 64  # bits behind the point of a length
MOST_EXPONENT = 400  # of a decimal number in a file
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
Matrix = tuple[Table, int]
"""Rows of integers, and what they are divided by."""

STRAIGHT = (0, 0), (1, 0), (2, 0)  # the (r, k) of leads of points that go straight

# What the values look like as JSON. A number is a text, "p" or "p/q".
INDEX = "(?:0|[1-9][0-9]*)"
COUNT = "[1-9][0-9]*"
INT = "(?:0|-?[1-9][0-9]*)"
OVER = "(?:/(?:[2-9]|[1-9][0-9]+))?"
LIST = r"\[(?>{0})(?:,(?>{0}))*+\]".format  # of one or more; nothing is tried twice
INDICES = LIST(INDEX)
NUMBERS = LIST(f'"{INT}{OVER}"')
WEIGHTS = LIST(f'"{INDEX}{OVER}"')
POSITIVE = f'"{COUNT}{OVER}"'
MATRIX = LIST(NUMBERS)
COUNTS = f'"multiplicities":(null|{LIST(COUNT)})'
INLINE = f'"denominator":"{COUNT}",{COUNTS},"points":' + LIST(LIST(f'"{INT}"'))
NAME = r"(?!\.)[A-Za-z0-9._ -]{1,196}\.(npy|csv)"
REFERENCE = f'"file":"{NAME}",{COUNTS},"sha256":"[0-9a-f]{{64}}"'
HEAD = rf'\{{"metric":(null|{MATRIX}),"weight":{POSITIVE}\}}'
LAYER = {
    "alpha": LIST(POSITIVE),
    "attention": rf'null|\{{"localmax":"{INDEX}{OVER}"\}}|\{{"topk":{COUNT}\}}',
    "heads": f"null|{LIST(HEAD)}",
    "inverse": f"null|{LIST(MATRIX)}",
    "mask": 'null|"causal"|' + LIST('"[01]++"'),
    "metric": f"null|{MATRIX}",
    "value": f"null|{MATRIX}",
}
TO = LIST(rf"{INDEX}|\[{INDEX}(,{INDEX})++\]")
ENTRY = rf'\{{"from":(0,"head":{INDEX}|{COUNT},"head":{INDEX},"points":{INDICES}),"to":{TO}\}}'
FACE = f'"face":{INDICES},"point":{NUMBERS},"weights":{WEIGHTS}'
SCHEMA = {
    "layer": r"\{" + ",".join(f'"{key}":({kind})' for key, kind in LAYER.items()) + r"\}",
    "cloud": rf"\{{({INLINE}|{REFERENCE})\}}",
    "attended": LIST(ENTRY),
    "jumps": rf"\[(\[{INDEX},{COUNT},{INDEX}\],)*+\[{INDEX},null,{INDEX}\]\]",
    "settled_at": INDEX,
    "leaders": rf"\[\]|{LIST(INDICES)}",
    "limits": LIST(rf'\{{("vertex":{INDEX}|"point":{NUMBERS}|"moves":{NUMBERS}|{FACE})\}}'),
    "limit_of": INDICES,
}
OPTIONAL = {"radius": f'"{INDEX}{OVER}"'}
CELL = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
NPY = (
    rb"\{'descr': '<f8', 'fortran_order': (False|True), 'shape': \((\d{1,12}), (\d{1,12})\), \} *\n"
)


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
        facts = self.facts
        told = [
            f"The cloud has {counted(facts['tokens'], 'token')} in "
            f"{counted(facts['dimension'], 'dimension')} (sha256 {facts['cloud']}).",
            f"The layer has {describe_layer(facts['layer'])}.",
            f"The problem, cloud and layer, has the sha256 {facts['problem']}.",
            f"No attended set changes from layer {facts['settled_at']} on.",
            f"In the end there are {counted(len(facts['leaders']), 'leader')}.",
        ]
        if facts["moving"]:
            told.append(
                f"For ever move {counted(facts['moving'], 'point')}; all others have limits."
            )
        else:
            told.append("Every token tends to the limit that is named.")
        if facts["radius"] is not None:
            moved = f"Moving every token by at most {facts['radius']}"
            told.append(f"{moved} changes no attended set at any layer.")
        return told


def counted(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def describe_layer(layer: dict[str, Any]) -> str:
    """What a layer has, in words."""
    steps = ", ".join(layer["alpha"])
    rows = layer["metric"] and "; ".join(", ".join(row) for row in layer["metric"])
    parts = [f"alpha {steps}"]
    if layer["heads"]:
        parts.append(f"{len(layer['heads'])} heads")
    else:
        parts.append(f"metric {rows or 'identity':.200}")
    parts += [name for name in ("value", "mask", "attention") if layer[name] is not None]
    return ", ".join(parts)


class Stop(Exception):
    """Why a check ends: a statement is false, or the rest would cost too much (`budget: …`)."""


def verify(
    certificate: dict[str, Any],
    *,
    effort: float = 1,
    folder: str | Path = ".",
    cloud: str | None = None,
    layer: dict[str, Any] | None = None,
) -> Verdict:
    """Accept a certificate if all of it is true, refuse it if not, or give up at `effort` times the
    usual cost. A file with the cloud is looked up in `folder`. If the digest of a cloud or a layer
    is given, the certificate must be about that."""
    if not (isinstance(effort, int | float) and effort > 0):
        wish = "`effort` must be a number above 0"
        raise ValueError(f"{wish}, not {effort!r}: 10 allows ten times the usual cost.")
    try:
        check = Check(certificate, effort, Path(folder))
        facts = check.facts()
        same_cloud = cloud is None or cloud == facts["cloud"]
        _require(same_cloud, "cloud: the certificate is about another cloud")
        same_layer = layer is None or layer == facts["layer"]
        _require(same_layer, f"layer: it is about {describe_layer(facts['layer'])}")
        check.walk()
    except (Stop, MemoryError) as error:
        return Verdict(False, str(error) or "budget: this machine has no memory left")
    except Exception as error:  # whatever broke the check off, nothing is proved
        return Verdict(False, f"shape: not as documented, {error!a:.200}")
    facts["moving"] = len(check.moving)
    outcome = "some points move for ever" if check.moving else "every point has its limit"
    return Verdict(True, f"{outcome}, settled at layer {facts['settled_at']}", facts)


def _require(holds: object, reason: str) -> None:
    if not holds:
        raise Stop(f"{reason:.300}")


def check_shape(certificate: Any) -> None:
    """Statement 1: the certificate is well formed. Texts are compared, nothing is computed yet;
    lengths and orders are checked in `Check.__init__`."""
    is_object = isinstance(certificate, dict) and isinstance(certificate.get("format"), str)
    _require(is_object, "shape: not a certificate")
    is_known = certificate["format"] == "hardmax-limit-certificate"
    _require(is_known and repr(certificate.get("version")) == "2", "version: unknown here")
    optional = {key: kind for key, kind in OPTIONAL.items() if key in certificate}
    for key, kind in (SCHEMA | optional).items():
        text = ENCODER.encode(certificate.get(key))
        _require(re.fullmatch(kind, text), f"shape: {key} is not as documented")
    rest = {key: certificate[key] for key in certificate if key != "sha256"}
    _require(certificate.get("sha256") == digest(rest), "sha256: not the digest of the rest")
    documented = {*SCHEMA, *optional, "format", "version", "sha256"}
    _require({*certificate} == documented, "shape: other keys than documented")


def digest(document: Any) -> str:
    """The SHA-256 of JSON with sorted keys and no spaces."""
    return hashlib.sha256(ENCODER.encode(document).encode()).hexdigest()


def check_lengths(expected: int, *lists: Any) -> None:
    """All these lists have the length that is expected."""
    _require({*map(len, lists)} <= {expected}, "shape: lists of unequal length")


def increase(numbers: list[int], below: int) -> bool:
    """Whether some numbers increase, and are below another one."""
    return all(map(lt, numbers, [*numbers[1:], below]))


class Sets:
    """The attended sets of all points in one head: `first` has the first of each, `several` all of
    those that are more than one, by point."""

    def __init__(self, to: list[Any]) -> None:
        self.several = {i: chosen for i, chosen in enumerate(to) if isinstance(chosen, list)}
        self.first = to
        if self.several:
            self.first = [chosen[0] if isinstance(chosen, list) else chosen for chosen in to]
        self.check([*range(len(to))])

    def __getitem__(self, i: int) -> list[int]:
        return self.several.get(i) or [self.first[i]]

    def check(self, points: list[int]) -> None:
        """Sets are of points that there are, in order."""
        n = len(self.first)
        valid = max(map(self.first.__getitem__, points)) < n
        for i in self.several:
            valid = valid and increase(self.several[i], n)
        _require(valid, "shape: attended sets are of points, increasing")

    def change(self, points: list[int], to: list[Any]) -> None:
        """From now on these points have other sets."""
        check_lengths(len(points), to)
        _require(increase(points, len(self.first)), "shape: points are not increasing")
        for i, chosen in zip(points, to, strict=True):
            chosen = chosen if isinstance(chosen, list) else [chosen]
            _require(chosen != self[i], f"attended: the set of point {i} does not change")
            self.first[i] = chosen[0]
            self.several.pop(i, None)
            if len(chosen) > 1:
                self.several[i] = chosen
        self.check(points)

    def follows_leader(self, i: int) -> bool:
        """Whether a point attends to exactly one point, which attends to itself alone."""
        c = self.first[i]
        return i not in self.several and c not in self.several and self.first[c] == c


class Head(NamedTuple):
    """A head: its metric times a factor, None for the identity; that factor; its weight."""

    metric: Table | None
    unit: int
    weight: int


class Check:
    """A check of one certificate. The cost of every step is charged before it is done: numbers grow
    with every layer.

    The points are sums of g^e times a table, in most cases of g^0 alone. A table has d lists of
    numerators over `self.scale`."""

    def __init__(self, certificate: Any, effort: float, folder: Path) -> None:
        self.effort, self.work = effort, 0
        self.part = "reading it"  # what is being done, for messages
        self.document = certificate
        check_shape(certificate)
        self.layer = layer = certificate["layer"]
        rows = self.read_points(certificate["cloud"], folder)
        self.n, self.d = len(rows), len(rows[0])
        table = [*map(list, zip(*rows, strict=True))]
        self.z: PowerSum = {0: table}
        self.radius = self.number(certificate.get("radius", "0"))
        self.steps = [self.number(text) for text in layer["alpha"]]
        _require(layer["alpha"][-2:-1] != layer["alpha"][-1:], "layer: the last two steps are one")
        self.mask = layer["mask"]
        if isinstance(self.mask, list):
            check_lengths(self.n, self.mask, *self.mask)
            _require(all("1" in row for row in self.mask), "mask: nobody to attend to")
        attention: dict[str, Any] = layer["attention"] or {"localmax": "0"}
        self.slack = self.number(attention.get("localmax", "0"))
        self.most = attention.get("topk")
        self.read_heads()
        self.read_value()
        parts = ("value", "mask", "attention", "heads")
        self.is_plain = all(layer[part] is None for part in parts)
        self.is_hardmax = self.most is None and not self.slack[0]
        paper = not self.radius[0] or (self.is_plain and len(self.steps) == 1)
        _require(paper, "radius: it is for the paper's layer only")
        self.read_statements()

    def read_heads(self) -> None:
        """The heads of the layer: one, if there are no others."""
        metric, heads = self.layer["metric"], self.layer["heads"]
        _require(heads is None or metric is None, "layer: heads have their own metrics")
        heads = heads or [{"metric": metric, "weight": "1"}]
        weights = [self.number(head["weight"]) for head in heads]
        common = self.common_multiple([q for _, q in weights])
        self.charge(len(weights), weights, [[common]])
        self.heads = []
        for head, (p, q) in zip(heads, weights, strict=True):
            table, unit = self.read_matrix(head["metric"]) if head["metric"] else (None, 1)
            self.heads.append(Head(table, unit, p * (common // q)))
        factor = gcd(*(head.weight for head in self.heads))
        self.heads = [head._replace(weight=head.weight // factor) for head in self.heads]

    def read_value(self) -> None:
        """How points move at the steps of the layer, and of what kind the value matrix is:
        `self.projection` if it is a P with P P = P, `self.vanishing` if its square is 0; g is that
        of the last step."""
        value, inverses = self.layer["value"], self.layer["inverse"]
        p, q = self.steps[-1]
        self.vanishing, self.projection, self.inverses = None, None, None
        self.beta, self.has_form = (p, q), True
        _require((value is None) == (inverses is None), "layer: value and inverse go together")
        if value is not None:
            check_lengths(len(self.steps), inverses)
            rows, unit = self.read_matrix(value)
            self.inverses = [self.read_matrix(inverse) for inverse in inverses]
            for step, inverse in zip(self.steps, self.inverses, strict=True):
                self.check_inverse(rows, unit, step, inverse)
            square = self.product(rows, rows)
            entries = zip(chain(*square), chain(*rows), strict=True)
            above, below = next((pair for pair in entries if pair[1]), (0, 1))
            if above < 0:
                above, below = -above, -below
            same = [[above * x for x in row] for row in rows]
            is_multiple = same == [[below * x for x in row] for row in square]
            if not any(map(any, square)):
                self.vanishing = rows, unit
            elif is_multiple and below > 0:
                # V = a P with a = above / (below unit)
                self.projection = [[below * x for x in row] for row in rows], above
                over, under = p * above, q * below * unit
                common = gcd(over, under)
                self.beta = over // common, under // common
            else:
                self.has_form = False
        self.contraction = self.beta[1], sum(self.beta)  # g, in lowest terms
        if self.vanishing:
            self.contraction = 1, 1

    def check_inverse(self, rows: Table, unit: int, step: tuple[int, int], inverse: Matrix) -> None:
        """(I + alpha V) R = I."""
        (p, q), (table, below) = step, inverse
        forward = []
        for i, row in enumerate(rows):
            forward.append([q * unit * (i == j) + p * x for j, x in enumerate(row)])
        found, one = self.product(forward, table), q * unit * below
        identity = [[one * (i == j) for j in range(self.d)] for i in range(self.d)]
        _require(found == identity, "layer: inverse is not that of I + alpha V")

    def product(self, left: Table, right: Table) -> Table:
        """The product of two matrices."""
        self.charge(len(left) ** 3, left, right)
        columns = [*zip(*right, strict=True)]
        return [[sum(map(mul, row, column)) for column in columns] for row in left]

    def read_statements(self) -> None:
        """Lengths and orders of what is stated."""
        told, n, d = self.document, self.n, self.d
        heads, entries = len(self.heads), told["attended"]
        places = [(entry["from"], entry["head"]) for entry in entries]
        in_order = places[:heads] == [(0, head) for head in range(heads)]
        for entry, later in pairwise(places[heads - 1 :]):
            in_order &= entry < later and later[0] > 0 and later[1] < heads
        _require(in_order, "attended: not listed at layer 0 and whenever they change")
        _require(told["settled_at"] == places[-1][0], "settled_at: not the last change")
        jumps, changes = told["jumps"], [layer for layer, _ in places]
        for start, end, _ in jumps[:-1]:
            _require(start < end, "jumps: not in order")
            _require(
                bisect_right(changes, start) == bisect_right(changes, end - 1),
                "jumps: sets change inside of one",
            )
        for (_, end, _), (start, _, _) in pairwise(jumps):
            _require(end <= start, "jumps: not in order")
        _require(max(depth for _, _, depth in jumps) <= n, "jumps: more steps than points")
        _require(changes[-1] <= jumps[-1][0], "settled_at: before the last change")
        check_lengths(n, told["limit_of"], *(entry["to"] for entry in entries[:heads]))
        self.sets = [Sets([*entry["to"]]) for entry in entries[:heads]]
        self.changes = entries[heads:]
        _require(max(told["limit_of"]) < len(told["limits"]), "shape: limit_of has no such limit")
        for limit in told["limits"]:
            check_lengths(d, *(limit[key] for key in ("point", "moves") if key in limit))
            self.check_known(limit.get("vertex", 0), *limit.get("face", []))
        check_lengths(2, *told["leaders"])
        self.moving: set[int] = set()

    def check_known(self, *points: int) -> None:
        """All these are points."""
        _require(max(points) < self.n, "shape: there is no such point")

    def read_points(self, cloud: dict[str, Any], folder: Path) -> list[tuple[int, ...]]:
        """The distinct points times `self.scale`, and in `self.counts` how often each is there.
        With a mask all rows are kept apart."""
        if "file" in cloud:
            rows, self.scale = self.read_file(folder, cloud["file"], cloud["sha256"])
        else:
            check_lengths(len(cloud["points"][0]), *cloud["points"])
            texts = [*chain(*cloud["points"]), cloud["denominator"]]
            self.charge_texts(texts)
            *numbers, self.scale = map(int, texts)
            rows = [*zip(*[iter(numbers)] * len(cloud["points"][0]), strict=True)]
        counts = cloud["multiplicities"] or [1] * len(rows)
        check_lengths(len(rows), counts)
        self.charge(3 * len(rows), held=4 * len(rows))
        if self.layer["mask"] is None:
            merged: dict[tuple[int, ...], int] = {}
            for row, count in zip(rows, counts, strict=True):
                merged[row] = merged.get(row, 0) + count
            rows, counts = [*merged], [*merged.values()]
        self.counts = counts
        return rows

    def charge_texts(self, texts: list[str]) -> None:
        """Charge for reading integers."""
        longest, most = max(map(len, texts)), sys.get_int_max_str_digits()
        is_short = most == 0 or longest <= most
        _require(
            is_short, f"budget: a number of {longest} digits; PYTHONINTMAXSTRDIGITS allows {most}"
        )
        self.charge(sum(5 + len(text) ** 2 // 4000 for text in texts), held=len(texts))

    def read_file(
        self, folder: Path, name: str, expected: str
    ) -> tuple[list[tuple[int, ...]], int]:
        """The rows of a file times a common denominator, and that."""
        path = folder / name
        try:
            is_small = path.stat().st_size <= FILE_SIZE * max(1, self.effort)
            _require(is_small, f"unreadable: {name} is larger than the effort allows")
            data = path.read_bytes()
        except OSError as error:
            raise Stop(f"unreadable: the file with the cloud, {name}: {error.strerror}") from None
        same = hashlib.sha256(data).hexdigest() == expected
        _require(same, f"cloud: {name} is not the file that was certified, by its sha256")
        self.charge(len(data) // 2, held=len(data) // 3)
        if name.endswith(".npy"):
            width, pairs = read_npy(data)
        else:
            width, pairs = self.read_csv(data)
        below = [q for _, q in pairs]
        common = self.common_multiple([*{*below}])
        self.charge(3 * len(pairs), [[common]], [[max(map(abs, (p for p, _ in pairs)))]])
        numbers = [p * (common // q) for p, q in pairs]
        factor = gcd(common, *numbers)
        if factor > 1:
            numbers = [number // factor for number in numbers]
        return [*zip(*[iter(numbers)] * width, strict=True)], common // factor

    def read_csv(self, data: bytes) -> tuple[int, list[tuple[int, int]]]:
        """Width and numbers of lines of decimals, which are what they say."""
        lines = data.decode("utf-8-sig").split("\n")
        rows = [
            [cell.strip(" \r") for cell in line.split(",")] for line in lines if line.strip(" \r")
        ]
        if rows and not any(map(is_decimal, rows[0])):
            del rows[0]  # names of columns
        _require(rows and all(map(is_decimal, chain(*rows))), "cloud: not a table of decimals")
        check_lengths(len(rows[0]), *rows)
        self.charge_texts([*chain(*rows)])
        return len(rows[0]), [read_decimal(cell) for cell in chain(*rows)]

    def facts(self) -> dict[str, Any]:
        """What the certificate is about, and what it says."""
        (table,) = self.z.values()
        self.charge(9 * self.n * self.d, table, [[self.scale]], held=2 * self.n * self.d)
        factor = gcd(self.scale, *chain(*table))
        columns = [[str(x // factor) for x in column] for column in table]
        points = [*map(list, zip(*columns, strict=True))]
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

    def number(self, text: str) -> tuple[int, int]:
        """Numerator and denominator; in lowest terms, so that equal numbers are equal texts."""
        over, _, under = text.partition("/")
        self.charge_texts([over, under])
        is_reduced = not under or gcd(int(over), int(under)) == 1
        _require(is_reduced, f"shape: {text} is not in lowest terms")
        return int(over), int(under or "1")

    def read_matrix(self, rows: list[list[str]]) -> Matrix:
        """A matrix times the common denominator of its entries, and that."""
        check_lengths(self.d, rows, *rows)
        matrix = [[self.number(text) for text in row] for row in rows]
        common, size = self.common_multiple([q for row in matrix for _, q in row]), self.d**2
        self.charge(5 * size, [*chain(*matrix)], [[common]], held=3 * size)
        return [[p * (common // q) for p, q in row] for row in matrix], common

    def common_multiple(self, numbers: list[int]) -> int:
        """The least common multiple. It may be as long as all the numbers together."""
        common = 1
        for number, _ in groupby(sorted(numbers)):
            self.charge(8, [[common]], [[number]])
            common = lcm(common, number)
        return common

    def allowed(self, i: int) -> list[int]:
        """The points that a point may attend to."""
        if self.mask is None:
            return [*range(self.n)]
        if self.mask == "causal":
            return [*range(i + 1)]
        return [j for j, mark in enumerate(self.mask[i]) if mark == "1"]

    def sign(self, terms: Sum) -> int:
        """The sign of the sum of c g^e over the items (e, c), without ever writing out a long power
        of g.

        First the terms with the smallest e are put aside if their sum is 0: that of the others
        decides then, however small it is. The sum of what is left is enclosed ever more closely,
        until 0 is outside."""
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
                self.charge(4, [[1 << bits]], [[c]])
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
        """Statements 2 to 4, from the points on, one layer after the other or over a jump; then who
        leads; then statement 5."""
        leaders: dict[int, int] = {}
        unsure: set[int] = set()
        asked, pending = [*range(self.n)], [*range(self.n)] if self.radius[0] else []
        jumps, changes, layer = iter(self.document["jumps"]), [*self.changes], 0
        start, end, depth = next(jumps)
        while True:
            self.part = f"layer {layer}"
            changed = []
            while changes and changes[0]["from"] == layer:
                entry = changes.pop(0)
                self.sets[entry["head"]].change(entry["points"], entry["to"])
                changed += entry["points"]
            asked = sorted({*asked, *changed}) if changed else asked
            for head, sets in zip(self.heads, self.sets, strict=True):
                self.check_attended(head, sets, asked)
            if self.is_plain:
                # Who follows a leader does so for ever: see `check_radius`.
                asked = [i for i in asked if not self.sets[0].follows_leader(i)]
            pending = self.check_radius(self.sets[0], pending)
            leading = self.leading()
            since_when = f"budget: since when these points lead is not known: {unsure!s:.99}"
            _require(unsure.isdisjoint(leading), since_when)
            leaders, unsure = {i: leaders.get(i, layer) for i in leading}, set()
            if layer != start:
                self.move(layer)
                layer += 1
                continue
            _require(not pending, "radius: not all follow leaders before a jump, or in the end")
            form, scale = self.closed_form(depth, layer)
            last = None if end is None else end - layer - 1
            verb = f"the sets of {self.part} need not last"
            _require(self.stay(form, scale, last), f"settled_at: {verb}")
            if self.mask is not None:
                leaders = {i: leaders[i] for i in leaders if self.leads_on(form, i)}
                unsure = {
                    i for i in range(self.n) if i not in leaders and self.leads_on(form, i, last)
                }
            if end is None:
                break
            self.jump(form, scale, end - layer)
            layer, (start, end, depth) = end, next(jumps)
        found = ENCODER.encode(sorted(leaders.items()))
        _require(found == ENCODER.encode(self.document["leaders"]), f"leaders: they are {found}")
        self.check_limits(form, scale, leaders)

    def check_attended(self, head: Head, sets: Sets, asked: list[int]) -> None:
        """Statement 2: of some points these are the attended sets, by their definition.

        Let u = A z_i, and t the least score that the listed set admits. Who has a score of at least
        t is at least as far from any place o as (t - <u, o>) / |u|, if this is positive: Cauchy and
        Schwarz. So of the points, sorted by their distance from o, only the first few are looked
        at, and those of them that reach t must be the listed set."""
        if not asked:
            return
        if len(self.z) > 1:
            self.check_by_sign(head, sets, asked)
            return
        (table,), n, d = self.z.values(), self.n, self.d
        self.charge(n * (7 * d + 20), table, table, held=n * (3 * d + 3))
        centre = [sum(column) // n for column in table]
        squares = [0] * n
        for column, x in zip(table, centre, strict=True):
            squares = [*map(add, squares, [(way := y - x) * way for y in column])]
        order = sorted(range(n), key=squares.__getitem__, reverse=True)
        nearness = [-squares[j] for j in order]
        ordered = [[*map(column.__getitem__, order)] for column in table]
        points, unit = [*zip(*table, strict=True)], self.scale**2 * head.unit
        for start in range(0, len(asked), BLOCK):
            some = asked[start : start + BLOCK]
            self.charge(len(some) * (5 * d + 9), table, table)
            plans, total = [], 0
            for i in some:
                u = along(head, points[i])
                scores = [sum(map(mul, u, points[j])) for j in sets[i]]
                least = self.least(scores, unit)
                rest, length = least - sum(map(mul, u, centre)), sum(map(mul, u, u))
                count = n
                if rest > 0:
                    count = bisect_right(nearness, -rest * rest // length)
                plans.append((i, u, least, count))
                total += count
            self.charge(total * d, table, table)
            for i, u, least, count in plans:
                scores = list(map(mul, repeat(u[0]), islice(ordered[0], count)))
                for x, column in zip(u[1:], ordered[1:], strict=True):
                    scores = list(map(add, scores, map(mul, repeat(x), islice(column, count))))
                pairs = zip(order, scores, strict=False)
                reached = {j: score for j, score in pairs if score >= least}
                self.compare(sets[i], i, reached, least)

    def least(self, scores: list[int], unit: int) -> int:
        """The least score that a set with these scores admits; `unit` is a score of 1."""
        if self.most is not None:
            return min(scores)
        p, q = self.slack
        return max(scores) - p * unit // q

    def compare(self, said: list[int], i: int, reached: dict[int, int], least: int) -> None:
        """Whether a point attends to the points that are said, if those that it may attend to and
        that reach the least score are known."""
        if self.mask == "causal":
            reached = {j: score for j, score in reached.items() if j <= i}
        elif self.mask is not None:
            reached = {j: score for j, score in reached.items() if self.mask[i][j] == "1"}
        holds = sorted(reached) == said
        if holds and self.most is not None:
            above = sum(self.counts[j] for j in said if reached[j] > least)
            enough = sum(map(self.counts.__getitem__, said)) >= self.most
            holds = above < self.most and (enough or said == self.allowed(i))
        _require(holds, f"{self.part}: point {i} does not attend to {said!s:.99}")

    def check_by_sign(self, head: Head, sets: Sets, asked: list[int]) -> None:
        """The same, if points are sums of several powers of g: all scores are compared."""
        tables = [*chain(*self.z.values())]
        self.charge(len(self.z) ** 2 * len(asked) * self.n * self.d, tables, tables)
        _require(self.is_hardmax, "budget: a long jump, with other attention than hardmax")
        for i in asked:
            truth = self.furthest(head, self.z, i, self.allowed(i))
            said = sets[i]
            _require(truth == said, f"{self.part}: point {i} does not attend to {said!s:.99}")

    def furthest(self, head: Head, z: PowerSum, i: int, candidates: list[int]) -> list[int]:
        """Which of some points lie furthest along A z_i."""
        rows = self.rows(head, {(e, 0, 0): x for e, x in z.items()}, i)
        if len(rows) == 1:
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

    def rows(self, head: Head, form: ClosedForm, i: int) -> dict[Term, list[int]]:
        """The scores <A z_i, z_j> for all j, as a form (see `closed_form`). A set of a out of m
        things and one of b have a union of k things in C(m, k) C(k, a) C(a, k - b) cases, so the
        sum of these over k is C(m, a) C(m, b)."""
        rows: dict[Term, list[int]] = {}
        for (e, r, a), x in form.items():
            u = along(head, [column[i] for column in x])
            for (f, s, b), y in form.items():
                scores = [*map(mul, repeat(u[0]), y[0])]
                for factor, column in zip(u[1:], y[1:], strict=True):
                    scores = [*map(add, scores, map(mul, repeat(factor), column))]
                for k in range(max(a, b), a + b + 1):
                    term, factor = (e + f, r + s, k), comb(k, a) * comb(a, k - b)
                    row = scores if factor == 1 else [factor * score for score in scores]
                    rows[term] = [*map(add, rows[term], row)] if term in rows else row
        return rows

    def means(self, z: PowerSum) -> tuple[int, PowerSum]:
        """A factor, and that factor times the mean of the points that each attends to, counted with
        multiplicity; of several heads the mean by their weights."""
        shares: list[dict[int, list[tuple[int, int]]]] = []
        totals = []
        for sets in self.sets:
            share = {}
            for i, several in sets.several.items():
                counts = [self.counts[j] for j in several]
                factor = gcd(*counts)
                share[i] = [(j, count // factor) for j, count in zip(several, counts, strict=True)]
                totals.append(sum(counts) // factor)
            shares.append(share)
        common = self.common_multiple(totals)
        weights = [common * head.weight for head in self.heads]
        tables = [*chain(*z.values())]
        picks = sum(len(several) for share in shares for several in share.values())
        products = len(tables) * (2 * picks + 4 * self.n * len(weights))
        self.charge(products, tables, [weights], held=2 * len(tables) * self.n)
        means = {}
        for e, table in z.items():
            columns = [[0] * self.n for _ in table] if len(weights) > 1 else []
            for weight, share, sets in zip(weights, shares, self.sets, strict=True):
                parts = [mean_of(column, sets.first, share, weight) for column in table]
                if columns:
                    parts = [[*map(add, *pair)] for pair in zip(columns, parts, strict=True)]
                columns = parts
            means[e] = columns
        return sum(weights), means

    def mixed(self, *parts: tuple[int, Table]) -> Table:
        """The sum of some tables, each times a factor."""
        factors = [factor for factor, _ in parts]
        tables = [table for _, table in parts]
        entries = len(tables[0]) * len(tables[0][0])
        self.charge(2 * len(parts) * entries, [*chain(*tables)], [factors], held=entries)
        mixed = [[factors[0] * x for x in column] for column in tables[0]]
        for factor, table in parts[1:]:
            pairs = zip(mixed, table, strict=True)
            mixed = [[x + factor * y for x, y in zip(*pair, strict=True)] for pair in pairs]
        return mixed

    def applied(self, rows: Table, table: Table) -> Table:
        """A matrix times each point of a table."""
        self.charge(2 * self.d**2 * self.n, rows, table, held=self.d * self.n)
        applied = []
        for row in rows:
            column = [row[0] * x for x in table[0]]
            for factor, more in zip(row[1:], table[1:], strict=True):
                column = [x + factor * y for x, y in zip(column, more, strict=True)]
            applied.append(column)
        return applied

    def vanishes(self, z: PowerSum) -> bool:
        """Whether a sum of powers of g times tables is 0."""
        left = {e: table for e, table in z.items() if any(map(any, table))}
        if len(left) < 2:
            return not left
        columns = zip(*left.values(), strict=True)
        entries = chain.from_iterable(zip(*column, strict=True) for column in columns)
        return not any(self.sign(dict(zip(left, entry, strict=True))) for entry in entries)

    def moved(self, layer: int) -> tuple[PowerSum, int]:
        """The points a layer later, and what they are divided by."""
        (p, q), index = self.step_at(layer)
        factor, w = self.means(self.z)
        if self.inverses is None:
            after = {e: self.mixed((q * factor, z), (p, w[e])) for e, z in self.z.items()}
            return after, self.scale * (p + q) * factor
        rows, below = self.inverses[index]
        after = {}
        for e, z in self.z.items():
            turned = self.applied(rows, self.mixed((factor, z), (-1, w[e])))
            after[e] = self.mixed((below, w[e]), (1, turned))
        return after, self.scale * below * factor

    def step_at(self, layer: int) -> tuple[tuple[int, int], int]:
        """The step of a layer, and which one it is."""
        index = min(layer, len(self.steps) - 1)
        return self.steps[index], index

    def move(self, layer: int) -> None:
        """Go a layer further."""
        self.z, self.scale = self.moved(layer)

    def closed_form(self, depth: int, layer: int) -> tuple[ClosedForm, int]:
        """Where the points are m layers later, as long as the sets stay: the sum of g^(e + r m)
        C(m, k) T over all ((e, r, k), T), over a denominator.

        With M for the mean over the attended set, a layer is z -> g z + (1-g) M z, and m of them
        are the sum over k of C(m, k) g^(m-k) (1-g)^k M^k z, by the binomial theorem. If M w = w for
        w = M^L z, this is w + g^m sum over k < L of C(m, k) alpha^k (M^k z - w), since (1-g) / g =
        alpha. If V = a P with P P = P, this holds for P z and alpha a, and z - P z stands still. If
        V V = 0, V z stands still, and so does each step alpha V (M z - z)."""
        if depth == 0:
            after, scale = self.moved(layer)
            ways = {e: self.mixed((scale, z), (-self.scale, after[e])) for e, z in self.z.items()}
            _require(self.vanishes(ways), f"jumps: points move at {self.part}")
            return {(e, 0, 0): z for e, z in self.z.items()}, self.scale
        constant = layer >= len(self.steps) - 1
        _require(constant and self.has_form, f"jumps: there is no such form at {self.part}")
        if self.vanishing:
            _require(depth == 1, f"jumps: there is no such form at {self.part}")
            return self.drift(*self.vanishing)
        z, scale = self.z, self.scale
        y = z
        if self.projection:
            rows, below = self.projection
            y = {e: self.applied(rows, table) for e, table in z.items()}
            z = {e: self.mixed((below, table)) for e, table in z.items()}
            scale *= below
        means = [y]  # y, M y, M^2 y, …
        for _ in range(depth):
            common, w = self.means(means[-1])
            if common > 1:
                means = [{e: self.mixed((common, x[e])) for e in x} for x in means]
                z = {e: self.mixed((common, table)) for e, table in z.items()}
            means.append(w)
            scale *= common
        *means, w = means
        common, after = self.means(w)
        ways = {e: self.mixed((common, table), (-1, after[e])) for e, table in w.items()}
        _require(self.vanishes(ways), f"jumps: targets move after {depth} steps at {self.part}")
        p, q = self.beta
        self.charge(depth, [[p]], [[q ** min(depth, CLOSE)]])
        top = q ** (depth - 1)
        rest = {e: ((top, z[e]), (-top, means[0][e])) for e in w} if self.projection else {}
        form = {(e, 0, 0): self.mixed((top, w[e]), *rest.get(e, ())) for e in w}
        for k, x in enumerate(means):
            factor = p**k * q ** (depth - 1 - k)
            ways = {e: self.mixed((factor, x[e]), (-factor, w[e])) for e in w}
            form |= {(e, 1, k): way for e, way in ways.items() if any(map(any, way))}
        return form, scale * top

    def drift(self, rows: Table, unit: int) -> tuple[ClosedForm, int]:
        """The form if V V = 0."""
        p, q = self.steps[-1]
        common, w = self.means(self.z)
        form = {}
        for e, z in self.z.items():
            way = self.applied(rows, self.mixed((p, w[e]), (-p * common, z)))
            form[e, 0, 0] = self.mixed((common * q * unit, z))
            if any(map(any, way)):
                form[e, 0, 1] = way
        return form, self.scale * common * q * unit

    def jump(self, form: ClosedForm, scale: int, layers: int) -> None:
        """Go many layers further."""
        g, h = self.contraction
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

    def check_radius(self, sets: Sets, pending: list[int]) -> list[int]:
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
        (head,), n, (p, q) = self.heads, self.n, self.radius
        metric = head.metric or [[1]]
        _require(metric == [*map(list, zip(*metric, strict=True))], "radius: A is not symmetric")
        z = self.z[0]
        self.charge(len(pending) * n * (9 * self.d + 40), [*z, [p * q * p * q]], z)
        directions = [along(head, point) for point in zip(*z, strict=True)]
        largest = max(abs(x) for row in metric for x in row)
        squared = 2 * self.d * largest * (p * self.scale) ** 2  # 2 e^2 |A|
        for i in pending:
            c = sets.first[i]
            is_single = i not in sets.several and self.counts[c] == 1
            _require(is_single, f"radius: point {i} attends to several tokens, so it is 0")
            (scores,), length = (
                self.rows(head, {(0, 0, 0): z}, i).values(),
                norm_above(directions[i]),
            )
            for j in range(n):
                if j == c:
                    continue
                # |A (z_c - z_j)| is for the move of i, |A z_i| for those of c and j; if i is one of
                # these, its two terms are one.
                way, times = map(int.__sub__, directions[c], directions[j]), 2
                if c == i:
                    way, times = map(add, way, directions[i]), 1
                elif j == i and max(self.counts) == 1:
                    way, times = map(int.__sub__, way, directions[i]), 1
                linear = p * q * self.scale * (norm_above(way) + times * length)
                lead = (scores[c] - scores[j]) * q * q - squared << SHIFT
                _require(lead > linear, f"radius: not proved at {self.part}, of point {i} over {j}")
        return [i for i in pending if not sets.follows_leader(i)]

    def leading(self) -> list[int]:
        """The points that lead now. In most cases the first coordinate tells who does not."""
        candidates = [*range(self.n)]
        if len(self.z) == 1:
            ((column, *_),) = self.z.values()
            first = self.sets[0].first
            candidates = [i for i, x in enumerate(column) if x == column[first[i]]]
        sizes = sum(len(sets[i]) for sets in self.sets for i in candidates)
        self.charge(sizes * self.d // 4)
        return [i for i in candidates if self.is_leader(i)]

    def is_leader(self, i: int) -> bool:
        """Statement 3: a point leads if all that it attends to sit where it sits. In the paper's
        layer it never moves again: the others mix their old place, which scores less along A z_i,
        with places none of which scores more. So they score less again, and the attended set stays
        as it is.

        Without a mask, nobody becomes a leader or stops being one while the sets stay: who sits in
        one place attends to the same, so who meets has met before."""
        return all(self.coincide(self.z, i, j) for sets in self.sets for j in sets[i])

    def leads_on(self, form: ClosedForm, i: int, at: int | None = None) -> bool:
        """Whether a point coincides with all that it attends to at every layer of a form, or at
        one: term by term, since no other sum of terms is 0 at all late layers."""
        others = {j for sets in self.sets for j in sets[i]} - {i}
        ways: list[Sum] = []
        for j in others:
            for k in range(self.d):
                lead: Lead = {}
                for (e, r, degree), table in form.items():
                    lead.setdefault((r, degree), {})[e] = table[k][i] - table[k][j]
                ways += lead.values() if at is None else [self.value(lead, at)]
        return not any(map(self.sign, ways))

    def value(self, lead: Lead, m: int) -> Sum:
        """A lead m layers later."""
        terms = []
        for (r, k), part in lead.items():
            size = self.choose(m, k)
            terms += [(e + r * m, c * size) for e, c in part.items()]
        return total(terms)

    def coincide(self, z: PowerSum, i: int, j: int) -> bool:
        """Whether two points sit at the same place."""
        for k in range(self.d if i != j else 0):
            way = {e: table[k][i] - table[k][j] for e, table in z.items()}
            if self.sign(way):
                return False
        return True

    def stay(self, form: ClosedForm, scale: int, layers: int | None = None) -> bool:
        """Statement 4: the attended sets are the same for so many layers more, or for ever.

        In the paper's layer, who follows a leader does so for ever: see `check_radius`."""
        if layers == 0 or not any(r or k for _, r, k in form):
            return True  # nobody moves
        tables = [*chain(*form.values())]
        for head, sets in zip(self.heads, self.sets, strict=True):
            asked = [*range(self.n)]
            if self.is_plain:
                asked = [i for i in asked if not sets.follows_leader(i)]
            products = len(asked) * len(form) ** 2 * self.n
            self.charge(products * (self.d + 9), tables, tables)
            unit = scale**2 * head.unit
            for i in asked:
                rows = self.rows(head, form, i)
                stays = self.ties_stay if self.is_hardmax else self.thresholds_stay
                if not stays(rows, sets[i], self.allowed(i), layers, unit):
                    return False
        return True

    def ties_stay(
        self, rows: dict[Term, list[int]], tied: list[int], allowed: list[int],
        layers: int | None, _: int,
    ) -> bool:  # fmt: skip
        """Whether a point keeps its attended set: ties must hold whatever m is, and the leads of
        others be negative at m = 1, 2, …"""
        c = tied[0]
        for j in tied:
            is_apart = any(row[j] != row[c] for row in rows.values())
            if is_apart and any(map(self.sign, lead_of(rows, j, c).values())):
                return False
        rivals = doubtful(rows, c) & ({*allowed} - {*tied})
        return all(self.is_negative(lead_of(rows, j, c), layers) for j in rivals)

    def thresholds_stay(
        self, rows: dict[Term, list[int]], inside: list[int], allowed: list[int],
        layers: int | None, unit: int,
    ) -> bool:  # fmt: skip
        """The same for other attention than hardmax: nobody crosses the score of the last that
        counts; or, with a slack, that of the first less the slack, and it stays the first."""
        _require(not any(e for e, _, _ in rows), "budget: long jumps, and not hardmax")
        now = [0] * self.n
        for (_, _, k), row in rows.items():
            now = now if k else [*map(add, now, row)]
        if self.most is not None:
            if sum(map(self.counts.__getitem__, allowed)) <= self.most:
                return True
            mark = min(inside, key=now.__getitem__)
        else:
            mark = max(inside, key=now.__getitem__)
        (p, q), within = self.slack, {*inside}
        leads = []
        for j in allowed:
            if j not in within:
                leads.append(lead_of(rows, j, mark, q, p * unit))
            elif j != mark:
                leads.append(lead_of(rows, mark, j, q, -p * unit))
                if self.most is None:
                    leads.append(lead_of(rows, j, mark))
        return all(self.stays_negative(lead, layers) for lead in leads)

    def stays_negative(self, lead: Lead, layers: int | None) -> bool:
        """Whether a lead vanishes term by term, or is negative at m = 0, 1, …"""
        if not any(map(self.sign, lead.values())):
            return True
        return self.sign(self.value(lead, 0)) < 0 and self.is_negative(lead, layers)

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

    def check_limits(self, form: ClosedForm, scale: int, leaders: dict[int, int]) -> None:
        """Statement 5, of every description: it is true of one of its points, and all others end
        where that one does."""
        ends = {e: table for (e, r, k), table in form.items() if not r and not k}
        steps = {e: table for (e, r, k), table in form.items() if not r and k}
        steps = steps or {0: [[0] * self.n for _ in range(self.d)]}
        drifting = zip(*chain(*steps.values()), strict=True)
        self.moving = {i for i, way in enumerate(drifting) if any(way)}
        members: dict[int, list[int]] = {}
        for i, number in enumerate(self.document["limit_of"]):
            members.setdefault(number, []).append(i)
        for number, points in members.items():
            limit, first = self.document["limits"][number], points[0]
            self.part = f"the limit of point {first}"
            kept = steps if "moves" in limit else ends
            self.charge(len(points) * self.d)
            is_true = ("moves" in limit) == (first in self.moving)
            is_true = is_true and self.is_limit(kept, scale, first, limit, leaders)
            said = ENCODER.encode(limit)
            _require(is_true, f"limits: of point {first} it is false that {said}")
            apart = self.apart(kept, points)
            if "moves" not in limit:
                apart = [*apart, *self.moving.intersection(points)]
            _require(not apart, f"limits: of point {[*apart, 0][0]} it is false that {said}")

    def apart(self, z: PowerSum, points: list[int]) -> list[int]:
        """Those of some points that are not where the first one is."""
        first = points[0]
        if len(z) > 1:
            return [i for i in points if not self.coincide(z, first, i)]
        (table,) = z.values()
        far = {i for column in table for i in points if column[i] != column[first]}
        return sorted(far)

    def is_limit(
        self, x: PowerSum, scale: int, i: int, limit: dict[str, Any], leaders: dict[int, int]
    ) -> bool:
        """Statement 5: what is said of x_i is true; and there the point ends, since g^m C(m, k)
        tends to 0. `vertex`: that leader sits at x_i. `point`: it is x_i. `face`: x_i is the mean
        of such leaders by the weights, which are all that lie furthest along A x_i: so x_i is in
        the face of the leaders' hull furthest out there. `moves`: x_i is by what it moves."""
        if "vertex" in limit:
            vertex = limit["vertex"]
            return vertex in leaders and self.coincide(x, i, vertex)
        point = [self.number(text) for text in limit.get("point") or limit["moves"]]
        weights = [self.number(text) for text in limit.get("weights", [])]
        self.charge(5 * self.d, [*chain(*x.values()), [scale]], point)
        for k, (p, q) in enumerate(point):
            there = [(e, q * table[k][i]) for e, table in x.items()]
            if self.sign(total([(0, -p * scale), *there])):
                return False
        return "face" not in limit or self.is_on_face(x, i, limit["face"], weights, leaders)

    def is_on_face(
        self, x: PowerSum, i: int, face: list[int], weights: Any, leaders: dict[int, int]
    ) -> bool:
        """Whether x_i is the mean of the leaders furthest along A x_i by these weights."""
        if self.layer["heads"] is not None or len(weights) != len(face):
            return False
        rows = [*chain(*x.values())]
        common = self.common_multiple([q for _, q in weights])
        products = self.d * (9 * len(weights) + len(rows[0]))
        self.charge(products, rows, [[common], *weights], held=len(weights))
        parts = [p * (common // q) for p, q in weights]
        if sum(parts) != common or face != self.furthest(self.heads[0], x, i, sorted(leaders)):
            return False
        parts, members = [*parts, -common], [*face, i]
        for k in range(self.d):
            way = {e: sum(map(mul, parts, map(x[e][k].__getitem__, members))) for e in x}
            if self.sign(way):
                return False
        return True


def along(head: Head, vector: Any) -> Any:
    """A times a vector, up to a positive factor."""
    if head.metric is None:
        return vector
    return [sum(map(mul, row, vector)) for row in head.metric]


def mean_of(
    column: list[int], first: list[int], share: dict[int, list[tuple[int, int]]], factor: int
) -> list[int]:
    """A factor times the mean of what each point attends to: one point, or several by shares."""
    means = [*map(column.__getitem__, first)]
    if factor > 1:
        means = [factor * x for x in means]
    for i, several in share.items():
        parts = sum(count * column[j] for j, count in several)
        means[i] = parts * (factor // sum(count for _, count in several))
    return means


def lead_of(rows: dict[Term, list[int]], j: int, c: int, times: int = 1, more: int = 0) -> Lead:
    """The lead of j over c, from the scores of all, times a factor, and a number more."""
    lead: Lead = {(0, 0): {0: more}} if more else {}
    for (e, r, k), row in rows.items():
        part = lead.setdefault((r, k), {})
        part[e] = part.get(e, 0) + times * (row[j] - row[c])
    return lead


def doubtful(rows: dict[Term, list[int]], c: int) -> set[int]:
    """All points but those whose lead over c, which is negative now, is sure to stay negative.

    It is a sum of terms a g^(e + r m) C(m, k). If e is always 0, and t = g^m, those without k are
    b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with b0 = a0, b1 = a1 + 2 a0, and for b2 the lead now. So it is
    negative for ever if b0, b1 and all a with k > 0 are 0 or less; if not, it is looked into."""
    if any(e for e, _, _ in rows):
        return {*range(len(next(iter(rows.values()))))}
    tests = [row for (_, _, k), row in rows.items() if k]
    tests.append(rows[0, 0, 0])
    if (0, 1, 0) in rows:
        tests.append([x + 2 * y for x, y in zip(rows[0, 1, 0], rows[0, 0, 0], strict=True)])
    return {j for row in tests if max(row) > row[c] for j, x in enumerate(row) if x > row[c]}


def is_decimal(cell: str) -> bool:
    """Whether a cell is a decimal number."""
    return re.fullmatch(CELL, cell) is not None


def read_decimal(cell: str) -> tuple[int, int]:
    """A decimal number: numerator and denominator."""
    digits, _, power = cell.lower().partition("e")
    whole, _, behind = digits.partition(".")
    _require(len(power) < 9 and abs(int(power or "0")) <= MOST_EXPONENT, "cloud: a large exponent")
    exponent = int(power or "0") - len(behind)
    number = int(whole + behind)
    return number * 10 ** max(0, exponent), 10 ** max(0, -exponent)


def read_npy(data: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Width and numbers of an array of NumPy: numerators and denominators, row by row."""
    small = data[6:7] == b"\x01"
    start = 10 if small else 12
    (length,) = struct.unpack("<H" if small else "<I", data[8:start])
    header = re.fullmatch(NPY, data[start : start + length])
    _require(data[:6] == b"\x93NUMPY" and header, "cloud: not an array of <f8 of two dimensions")
    assert header is not None
    n, d = int(header[2]), int(header[3])
    body = data[start + length :]
    _require(n and d and len(body) == 8 * n * d, "cloud: an array of another size")
    numbers = struct.unpack(f"<{n * d}d", body)
    if header[1] == b"True":
        numbers = [numbers[n * k + i] for i in range(n) for k in range(d)]
    try:
        return d, [*map(float.as_integer_ratio, numbers)]
    except (OverflowError, ValueError):
        raise Stop("cloud: a number is infinite or none") from None


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
        _require(is_small, "larger than 16 MB; allow more by FILE EFFORT")
        certificate = json.loads(path.read_bytes(), object_pairs_hook=once)
        verdict = verify(certificate, effort=factor, folder=path.parent)
    except (Stop, OSError, ValueError, RecursionError) as error:
        verdict = Verdict(False, f"unreadable as JSON: {error}")
    if verdict:
        word, code = "accepted", 0
    elif not verdict.decided:
        word, code = "undecided", 3
    else:
        is_unread = verdict.reason.startswith(("unreadable", "version"))
        word, code = "refused", 2 if is_unread else 1
    print("\n".join([f"{word}: {verdict.reason}", *verdict.sentences()]))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
