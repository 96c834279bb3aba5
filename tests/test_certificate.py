"""The checker of certificates: what is true passes, by the oracle; nothing else does."""

import copy
import hashlib
import itertools
import json
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certificate_truth import is_true
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from known import CLAUSES, CUBE, KNOWN, SQUARE, rational, turned
from layer_problems import draw
from oracle import Matrix
from strategies import any_metric_problems, problems

from hardmax import Dynamics, Localmax, limit
from hardmax import certificate as checker
from hardmax import verify as verify_of
from hardmax.certificate import verify

Document = dict[str, Any]
CHECKER = Path(checker.__file__)


def signed(document: Document) -> Document:
    rest = {key: value for key, value in document.items() if key != "sha256"}
    digest = hashlib.sha256(text(rest).encode())
    return rest | {"sha256": digest.hexdigest()}


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def certified(tokens: Any, alpha: Any = 1, metric: Matrix | None = None) -> Document:
    return dict(limit(tokens, Dynamics(alpha, metric)).prove())


HALF = Fraction(1, 2)
INNER = rational("1/2 0, 3/10 1/10, 0 0")
[EMERGING] = [known for known in KNOWN if known.name == "emerging leader"]
EXAMPLES = {"line": certified(rational("3, 1, 1/7, -1/4, -2"), HALF)}
EXAMPLES["square"] = certified(SQUARE + rational("1/2 0"), HALF)
EXAMPLES["turned"] = certified(turned(SQUARE + rational("1/2 0, -1/2 0")), HALF)
EXAMPLES["late leader"] = certified(EMERGING.tokens, HALF)
EXAMPLES["repeated"] = certified([*SQUARE, *SQUARE[:1], *INNER])
METRIC = rational("2 1, 1 1")
EXAMPLES["metric"] = certified(rational("1 0, -1 2, -1 0, 1 -2, 0 1/2"), 2, METRIC)
# The last token ties two that are on their way to the first two, until it is level with them,
# after 12 layers.
EXAMPLES["chain"] = certified(rational("7/4 2, 7/4 -2, 2 1, 2 -1, 1/2 0"), HALF)
EXAMPLES["cube"] = certified(CUBE + rational("1/3 0 0, 1/3 1/3 0"), Fraction(1, 3))


def changed(document: Document, *path: Any, to: Any) -> Document:
    """A copy with another value at a place, its digest in order again: only the mathematics can
    find it out."""
    forged = copy.deepcopy(document)
    *way, last = path
    place = forged
    for step in way:
        place = place[step]
    place[last] = to
    return signed(forged)


# What is true is accepted

any_problems = st.one_of(problems(max_d=4, max_n=8), any_metric_problems(max_d=3, max_n=6))


@settings(max_examples=examples(100))
@given(any_problems)
def test_true_certificates_are_accepted_and_what_they_say_comes_true(problem):
    tokens, metric, alpha = problem
    lim = limit(tokens, Dynamics(alpha, metric), max_layers=40)
    assume(lim.settled_at is not None)
    document = dict(lim.prove())
    assert verify(document), verify(document).reason
    assert is_true(document)


def test_points_that_meet_lead_together_where_the_metric_lets_them_meet():
    # Each attends to the other, and after a layer of alpha = 1 both sit at 0.
    document = certified(rational("1, -1"), 1, rational("-1"))
    assert document["leaders"] == [[0, 1], [1, 1]]
    assert verify(document)
    swapped = changed(document, "limits", to=[{"vertex": 1}])
    assert verify(swapped)


def test_without_any_leader_limits_are_bare_points():
    document = certified(rational("1, -2, 4"), 1, rational("0"))
    assert document["leaders"] == []
    assert document["limits"] == [{"point": ["1"]}]
    assert document["limit_of"] == [0, 0, 0]
    assert verify(document)
    face = {"face": [], "weights": [], "point": ["1"]}
    assert not verify(changed(document, "limits", 0, to=face))


