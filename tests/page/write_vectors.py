"""Write what Python says of many clouds and certificates, for the tests of the page's exact
arithmetic and checker.

python tests/page/write_vectors.py FOLDER [--clouds 1000] [--mutations 3000] [--costly]
"""

import argparse
import json
import random
import sys
import tempfile
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from hostile_certificates import COSTLY, READ, certificate
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from known import CLAUSES, KNOWN, SQUARE, rational
from strategies import any_metric_problems, hard_floats, problems, spd_metrics
from test_certificate import EXAMPLES, TAMPERED, bare, certified, changed, leads, mutated, signed

import hardmax as hm

LAYERS = 3  # of each cloud that are compared one by one


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


def hard_problems() -> Any:
    """Floats of every scale, with a metric."""
    steps = st.sampled_from([0.1, 0.5, 1.0, "1/3"])
    return hard_floats().flatmap(
        lambda cloud: st.tuples(st.just(cloud), spd_metrics(cloud.shape[1]), steps)
    )


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
        return [
            plain(value)
            for value in (numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)
        ]
    return str(numbers) if isinstance(numbers, Fraction) else numbers


def told(problem: Any, multiplicities: list[int] | None, max_layers: int | None) -> dict[str, Any]:
    """A problem and what Python says of it."""
    tokens, metric, alpha = problem
    cloud = (
        tokens if multiplicities is None else hm.Ragged(tokens, [0, len(tokens)], multiplicities)
    )
    found = hm.limit(cloud, hm.Dynamics(alpha, metric), arithmetic="exact", max_layers=max_layers)
    lim: Any = found if isinstance(found, hm.Limit) else found[0]
    run, settled = lim.run, lim.settled_at is not None
    layers = range(LAYERS + 1 if settled else min(LAYERS, run.layers) + 1)
    return {
        "tokens": plain(tokens),
        "multiplicities": multiplicities,
        "metric": plain(metric),
        "alpha": plain(alpha),
        "max_layers": max_layers,
        "settled_at": lim.settled_at,
        "stopped": lim.stop_reason,
        "leaders": [
            [point, since]
            for point, since in enumerate(run.details.leader_since.tolist())
            if since >= 0
        ],
        "of_token": run.details.points.of_token.tolist(),
        "kinds": [str(lim.clusters.kind_of(token)) for token in range(lim.n)] if settled else None,
        "exact_limit_points": plain(lim.exact_limit_points) if settled else None,
        "floats": lim.limit_points.tolist() if settled else None,
        "certificate": lim.certificate.to_json() if settled else None,
        "layers": [
            {"floats": run.at(k).tolist(), "attended": run.attended(k).tolist()} for k in layers
        ],
    }


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
    text = json.dumps(EXAMPLES["late leader"], separators=(",", ":"))
    swaps = [
        ('"version":1', f'"version":{one}')
        for one in ("1.0", "1e0", "01", "+1", "1.", "true", '"1"', "1 ", "-1")
    ]
    swaps += [
        ('"from":0', '"from":-0'),
        ('"from":0', '"from":0.0'),
        ('"settled_at":1', '"settled_at":1.0'),
    ]
    swaps += [
        ('"settled_at":1', f'"settled_at":{odd}')
        for odd in ("10e-1", "NaN", "Infinity", "0x1", "1n", "null")
    ]
    swaps += [
        ("[0,0]", odd) for odd in ("[-0,-0]", "[0,0,]", "[0.0,0]", "[0,18446744073709551616]")
    ]
    swaps += [
        ('"alpha":"1/2"', rf'"{key}":"{one}"')
        for key, one in ((r"\u0061lpha", "1/2"), ("alpha", r"\u0031/2"))
    ]
    swaps += [
        ('"alpha":"1/2"', odd)
        for odd in ("'alpha':\"1/2\"", 'alpha:"1/2"', '"alpha":"1/2","alpha":"1/2"')
    ]
    swaps += [
        ('"alpha":"1/2"', f'"alpha":"{odd}"')
        for odd in ("1/2\t", r"1/2\n", "½", r"\u0661/2", r"1\/2", "0.5")
    ]
    swaps += [('"alpha":"1/2"', '"__proto__":{},"alpha":"1/2"'), ('"metric":null', '"metric":[]')]
    ends = [text + end for end in (" ", "\n\n", "x", "}", "\x00", "//")] + [
        "\ufeff" + text,
        " \t\r\n" + text,
        text[:-1],
    ]
    return (
        [text.replace(old, new, 1) for old, new in swaps]
        + ends
        + ["", "null", "[]", "1", '"x"', "{}"]
    )


