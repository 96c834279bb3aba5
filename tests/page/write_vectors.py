"""Write what Python says of many clouds and certificates, for the tests of the page's exact
arithmetic and checker.

python tests/page/write_vectors.py FOLDER [--clouds N] [--problems N] [--mutations N] [--costly]
"""

import argparse
import json
import random
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from hostile_certificates import COSTLY, READ
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from known import CLAUSES, KNOWN, SQUARE
from layer_problems import draw
from strategies import any_metric_problems, hard_floats, problems, spd_metrics
from test_certificate import is_negative, leads, mutated, signed

import hardmax as hm
from hardmax.certificate import Stop, once, verify

LAYERS = 3  # of each cloud that are compared one by one
MOST_LAYERS = 25  # of problems with other layers
FAR = [[2 - 2.0**-14, 2], [2 - 2.0**-14, -2], [2, 1], [2, -1], [0.5, 0]]
FAR += [[2.0**-14 - 2, 2], [0, 1]]
"""The first five take 10,000 layers or more, the last two are a leader and halfway between two."""
EFFORT = 0.02  # of a check: what costs more is compared nowhere


def drawn(strategy: Any, count: int) -> list[Any]:
    """So many examples of a strategy, the same ones every time."""
    found = []

    @settings(
        max_examples=count, database=None, derandomize=True, deadline=None, phases=[Phase.generate]
    )
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found[:count]


@st.composite
def hard_problems(draw: Any) -> Any:
    """Floats of every scale, with a metric."""
    cloud = draw(hard_floats())
    step = draw(st.sampled_from([0.1, 0.5, 1.0, "1/3"]))
    return cloud, draw(spd_metrics(cloud.shape[1])), step


def larger(count: int) -> list[Any]:
    """Clouds of up to 200 tokens: on a coarse grid, where many tie, and anywhere."""
    rng, clouds = np.random.default_rng(0), []
    for k in range(count):
        shape = int(rng.integers(20, 200)), int(rng.integers(1, 5))
        tokens = rng.standard_normal(shape) if k % 2 else rng.integers(-9, 10, shape) / 4
        clouds.append((tokens, None, float(rng.choice([0.1, 0.5, 2.5]))))
    return clouds


def all_problems(count: int) -> list[Any]:
    """Clouds with known limits, and so many others."""
    found: list[Any] = [(k.tokens, k.metric, k.alpha) for k in KNOWN]
    found += [(tokens, None, Fraction(alpha)) for tokens, alpha, *_ in CLAUSES.values()]
    # Small steps: the sets change after tens or hundreds of layers. The page takes none below
    # 0.001.
    found += [(tokens, None, "1/100") for tokens, *_ in CLAUSES.values()]
    found += [(CLAUSES["in front at the end"][0], None, "0.001")]
    large, some = count // 30, count // 6
    found += larger(large) + drawn(hard_problems(), some) + drawn(any_metric_problems(), some)
    return found + drawn(problems(), count - large - 2 * some)


def plain(numbers: Any) -> Any:
    """Fractions as texts, floats as they are: JSON keeps every digit of both."""
    if isinstance(numbers, np.ndarray | list):
        rows = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
        return [plain(value) for value in rows]
    return str(numbers) if isinstance(numbers, Fraction) else numbers