@pytest.mark.parametrize("name", CLAUSES)
def test_sets_are_settled_when_it_is_certain_that_they_last(name):
    tokens, alpha, settled_at, changes = CLAUSES[name]
    document = certified(tokens, Fraction(alpha))
    assert document["settled_at"] == settled_at
    assert [entry["from"] for entry in document["attended"]] == changes
    assert verify(document)
    later = [[settled_at + 1, None, 1]]
    assert verify(changed(document, "jumps", to=later))
    if changes[-1]:
        early = verify(changed(document, "jumps", to=[[0, None, 1]]))
        assert early.reason == "settled_at: before the last change"
    for k, layer in enumerate(changes[:-1]):
        silent = {"attended": document["attended"][: k + 1], "settled_at": layer}
        silent["jumps"] = [[layer, None, 1]]
        reason = verify(signed(document | silent)).reason
        assert reason.startswith(("settled_at: the sets of", "jumps: targets move"))


# Its arithmetic, on numbers that no cloud has to have


def bare(keep: Fraction) -> checker.Powers:
    """A check of nothing, for its arithmetic."""
    powers = checker.Powers(1)
    powers.contraction = keep.numerator, keep.denominator
    return powers


SHARES = [(1, 2), (2, 3), (1, 11), (10, 11)]
KEEP = st.sampled_from([Fraction(*share) for share in SHARES])
exponents = st.sampled_from([0, 1, 2, 3, 70, 71])
some_terms = st.dictionaries(exponents, st.integers(-9, 9), max_size=5)


@given(KEEP, some_terms, st.integers(0, 3))
def test_the_sign_of_a_sum_of_powers_is_that_of_fractions(keep, terms, shift):
    truth = sum(c * keep**e for e, c in terms.items())
    check = bare(keep)
    later = {e + 10**15: c for e, c in terms.items()}
    sign = (truth > 0) - (truth < 0)
    assert check.sign(later) == sign
    far = check.total(later.items())
    assert (far > 0) - (far < 0) == sign
    # A sum that is 0, and a tail that then decides, however small.
    zero = {}
    if shift:
        zero = {0: -5 * keep.numerator**shift, shift: 5 * keep.denominator**shift}
    assert bare(keep).sign(zero) == 0
    assert bare(keep).sign(zero | {200: 1}) == 1


def test_what_adds_up_to_zero_far_out_costs_nothing():
    # -2 g^N + 3 g^(N + 1) is 0: no power as long as N is ever needed.
    far = 10**12
    assert bare(Fraction(2, 3)).sign({0: 1, far: -2, far + 1: 3}) == 1


@given(KEEP, st.integers(0, 300), st.integers(1, 90))
def test_a_power_is_enclosed(keep, exponent, bits):
    low, high = bare(keep).power(exponent, bits)
    assert low <= keep**exponent * 2**bits <= high <= low + 4 * exponent


LeadTerms = dict[tuple[int, int], dict[int, int]]


@st.composite
def leads(draw: st.DrawFn) -> tuple[Fraction, LeadTerms]:
    """A lead that is negative at layer 0 and may be 0 at a later layer, or above it between two: at
    t = s1 and s2."""
    keep = draw(KEEP)
    way = draw(st.sampled_from(["straight", "hump", "any"]))
    if way == "straight":
        numbers = st.integers(-30, 30)
        lead = {(r, 0): {0: draw(numbers)} for r in range(3)}
    elif way == "hump":
        places = st.tuples(st.integers(0, 5), st.integers(3, 8))
        drawn = draw(st.tuples(places, places))
        s1, s2 = (keep**m * Fraction(c, 8) for m, c in drawn)
        scale = s1.denominator * s2.denominator
        factors = -s1 * s2, s1 + s2, -1
        lead = {(r, 0): {0: int(c * scale)} for r, c in enumerate(factors)}
    else:
        keys = st.sampled_from([(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)])
        few = st.sampled_from([0, 1, 3])
        parts = st.dictionaries(few, st.integers(-12, 12), min_size=1, max_size=2)
        lead = {(0, 0): {0: 0}}
        lead |= draw(st.dictionaries(keys, parts, min_size=1))
        left = value(lead, keep, draw(st.integers(1, 6)))
        for part in lead.values():
            for e in part:
                part[e] *= left.denominator
        constant = lead[0, 0]
        constant[0] = constant.get(0, 0) - left.numerator
    assume(value(lead, keep, 0) < 0)
    return keep, lead


def value(lead: LeadTerms, keep: Fraction, m: int) -> Fraction:
    total = Fraction()
    for (r, k), part in lead.items():
        for e, c in part.items():
            total += c * keep ** (e + r * m) * math.comb(m, k)
    return total