def almost_true() -> list[Any]:
    """Certificates of which just one condition does not hold."""
    edge, centre = (certified(SQUARE + rational(token)) for token in ("1 0", "0 0"))
    return [
        # Weights that do not add to 1 have the same mean, if that is 0; one too many may be 0.
        changed(centre, "limits", 4, "weights", to=["1/8"] * 4),
        changed(centre, "limits", 4, "weights", to=[*["1/4"] * 4, "0"]),
        # The middle of an edge stays where it is, but does not lead.
        changed(edge, "limits", 4, to={"vertex": 4}),
        # The same point twice, as if it were two that have met.
        json.loads(
            certificate(
                [["1"]] * 2,
                attended=[{"from": 0, "sets": [[0, 1]] * 2}],
                limits=[{"vertex": 0}] * 2,
            )
        ),
    ]


def is_accepted(text: bytes) -> bool:
    """Whether Python accepts a file."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text)
        file.flush()
        try:
            return bool(hm.verify(file.name))
        except ValueError:  # nothing that could be checked
            return False


def certificates(mutations: int) -> list[dict[str, Any]]:
    rng = random.Random(0)
    forged = [
        changed(EXAMPLES[name], *path, to=value)
        for name, path, values, _ in TAMPERED
        for value in values
    ]
    forged += almost_true() + [example | {"sha256": "0" * 64} for example in EXAMPLES.values()]
    for k in range(mutations):
        document = rng.choice(list(EXAMPLES.values()))
        for _ in range(1 + k % 2):
            document = mutated(document, rng)
        forged.append(signed(document))
    texts = other_texts() + [json.dumps(document) for document in [*EXAMPLES.values(), *forged]]
    return [{"text": text, "accepted": is_accepted(text.encode())} for text in texts]


def signs(count: int) -> list[dict[str, Any]]:
    """Leads that may be 0 at a layer, or above it between two, and whether they are negative at all
    layers."""
    cases = drawn(st.tuples(leads(), st.one_of(st.none(), st.integers(1, 12))), count)
    return [
        {
            "keep": keep.as_integer_ratio(),
            "lead": [
                [*key, [[str(e), str(c)] for e, c in part.items()]] for key, part in lead.items()
            ],
            "layers": layers,
            "negative": bare(keep).is_negative(lead, layers),
        }
        for (keep, lead), layers in cases
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clouds", type=int, default=1000)
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
        "certificates": certificates(args.mutations),
        "signs": signs(4 * args.mutations),
    }
    for name, content in vectors.items():
        (args.folder / f"{name}.json").write_text(json.dumps(content))
    expected = {}
    (args.folder / "hostile").mkdir(exist_ok=True)
    for name, (verdict, make) in (READ | (COSTLY if args.costly else {})).items():
        document = make()
        if args.costly or len(document) <= 2**20:
            (args.folder / "hostile" / name).write_bytes(document)
            # These two are true: Python's checker only gives up on their cost, for which the page's
            # may have the time.
            is_true = args.costly and name in ("a wide metric", "a wide point")
            expected[name] = (
                "true" if is_true and hm.verify(json.loads(document), effort=10_000) else verdict
            )
    (args.folder / "hostile.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