def told(problem: Any, multiplicities: list[int] | None, max_layers: int | None) -> dict[str, Any]:
    """A problem and what Python says of it."""
    tokens, metric, alpha = problem
    counts = multiplicities or [1] * len(tokens)
    batch = hm.Clouds(tokens, [0, len(tokens)], counts)
    dynamics = hm.Dynamics(alpha, metric)
    (lim,) = hm.limits(batch, dynamics, arithmetic="exact", max_layers=max_layers)
    run, settled = lim.run, lim.settled_at is not None
    layers = range(LAYERS + 1 if settled else min(LAYERS, run.layers) + 1)
    ends: dict[str, Any] = dict.fromkeys(("kinds", "exact_limit_points", "floats", "certificate"))
    if settled:
        ends["kinds"] = [str(lim.clusters.kind_of(token)) for token in range(lim.n)]
        ends["exact_limit_points"] = plain(lim.exact_limit_points())
        ends["floats"] = lim.limit_points.tolist()
        ends["certificate"] = lim.prove().to_json()
    since = run.leader_since.tolist()
    layer_by_layer = []
    for k in layers:
        attended = run.attended(k).tolist()
        layer_by_layer.append({"floats": run.at(k).tolist(), "attended": attended})
    found = {"tokens": plain(tokens), "multiplicities": multiplicities}
    found |= {"metric": plain(metric), "alpha": plain(alpha), "max_layers": max_layers}
    found |= {"settled_at": lim.settled_at, "stopped": lim.stop_reason}
    found["leaders"] = [[point, layer] for point, layer in enumerate(since) if layer >= 0]
    found["of_token"] = run.points.of_token.tolist()
    return found | ends | {"layers": layer_by_layer}


def clouds(count: int) -> list[dict[str, Any]]:
    rng = random.Random(0)
    found = []
    for k, problem in enumerate(all_problems(count)):
        multiplicities = [rng.randint(1, 3) for _ in problem[0]] if k % 7 == 0 else None
        # Where tokens never settle, few of the 500 layers are enough, mostly.
        max_layers = 40 if k % 40 and not hm.Dynamics(*problem[:0:-1]).is_definite else None
        found.append(told(problem, multiplicities, max_layers))
    return found


def other_texts() -> list[str]:
    """The texts of certificates, written otherwise: some say the same, some are no JSON, some say
    another thing."""
    proof = hm.limit(SQUARE, hm.Dynamics("1/2")).prove()
    text = json.dumps(proof, separators=(",", ":"))
    versions = ("2.0", "2e0", "02", "+2", "2.", "true", '"2"', "2 ", "-2")
    settled = ("0.0", "0e-1", "NaN", "Infinity", "0x0", "0n", "null", "18446744073709551616")
    steps = ("1/2\t", r"1/2\n", "½", r"\u0661/2", r"1\/2", r"\u0031/2", "0.5", "#1/2", " 1/2")
    twice = '"version":2,"version":2'
    odd = ('"__proto__":{},"version":2', r'"\u0076ersion":2', "'version':2", "version:2", twice)
    swaps = [('"version":2', f'"version":{version}') for version in versions]
    swaps += [('"settled_at":0', f'"settled_at":{layer}') for layer in settled]
    swaps += [('"alpha":["1/2"]', f'"alpha":["{step}"]') for step in steps]
    swaps += [('"version":2', other) for other in odd]
    swaps += [('"mask":null', f'"mask":{mask}') for mask in ("nu ll", "[]", "0", '"#0"')]
    ends = [text + end for end in (" ", "\n\n", "x", "}", "\x00", "//")]
    ends += ["\ufeff" + text, " \t\r\n" + text, text[:-1]]
    others = [text.replace(old, new, 1) for old, new in swaps]
    return others + ends + ["", "null", "[]", "1", '"x"', "{}"]


def certified(numbers: range) -> list[dict[str, Any]]:
    """Certificates of problems with layers of every kind."""
    found = []
    for number in numbers:
        problem = draw(number)
        lim = hm.limit(problem.cloud, problem.dynamics, max_layers=MOST_LAYERS)
        try:
            found.append(dict(lim.prove()))
        except hm.InputError:  # no proof was found, or it cannot be written down
            continue
    return found


def judged(text: str) -> dict[str, Any]:
    """What Python says of a text."""
    try:
        document = json.loads(text.encode(), object_pairs_hook=once)
        verdict = verify(document, effort=EFFORT)
    except (Stop, ValueError):  # nothing that could be checked
        return {"text": text, "accepted": False, "decided": True, "sentences": []}
    accepted, decided = verdict.accepted, verdict.decided
    sentences = verdict.sentences()
    return {"text": text, "accepted": accepted, "decided": decided, "sentences": sentences}