def is_negative(keep: Fraction, lead: LeadTerms, layers: int | None) -> bool:
    """What the checker says of a lead."""
    check = bare(keep)
    terms = {key: check.total(part.items()) for key, part in lead.items()}
    return check.is_negative(terms, layers)


LEVEL_TWICE = {(0, 0): {0: -1}, (1, 1): {0: 2}}  # at layers 1 and 2
SINKING = {(1, 0): {0: 1}, (1, 1): {0: -3}, (2, 0): {0: -4}}
some_layers = st.one_of(st.none(), st.integers(1, 12))


@settings(max_examples=examples(4000))
@given(leads(), some_layers)
@example((HALF, LEVEL_TWICE), None)
@example((HALF, SINKING), None)
def test_a_lead_is_called_negative_if_it_is_so_at_every_layer(case, layers):
    keep, lead = case
    last = layers or 150
    truth = all(value(lead, keep, m) < 0 for m in range(1, last + 1))
    assert is_negative(keep, lead, layers) == truth


def test_a_slack_that_is_no_whole_number_is_that_of_the_layer():
    tokens = [[2], [1], [-2]]
    wide = Dynamics(1, attention=Localmax("7/3"))
    proof = limit(tokens, wide).prove()
    assert verify(proof)
    assert not verify(changed(proof, "layer", "attention", "localmax", to="5/3"))
    assert proof["cloud"]["multiplicities"] is None
    twice = limit([*tokens, [1]], wide).prove()
    assert twice["cloud"]["multiplicities"] == [1, 2, 1]


def test_weights_are_not_unique_and_may_be_zero():
    document = EXAMPLES["cube"]
    number = document["limit_of"][8]
    face = {"face": [0, 1, 2, 3], "point": ["1", "0", "0"]}
    for weights in ("1/4 1/4 1/4 1/4", "1/2 0 0 1/2", "1/8 3/8 3/8 1/8"):
        other = face | {"weights": weights.split()}
        assert verify(changed(document, "limits", number, to=other))


@pytest.mark.parametrize("weights", ["1 1", "1/4 1/4", "3/2 3/2", "0 0"])
def test_weights_of_the_origin_add_up_to_one(weights: str):
    # Any multiple of them has the same mean there.
    document = limit([[1], [0], [-1]], Dynamics("1/2")).prove()
    face = {"face": [0, 2], "point": ["0"], "weights": ["1/2", "1/2"]}
    number = document["limit_of"][1]
    assert verify(changed(document, "limits", number, to=face))
    other = face | {"weights": weights.split()}
    assert not verify(changed(document, "limits", number, to=other))


# What is false is refused, with its name

