"""A record of what the package answers, to compare two commits.

    PYTHONPATH=src:tests python tools/golden.py record after.jsonl
    PYTHONPATH=OTHER/src:tests python tools/golden.py record before.jsonl
    python tools/golden.py compare before.jsonl after.jsonl
    python tools/golden.py recheck after.jsonl OTHER/src/hardmax/certificate.py
    python tools/golden.py rows OTHER/src src

OTHER is another checkout. Problems are drawn here, by kind and number, so that they are the same
for all commits: hard clouds in the paper's layer, small ones in layers that combine all parts,
batches, softmax and normalised blocks, clouds read in chunks, texts for each model that ships,
commands. `recheck` has the certificates of one commit checked by the checker of another; `rows`
prints the times of the README's rows, the two trees taking turns.

Choices, leaders, dates, clusters, kinds, exact positions and messages must be equal; floats may
differ by 1e-15 of the largest norm, or by what the runs themselves state as their error."""

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np

COUNTS = {"plain": 2000, "parts": 1500, "batch": 60, "soft": 80, "stream": 60, "text": 500}
FEW = 200  # tokens whose positions are written out; of larger clouds, their sums
CERTIFIED = 40  # tokens up to which certificates are made and checked
LAYERS = 4
MODELS = ("sentiment-en", "imdb", "imdb-best")
REVIEWS = Path(__file__).parents[2] / "shared/data/imdb/train.parquet"
SENTENCES = Path(__file__).parents[2] / "shared/data/mr/mr.parquet"
ALPHAS = ("1/2", "1", "2", "1/3", "3", "1/20")
COMMANDS = (
    "limit square.csv --alpha 1/2 --certificate proof.json",
    "limit square.csv --alpha 1/2 --check --json",
    "simulate square.csv --alpha 1/2 --layers 5",
    "simulate square.csv --alpha 0.1 --layers 3 --json",
    "verify proof.json",
    "models imdb",
    "explain 'An awful script, but the cast is great.'",
    "explain 'An awful script, but the cast is great.' --json",
    "limit missing.csv --alpha 1/2",
    "limit square.csv --alpha -1",
)


def digest(value: Any) -> str:
    """A short name for plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


# ---------------------------------------------------------------- problems


def choose(rng: np.random.Generator, several: Any) -> Any:
    """One of several."""
    return several[rng.integers(len(several))]


def hard_cloud(number: int) -> tuple[np.ndarray, dict[str, Any]]:
    """A hard cloud and the paper's layer, whose metric need not be one."""
    from soak.clouds import KINDS, make
    from soak.problems import draw_metric

    rng = np.random.default_rng([2026, number])
    kind = list(KINDS)[number % len(KINDS)]
    large = number % 50 == 49
    n = int(rng.integers(2000, 5000) if large else rng.integers(1, 80))
    d = int(rng.integers(1, 6) if large else rng.choice([1, 2, 2, 3, 3, 4, 5, 8, 20]))
    metric = str(rng.choice(["identity", "identity", "diagonal", "general", "any"]))
    tokens = make(kind, rng, n, d)
    layer = {"metric": draw_metric(rng, metric, d), "free": metric == "any"}
    return tokens, layer | {"alpha": str(rng.choice(["1/2", "1", "1/10", "1000"]))}


def matrix(rng: np.random.Generator, d: int) -> list[list[str]]:
    """Any matrix of small numbers, or one that is symmetric positive definite."""
    root = rng.integers(-2, 3, (d, d))
    return (root @ root.T + np.eye(d, dtype=int) if rng.random() < 0.5 else root).tolist()


def value_matrix(rng: np.random.Generator, d: int) -> list[list[str]]:
    """A multiple of the identity, of a projection, a nilpotent matrix, or any."""
    kind = choose(rng, ["multiple", "projection", "nilpotent", "any"])
    if kind == "any":
        return [[f"{x}/10" for x in row] for row in rng.integers(-3, 4, (d, d)).tolist()]
    if kind == "multiple" or d == 1:
        return (int(rng.integers(1, 4)) * np.eye(d, dtype=int)).tolist()
    u, v = rng.integers(-2, 3, (2, d))
    if kind == "nilpotent":
        u = u * (v @ v) - v * (u @ v)
    return np.outer(u, v).tolist()