def telling() -> list[dict[str, Any]]:
    """Certificates that are true, or nearly: a radius that is a little too large, and top-k of
    another k."""
    found = []
    for cloud in ([[2], [-2], [1]], [[2, 0], [0, 1.5], [-1, -1]]):
        proof = dict(hm.limit(cloud, hm.Dynamics(1)).prove(radius=True))
        larger = str(Fraction(proof["radius"]) * Fraction(5, 4))
        found += [proof, signed(proof | {"radius": larger})]
    valued = hm.Dynamics(3, value=[[2, 0], [0, 2]])
    found.append(dict(hm.limit(SQUARE, valued).prove()))
    for k in (1, 2, 3):
        several = hm.Dynamics(1, attention=hm.TopK(k))
        proof = hm.limit([[5], [3], [-4], [-1]], several).prove()
        for said in (1, 2, 3):
            layer = proof["layer"] | {"attention": {"topk": said}}
            found.append(signed(dict(proof) | {"layer": layer}))
    return found


def certificates(problems: int, mutations: int) -> list[dict[str, Any]]:
    rng, true = random.Random(0), certified(range(problems))
    far = [hm.limit(FAR, hm.Dynamics(alpha)) for alpha in (1, 3)]
    true += [*telling(), *(dict(lim.prove()) for lim in far)]
    forged = []
    for k in range(mutations):
        document = rng.choice(true)
        for _ in range(1 + k % 2):
            document = mutated(document, rng)
        forged.append(signed(document))
    texts = other_texts() + [json.dumps(document) for document in [*true, *forged]]
    return [judged(text) for text in texts]


def signs(count: int) -> list[dict[str, Any]]:
    """Leads that may be 0 at a layer, or above it between two, and whether they are negative at all
    layers."""
    some_layers = st.none() | st.integers(1, 12)
    sinking = {(1, 0): {0: 1}, (1, 1): {0: -3}, (2, 0): {0: -4}}
    cases = drawn(st.tuples(leads(), some_layers), count)
    cases.append(((Fraction(1, 2), sinking), None))
    found = []
    for (keep, lead), layers in cases:
        parts = []
        for key, part in lead.items():
            parts.append([*key, [[str(e), str(c)] for e, c in part.items()]])
        case = {"keep": keep.as_integer_ratio(), "lead": parts, "layers": layers}
        found.append(case | {"negative": is_negative(keep, lead, layers)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clouds", type=int, default=1000)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--mutations", type=int, default=3000)
    parser.add_argument(
        "--costly",
        action="store_true",
        help="hostile files that are large or may take seconds, too",
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # metrics to which the theorem does not apply
    args.folder.mkdir(parents=True, exist_ok=True)
    vectors = {
        "clouds": clouds(args.clouds),
        "certificates": certificates(args.problems, args.mutations),
        "signs": signs(min(args.mutations, 12_000)),
    }
    for name, content in vectors.items():
        (args.folder / f"{name}.json").write_text(json.dumps(content))
    expected = {}
    (args.folder / "hostile").mkdir(exist_ok=True)
    long = "layers without end"
    costly = COSTLY if args.costly else {long: COSTLY[long]}
    for name, (verdict, make) in (READ | costly).items():
        document = make()
        if args.costly or len(document) <= 2**20:
            (args.folder / "hostile" / name).write_bytes(document)
            # These are true: Python's checker only gives up on their cost, for which the page's
            # may have the time.
            is_true = args.costly and name == "many points on a circle"
            if is_true and hm.verify(json.loads(document), effort=10_000):
                verdict = "true"
            expected[name] = verdict
    (args.folder / "hostile.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