# A place in an example, values that make it false or no certificate, and what the reason begins
# with.
TAMPERED = r"""
square/version: [1, 3, true] => version:
square/layer/alpha: [["0"], "1/2", [0.5], ["-1/2"], ["1e9"], ["1\n"]] => shape: layer
square/layer/alpha: [["1/0"], ["\u0661"], []] => shape: layer
square/layer/alpha: [["2/4"]] => shape: 2/4 is not in lowest terms
square/layer/alpha: [["1/2", "1/2"]] => layer: the last two steps are one
late leader/layer/alpha: [["100"]] => layer 1: point
square/layer/metric: [[["2", "1"], ["1", "1"]]] => layer 0: point 1 does not attend
square/layer/metric: [[], [["1", "0"]]] => shape:
square/layer/value: [[["1", "0"], ["0", "1"]]] => layer: value and inverse
square/layer/mask: [["11111", "11111", "11111", "11111"]] => shape: lists of unequal length
square/layer/attention: [{"topk": 3}, {"localmax": "2"}] => layer 0: point
square/layer/attention: [{"topk": 0}, {"localmax": "-1"}, {}] => shape: layer
square/cloud/denominator: ["3"] => limits: of point 4
square/cloud/points/4: [["1", "1"]] => layer 0: point 4 does not attend to [0, 3]
square/cloud/points/4: [["1/2", "0"], "10", [1, 0], ["-0", "1"], ["1"]] => shape:
square/cloud/multiplicities: [[2, 1, 1, 1, 1]] => settled_at: the sets of layer 0
square/cloud/multiplicities: [[0, 0, 0, 0, 0], [true, true, true], Infinity] => shape: cloud
square/attended/0/to/4: [0] => layer 0: point 4 does not attend to [0]
square/attended/0/to/4: [[3, 0], [0, 5], 5, 1000000000000000000000] => shape: attended sets
square/attended/0/to/1: [true, -1, [], [1]] => shape: attended
late leader/attended/1/points/0: [0] => layer 1: point 0 does not attend
late leader/settled_at: [1.0, true, -1, NaN] => shape: settled_at
late leader/jumps: [[[0, null, 1]]] => settled_at: before the last change
late leader/jumps: [[[0, 2, 1], [2, null, 1]]] => jumps: sets change inside
late leader/jumps: [[[0, 1, 1], [0, null, 1]]] => jumps: not in order
late leader/jumps: [[], [[1, 2, 1]], [[1, null, -1]]] => shape: jumps
chain/jumps: [[[13, null, 0]]] => jumps: points move
chain/jumps: [[[13, null, 6]], [[13, null, 1000000000000000000000]]] => jumps: more steps than
chain/attended/1/from: [11] => layer 11: point 4 does not attend to [2, 3, 4]
chain/leaders/2: [[4, 12]] => leaders:
square/leaders: [[[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]], [[0, 0]]] => leaders:
line/limit_of/2: [1] => limits: of point 2 it is false that
line/limit_of/2: [2, 9] => shape:
line/limits/0: [{"vertex": 0, "unique": 1}, {"vertex": -1}, {}] => shape: limits
line/limits/0: [{"moves": ["1"]}, {"moves": ["0"]}] => limits: of point 0
square/limits/4: [{"vertex": 0}, {"point": ["1", "1/9"]}] => limits: of point 4
square/limits/4/point: [["1"], ["1", "0", "0"], ["2/2", "0"]] => shape:
square/limits/4/weights: [["1/3", "2/3"], ["1/2", "1/2", "1/2"]] => limits: of point 4
square/limits/4/face: [[3, 0], [0, 4], [0, 1]] => limits: of point 4
cube/limits/8/weights: [["3/4", "-1/4", "-1/4", "3/4"]] => shape: limits
square/author: ["me"] => shape: other keys
""".strip()


@pytest.mark.parametrize("line", TAMPERED.split("\n"))
def test_what_is_tampered_with_is_refused_by_its_name(line):
    place, rest = line.split(": ", 1)
    values, reason = rest.split(" => ")
    name, *path = place.split("/")
    for value in json.loads(values):
        assert_refused(name, [int(key) if key.isdigit() else key for key in path], value, reason)


def assert_refused(name: str, path: list[Any], value: Any, reason: str) -> None:
    verdict = verify(changed(EXAMPLES[name], *path, to=value))
    assert not verdict
    assert verdict.reason.startswith(reason)


def test_parts_that_are_too_many_too_few_or_of_another_kind_are_refused():
    attended = EXAMPLES["square"]["attended"]
    assert_refused("square", ["attended"], attended * 2, "attended:")
    mask = ["11111"] * 4 + ["11101"]
    assert_refused("square", ["layer", "mask"], mask, "layer 0: point 4 does not attend")
    head = {"metric": None, "weight": "1"}
    assert_refused("square", ["layer", "heads"], [head, head], "attended:")
    attended = EXAMPLES["late leader"]["attended"]
    assert_refused("late leader", ["attended"], attended[:1], "settled_at: not the last change")
    file = {"file": "a.npy", "sha256": "0" * 64}
    assert_refused("square", ["cloud"], file, "shape: cloud")


def test_a_limit_on_a_diagonal_that_is_no_edge_is_refused():
    # It is the middle of the diagonal, and its projection of the origin.
    diagonal = {"face": [0, 3], "weights": ["1/2", "1/2"], "point": ["1", "0", "0"]}
    assert_refused("cube", ["limits", 8], diagonal, "limits: of")


@pytest.mark.parametrize("document", EXAMPLES.values(), ids=EXAMPLES)
def test_nothing_but_the_digest_need_be_wrong(document: Document):
    assert verify(document)
    wrong = verify(document | {"sha256": "0" * 64})
    assert wrong.reason.startswith("sha256:")