def mask_of(rng: np.random.Generator, n: int) -> Any:
    """Causal, the token before, a window, or any; nobody is left without anybody."""
    kind = choose(rng, ["causal", "previous", "window", "any"])
    i, j = np.indices((n, n))
    if kind == "causal":
        return "causal"
    if kind == "previous":
        able = (j == i - 1) | ((i == 0) & (j == 0))
    elif kind == "window":
        able = (j <= i) & (j > i - 3)
    else:
        able = rng.random((n, n)) < choose(rng, [0.2, 0.5, 0.8])
        able[~able.any(axis=1), rng.integers(n)] = True
    return able.tolist()


def small_cloud(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Quarters, full of ties, some of them repeated."""
    tokens = rng.integers(-20, 21, (n, d)) / choose(rng, [1, 2, 4])
    return tokens[rng.integers(0, n, n)] if rng.random() < 0.3 else tokens


def combined(number: int) -> tuple[np.ndarray, dict[str, Any]]:
    """A small cloud and a layer that combines parts."""
    rng = np.random.default_rng([2027, number])
    n, d = int(rng.integers(3, 11)), int(rng.integers(1, 4))
    tokens = small_cloud(rng, n, d)
    layer: dict[str, Any] = {"alpha": choose(rng, ALPHAS), "max_layers": choose(rng, [12, 25, 60])}
    if rng.random() < 0.35:
        layer["heads"] = [
            [matrix(rng, d), int(rng.integers(1, 4)), choose(rng, [None, value_matrix(rng, d)])]
            for _ in range(rng.integers(1, 4))
        ]
    else:
        if rng.random() < 0.55:
            layer["metric"] = matrix(rng, d)
        if rng.random() < 0.4:
            layer["alpha"] = [choose(rng, ALPHAS) for _ in range(rng.integers(2, 5))]
        if rng.random() < 0.5:
            slack, k = choose(rng, [0, 1, 3, 10]), rng.integers(1, n + 1)
            layer["attention"] = choose(rng, [f"localmax:{slack}", f"topk:{k}"])
    if rng.random() < 0.5:
        layer["value"] = value_matrix(rng, d)
    if rng.random() < 0.5:
        layer["mask"] = mask_of(rng, n)
    if rng.random() < 0.2:
        hidden = int(rng.integers(1, 4))
        shapes = (hidden, d), (hidden,), (d, hidden), (d,)
        layer["feed_forward"] = [(rng.integers(-2, 3, s) / 4).tolist() for s in shapes]
        layer["max_layers"] = 12
    return tokens, layer


def batch(number: int) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Several clouds of one dimension, in the paper's layer, or with a mask or a value matrix."""
    rng = np.random.default_rng([2028, number])
    d = int(choose(rng, [1, 2, 3, 8]))
    clouds = [small_cloud(rng, int(rng.integers(1, 40)), d) for _ in range(rng.integers(1, 30))]
    if number % 2:
        clouds = [rng.standard_normal(cloud.shape) for cloud in clouds]
    layer: dict[str, Any] = {"alpha": choose(rng, ALPHAS), "max_layers": 60}
    if number % 3 == 1:
        layer["mask"] = "causal"
    if number % 4 == 1:
        layer["value"] = value_matrix(rng, d)
    return clouds, layer


def soft(number: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Softmax, a normalisation, or both."""
    rng = np.random.default_rng([2029, number])
    n, d = int(rng.integers(2, 12)), int(rng.integers(2, 5))
    layer: dict[str, Any] = {"alpha": choose(rng, ALPHAS)}
    if number % 3 != 1:
        layer["attention"] = f"softmax:{choose(rng, [1, 10, 100])}"
    if number % 3:
        layer["normalise"] = choose(rng, ["sphere", "layer"] if d > 2 else ["sphere"])
    if number % 4 == 1:
        layer["mask"] = "causal"
    if number % 5 == 1:
        layer["metric"] = matrix(rng, d)
    return rng.integers(-20, 21, (n, d)) / 4 + 1 / 8, layer


def streamed(number: int) -> tuple[np.ndarray, dict[str, Any]]:
    """A cloud that is read from a file in chunks."""
    rng = np.random.default_rng([2030, number])
    d, n = int(rng.integers(1, 5)), int(choose(rng, [1, 50, 3000, 20_000]))
    tokens = rng.standard_normal((n, d)) if number % 2 else small_cloud(rng, n, d)
    return tokens.astype(float), {"alpha": choose(rng, ALPHAS)}


def make_layer(hm: Any, parts: dict[str, Any]) -> Any:
    """The layer that parts describe."""
    given = {name: parts[name] for name in parts.keys() - {"max_layers", "free", "alpha"}}
    if "heads" in given:
        given["heads"] = [hm.Head(*head) for head in given["heads"]]
    if "feed_forward" in given:
        given["feed_forward"] = hm.FeedForward(*map(np.array, given["feed_forward"]))
    return hm.Dynamics(parts["alpha"], given.pop("metric", None), **given)


# ---------------------------------------------------------------- answers


def positions(table: np.ndarray) -> list:
    """Those of a few tokens, or the sum of many."""
    return table.tolist() if len(table) <= FEW else table.sum(axis=0).tolist()


def exactly(table: Any) -> str:
    """The digest of fractions."""
    return digest([[str(Fraction(x)) for x in row] for row in table])


def leaders_of(tokens: Any, layers: Any) -> dict[str, int]:
    """Leaders and the layers since which they lead."""
    return dict(zip(map(str, np.array(tokens).tolist()), np.array(layers).tolist(), strict=True))


def of_run(run: Any, *, exact: bool) -> dict[str, Any]:
    """What a run of a few layers tells."""
    last = run.layers
    found = {
        "attended": [digest(run.attended(layer).tolist()) for layer in range(last + 1)],
        "leaders": leaders_of(run.leaders, run.leader_layers),
        "at": positions(run.at(last)),
        "error": float(run.error),
    }
    return found | ({"exactly": exactly(run.at(last, exact=True))} if exact else {})


def of_limit(hm: Any, lim: Any, *, exact: bool, proof: bool) -> dict[str, Any]:
    """What a limit tells: where it is not settled, that, and why."""
    found = {"settled_at": lim.settled_at, "certified": bool(lim.certified)}
    if lim.settled_at is None:
        return found
    found["limit leaders"] = np.array(lim.leaders).tolist()
    try:
        found["points"] = positions(np.array(lim.limit_points))
        found["clusters"] = digest(np.array(lim.clusters.labels).tolist())
        found["kinds"] = digest([str(kind) for kind in lim.clusters.kinds])
        if exact:
            ends = lim.exact_limit_points
            found["exact points"] = exactly(ends() if callable(ends) else ends)
    except hm.InputError as error:  # some tokens move for ever
        found["endless"] = str(error)[:12]
    if proof and lim.certified:
        try:
            document = lim.prove() if hasattr(lim, "prove") else lim.certificate
        except hm.InputError:
            return found | {"accepted": None}
        found |= {"certificate": dict(document), "accepted": hm.verify(document).accepted}
    return found


def answer_plain(hm: Any, number: int) -> dict[str, Any]:
    """Four layers and the limit, if the theorem applies."""
    tokens, layer = hard_cloud(number)
    dynamics = make_layer(hm, layer)
    found = of_run(hm.simulate(tokens, dynamics, layers=LAYERS - 1), exact=len(tokens) <= CERTIFIED)
    if not layer["free"]:  # or tokens may move for ever
        small = len(tokens) <= CERTIFIED
        found |= of_limit(hm, hm.limit(tokens, dynamics), exact=small, proof=small)
    return found | {"norm": float(np.abs(tokens).max())}


def answer_parts(hm: Any, number: int) -> dict[str, Any]:
    """Four layers and the limit, as far as there is one."""
    tokens, layer = combined(number)
    dynamics = make_layer(hm, layer)
    found = of_run(hm.simulate(tokens, dynamics, layers=LAYERS - 1), exact=True)
    lim = hm.limit(tokens, dynamics, max_layers=layer["max_layers"])
    return found | of_limit(hm, lim, exact=True, proof=True) | {"norm": 1e4}


def answer_batch(hm: Any, number: int) -> dict[str, Any]:
    """The same of many clouds."""
    clouds, layer = batch(number)
    dynamics = make_layer(hm, layer)
    runs = hm.simulate(clouds, dynamics, layers=LAYERS - 1)
    many = hm.limits if callable(getattr(hm, "limits", None)) else hm.limit
    limits = many(clouds, dynamics, max_layers=layer["max_layers"])
    told = [(of_run(run, exact=False)["leaders"], run.settled_at) for run in runs]
    ends = [
        np.array(lim.clusters.labels).tolist()
        for lim in limits
        if lim.settled_at is not None and not len(getattr(lim, "moving", ()))
    ]
    found = {"runs": digest(told), "at": positions(np.concatenate([run.at(3) for run in runs]))}
    settled = [lim.settled_at for lim in limits]
    return found | {"settled_at": settled, "clusters": digest(ends), "norm": 1e4}


def answer_soft(hm: Any, number: int) -> dict[str, Any]:
    """Three layers, and whom tokens attend to where that is a choice."""
    tokens, layer = soft(number)
    run = hm.simulate(tokens, make_layer(hm, layer), layers=LAYERS - 1)
    found = {"layers": run.layers, "at": positions(np.array(run.at(run.layers))), "norm": 1e3}
    if "attention" not in layer:
        found["attended"] = [digest(run.attended(k).tolist()) for k in range(run.layers)]
    return found


def answer_stream(hm: Any, number: int) -> dict[str, Any]:
    """The limit of a file."""
    tokens, layer = streamed(number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.npy")
        np.save(path, tokens)
        lim = hm.limit(np.load(path, mmap_mode="r"), make_layer(hm, layer))
        found = {"settled_at": lim.settled_at, "certified": lim.certified, "norm": 1e2}
        if lim.settled_at is not None:
            chunks = list(lim.chunks())
            found["points"] = positions(np.concatenate([one["limit_points"] for one in chunks]))
            labels = np.concatenate([one["cluster"] for one in chunks])
            found["clusters"] = digest(labels.tolist())
            found["kinds"] = digest([str(kind) for kind in lim.clusters().kinds])
        return found


def texts() -> list[str]:
    """Sentences of films and whole reviews, none of them of a test split."""
    import pyarrow.parquet as pq

    sentences = pq.read_table(SENTENCES, filters=[("split", "!=", "test")])["text"].to_pylist()
    reviews = pq.read_table(REVIEWS, columns=["text"])["text"].to_pylist()
    return [*sentences[::24][:350], *reviews[::160][:150]]


_FOUND: dict[str, Any] = {}


def answer_text(hm: Any, number: int) -> dict[str, Any]:
    """The votes of a text, by each model."""
    if not SENTENCES.is_file():
        return {"skipped": "no texts are here"}
    found: dict[str, Any] = {"text": _FOUND.setdefault("texts", texts())[number]}
    for name in MODELS:
        model = _FOUND.setdefault(name, hm.load_model(name))
        why = model.explain(found["text"])
        votes = [
            [entry.word, *entry.modifiers, entry.active, *map(list, entry.spans)]
            for entry in sorted(why.ledger, key=lambda entry: entry.word)
        ]
        found[f"{name} votes"] = digest(votes)
        sums = [sum(entry.vote for entry in why.ledger), why.probability]
        found[f"at {name}"] = [sums]
    return found | {"norm": 1e3}


ANSWERS: dict[str, Callable[[Any, int], dict[str, Any]]] = {
    "plain": answer_plain,
    "parts": answer_parts,
    "batch": answer_batch,
    "soft": answer_soft,
    "stream": answer_stream,
    "text": answer_text,
}


def answer(kind: str, number: int) -> dict[str, Any]:
    """What comes out of a problem, or the message that it is refused with."""
    import hardmax as hm

    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ANSWERS[kind](hm, number)
    except hm.InputError as error:
        found = {"refused": str(error)}
    return {"kind": kind, "number": number} | found | {"seconds": time.process_time() - began}


def outputs() -> Iterator[dict[str, Any]]:
    """What the commands print."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "square.csv").write_text("1,1\n1,-1\n-1,-1\n-1,1\n")
        for command in COMMANDS:
            line = f"{sys.executable} -m hardmax {command}"
            done = subprocess.run(
                line, shell=True, cwd=folder, capture_output=True, text=True, check=False
            )
            told = {"status": done.returncode, "out": done.stdout, "err": done.stderr}
            yield {"kind": "command", "number": command} | told


def record(path: Path, kinds: list[str], share: float) -> None:
    """Write a line for each problem and for each command."""
    with path.open("w") as file:
        for kind in kinds:
            total = int(COUNTS[kind] * share)
            for number in range(total):
                file.write(json.dumps(answer(kind, number)) + "\n")
                if number % 100 == 99:
                    print(f"{kind}: {number + 1} of {total}", file=sys.stderr, flush=True)
        for row in outputs():
            file.write(json.dumps(row) + "\n")


# ---------------------------------------------------------------- speed


def rows() -> dict[str, Callable[[], Any]]:
    """The processor's rows of the README, as `benchmarks/cpu.py` has them."""
    import hardmax as hm

    half = hm.Dynamics("1/2")
    last: dict[str, Any] = {"record": hm.LastOnly()} if hasattr(hm, "LastOnly") else {}

    def gaussian(n: int, d: int) -> np.ndarray:
        return np.random.default_rng(d).standard_normal((n, d))

    def reviews(d: int) -> Callable[[], Any]:
        many = hm.Ragged if hasattr(hm, "Ragged") else hm.Clouds
        clouds = many(gaussian(4096 * 132, d), np.arange(4097) * 132)
        return lambda: hm.simulate(clouds, half, layers=8, **last)

    def layer(points: np.ndarray) -> Callable[[], Any]:
        return lambda: hm.simulate(points, half, layers=0, **last)

    def limit(points: np.ndarray, dynamics: Any = half) -> Callable[[], Any]:
        return lambda: hm.limit(points, dynamics).limit_points

    ball = gaussian(100_000, 3)
    return {
        "4,096 reviews, d 2": reviews(2),
        "4,096 reviews, d 16": reviews(16),
        "n 1,000,000, d 2: a layer": layer(gaussian(1_000_000, 2)),
        "n 1,000,000, d 2: the limit": limit(gaussian(1_000_000, 2)),
        "n 100,000, d 3: the limit": limit(ball),
        "n 100,000, d 8: the limit": limit(gaussian(100_000, 8)),
        "n 100,000, d 3, on a sphere": layer(ball / np.linalg.norm(ball, axis=1, keepdims=True)),
        "n 30,000, d 16: a layer": layer(gaussian(30_000, 16)),
        "n 100,000, d 16: a layer": layer(gaussian(100_000, 16)),
        "n 100,000, d 64: a layer": layer(gaussian(100_000, 64)),
        "causal, n 20,000": limit(gaussian(20_000, 2), hm.Dynamics("1/2", mask="causal")),
        "top-k 3, n 300": limit(gaussian(300, 2), hm.Dynamics("1/2", attention="topk:3")),
        "two heads, n 300": limit(
            gaussian(300, 2),
            hm.Dynamics("1/2", heads=[hm.Head(), hm.Head([[2, 1], [1, 1]])]),
        ),
    }


def serve() -> None:
    """Do the row that a line of stdin names, and print how long it took."""
    work = rows()
    for line in sys.stdin:
        began = time.perf_counter()
        work[line.strip()]()
        print(time.perf_counter() - began, flush=True)


def time_rows(before: str, after: str, rounds: int) -> int:
    """Print the fastest of some rounds in either tree; the number of rows that are more than 10 %
    slower."""
    command, trees = [sys.executable, __file__, "serve"], []
    for tree in (before, after):
        surroundings = os.environ | {"PYTHONPATH": tree}
        trees.append(
            subprocess.Popen(
                command, env=surroundings, stdin=PIPE, stdout=PIPE, text=True, bufsize=1
            )
        )
    slower = 0
    for name in rows():
        times: list[list[float]] = [[], []]
        for _ in range(rounds + 1):  # the first one loads kernels
            for tree, taken in zip(trees, times, strict=True):
                assert tree.stdin
                assert tree.stdout
                tree.stdin.write(name + "\n")
                taken.append(float(tree.stdout.readline()))
        old, new = (min(taken[1:]) for taken in times)
        slower += new > 1.1 * old
        print(f"{name:30} {old * 1e3:9.1f} ms {new * 1e3:9.1f} ms   {new / old:5.2f}", flush=True)
    for tree in trees:
        tree.kill()
    return slower


# ---------------------------------------------------------------- comparison


def same(name: str, one: Any, other: Any, allowed: float) -> bool:
    """Whether two answers agree, floats up to what is allowed."""
    if name in ("seconds", "error", "norm"):
        return True
    if name == "certificate":  # its wording may change: whether it is true is `recheck`'s question
        return (one is None) == (other is None)
    if name.startswith(("at", "points")) and not name.startswith("attended"):
        if one is None or other is None or np.shape(one) != np.shape(other):
            return one is None and other is None
        return np.allclose(one, other, rtol=0, atol=allowed)
    return one == other


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a record."""
    return map(json.loads, path.read_text().splitlines())


def compare(before: Path, after: Path) -> int:
    """Print what differs, and how long both took; the number of differences."""
    wrong, seconds, seen = 0, np.zeros(2), Counter[str]()
    for one, other in zip_longest(read_rows(before), read_rows(after), fillvalue={}):
        seen[one.get("kind", "missing")] += 1
        seconds += [row.get("seconds", 0.0) for row in (one, other)]
        tokens = FEW if np.ndim(one.get("at", [])) == 2 else 5000  # an error for each of a sum
        stated = np.nan_to_num(one.get("error", 0.0)) + np.nan_to_num(other.get("error", 0.0))
        allowed = tokens * max(1e-15 * one.get("norm", 0.0), float(stated))
        for name in sorted(one.keys() | other.keys()):
            if not same(name, one.get(name), other.get(name), allowed):
                wrong += 1
                told = f"{str(one.get(name))[:150]} -> {str(other.get(name))[:150]}"
                print(one.get("kind"), one.get("number"), f"{name}:", told)
    print(", ".join(f"{count:,} {kind}" for kind, count in seen.items()))
    print(f"{wrong} differences; processor seconds {seconds[0]:.1f} before, {seconds[1]:.1f} after")
    return wrong


def recheck(record: Path, checker: Path) -> int:
    """Check the certificates of a record by a checker; the number of verdicts that differ."""
    spec = importlib.util.spec_from_file_location("checker", checker)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    checked = wrong = 0
    for row in read_rows(record):
        if row.get("certificate"):
            checked += 1
            verdict = module.verify(row["certificate"])
            if verdict.accepted != row["accepted"]:
                wrong += 1
                print(row["kind"], row["number"], verdict.reason)
    print(f"{checked} certificates, {wrong} verdicts differ")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["record", "compare", "recheck", "rows", "serve"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=[*COUNTS], default=[*COUNTS])
    parser.add_argument("--share", type=float, default=1, help="of the problems, to record fewer")
    parser.add_argument("--rounds", type=int, default=7, help="of each row")
    asked = parser.parse_args()
    match asked.action:
        case "record":
            record(asked.files[0], asked.kinds, asked.share)
        case "compare":
            sys.exit(compare(*asked.files) > 0)
        case "recheck":
            sys.exit(recheck(*asked.files) > 0)
        case "rows":
            sys.exit(time_rows(*map(str, asked.files), asked.rounds) > 0)
        case _:
            serve()