STRANGE = [None, True, 0, 1.0, -1, 10**30, "", "1e9", [], {}]


def mutated(document: Document, rng: random.Random) -> Document:
    """A copy in which one thing is changed, removed, added, moved or replaced."""
    while True:
        forged = copy.deepcopy(document)
        place, key = rng.choice(list(every_slot(forged)))
        borrowed = rng.choice([there[key] for there, key in every_slot(document)])
        strange = [*STRANGE, [place[key]]]
        choices = [*nudged(place[key], rng), borrowed, rng.choice(strange)]
        place[key] = copy.deepcopy(rng.choice(choices))
        if text(forged) != text(document):
            return forged


def every_slot(value: Any):
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, dict | list) else ():
        yield value, key
        yield from every_slot(value[key])


def nudged(value: Any, rng: random.Random) -> list[Any]:
    if isinstance(value, int):
        return [value - 1, value + 1, value + 2, value + 10]
    if isinstance(value, str):
        k = rng.randint(2, 9)
        edited = [value + "0", value[:-1] + "7", "-" + value]
        return [*edited, f"1/{k}", str(k)]
    if isinstance(value, dict):
        gone = rng.choice([*value, None])
        rest = {key: item for key, item in value.items() if key != gone}
        return [rest, value | {"more": 1}]
    if not isinstance(value, list):
        return []
    i = rng.randrange(len(value) + 1)
    shorter, longer = value[:i] + value[i + 1 :], value + value[i : i + 1]
    return [shorter, longer, value[i:] + value[:i], []]


@pytest.mark.parametrize("mutations", [1, 2])
def test_of_thousands_of_mutations_with_a_new_digest_those_pass_that_are_true(mutations):
    rng = random.Random(mutations)
    passed = 0
    for _ in range(1000):
        forged = rng.choice(list(EXAMPLES.values()))
        for _ in range(mutations):
            forged = mutated(forged, rng)
        verdict = verify(signed(forged), effort=0.01)  # some say that they settle very late
        if verdict:
            passed += 1
            assert_true(forged)
    assert 3 < passed < 300


def assert_true(document: Document) -> None:
    """By the oracle, which writes every copy out: unless there are very many."""
    counts = document["cloud"]["multiplicities"] or [1]
    assert max(counts) > 99 or is_true(document)


def certificates_of_layers(numbers: range) -> list[Document]:
    """Those of problems that combine every part of a layer, as far as they are certified."""
    documents = []
    for number in numbers:
        problem = draw(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lim = limit(problem.cloud, problem.dynamics, max_layers=25)
        if lim.certified:
            documents.append(lim.prove())
    return documents


def test_certified_limits_of_any_layer_have_certificates_that_are_true():
    documents = certificates_of_layers(range(24))
    for document in documents:
        assert verify(document), verify(document).reason
        assert is_true(document)
    # Forged, with a new digest: what passes is true.
    rng = random.Random(3)
    for _ in range(150):
        forged = signed(mutated(rng.choice(documents), rng))
        if verify(forged, effort=0.01):
            assert_true(forged)


def test_a_certificate_is_about_one_cloud_and_one_layer(tmp_path: Path):
    tokens = np.random.default_rng(3).normal(size=(30, 2))
    tokens[7] = tokens[3]
    proof = limit(tokens, Dynamics("1/2")).prove()
    proof.save(tmp_path / "proof.json")
    for one in (proof, tmp_path / "proof.json"):
        verdict = verify_of(one, of=tokens, dynamics=Dynamics("1/2"))
        assert verdict.facts["tokens"] == 30
        assert verdict.sentences()
        assert verify_of(one, of=tokens + 1).reason.startswith("cloud: ")
        assert verify_of(one, dynamics=Dynamics(1)).reason.startswith("layer: ")
    # A file of 16 MB or less is read at any effort.
    assert verify_of(tmp_path / "proof.json", effort=1e-6).reason.startswith("budget: ")


ODD = [None, [], "x", 1, math.nan, {}, {"format": []}]
ODD += [{1: 2, "a": 3}, {"a": {1}}, {"a": 10**5000}, object()]


@pytest.mark.parametrize("odd", ODD, ids=itertools.count())
def test_odd_objects_are_refused(odd):
    assert not verify(odd)
