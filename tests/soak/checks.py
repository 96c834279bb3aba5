"""What an answer must say, held against integers: attended sets, tokens and their error, leaders,
limits."""

# pyright: reportMissingImports=false
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

import hardmax as hm
from hardmax._float import shells
from hardmax._float.bounds import SlackFactors
from hardmax._float.search import Cpu
from hardmax.engines import Gpu
from soak.problems import Problem, Tier
from soak.truth import ExactCloud, leaders_of

LAYERS = 3
# Rows of a large cloud that are judged, and those among them that floats have no part in.
ROWS, PLAIN_ROWS = 384, 4
# Products of coordinates in integers, for one large cloud.
MOST_PRODUCTS = 10**6
# Where the theorem does not hold, limits need not exist.
MOST_LAYERS = 40


@dataclass
class Outcome:
    """What came out of a problem: how many rows were judged, and what is wrong."""

    rows: int = 0
    wrong: list[str] = field(default_factory=list)

    def expect(self, holds: bool, otherwise: str) -> None:
        if not holds and otherwise not in self.wrong:
            self.wrong.append(otherwise)


def judge(problem: Problem) -> Outcome:
    """The outcome of a problem. Whatever is raised is wrong, too, and so is a warning of numbers
    that overflow."""
    outcome = Outcome()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            # Interpreted, kernels for a GPU compute with numpy, which warns where a GPU goes on
            # with inf.
            warnings.filterwarnings(
                "ignore", category=RuntimeWarning, module="triton.runtime.interpreter"
            )
            _judge(problem, outcome)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        outcome.wrong.append(f"raised {type(error).__name__}: {error} ({at.filename}:{at.lineno})")
    return outcome


def _judge(problem: Problem, outcome: Outcome) -> None:
    match problem.engine.name:
        case "batch" | "gpu batch":
            _judge_batch(problem, outcome)
        case _ if problem.tier is Tier.LARGE and problem.engine.name != "arena":
            _judge_sample(problem, outcome)
        case _:
            _judge_walk(problem, outcome)
    if problem.tier is Tier.SMALL and problem.engine.name in ("processor", "batch"):
        _judge_limit(problem, outcome)


def _judge_walk(problem: Problem, outcome: Outcome) -> None:
    """Every row at layers 0 to LAYERS."""
    run = run_of(problem, LAYERS)
    history = list(problem.truth.walk(problem.alpha, LAYERS))
    outcome.expect(run.certified, "not certified")
    for layer, (cloud, sets) in enumerate(history):
        _compare_sets(run.attended(layer), range(len(cloud)), sets, layer, outcome)
        if layer != 2:
            _compare_tokens(run.at(layer), cloud, run.error, layer, outcome)
        if run.details.decisions.arithmetic == "exact":
            same = run.at(layer, exact=True).tolist() == _fractions(cloud)
            outcome.expect(same, f"layer {layer}: exact tokens are not the true ones")
    _compare_leaders(
        dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)), history, outcome
    )
    if problem.tier is Tier.SMALL:
        _compare_margin(run, problem.truth, outcome)


def _judge_sample(problem: Problem, outcome: Outcome) -> None:
    """Some rows at layer 0, and where their tokens are at layers 0 and 1."""
    run, truth = run_of(problem, 1), problem.truth
    outcome.expect(run.certified, "not certified")
    attended = run.attended(0)
    firsts = [int(several[0]) for several in attended]
    rows = doubtful_rows(truth, firsts, ROWS, np.random.default_rng(problem.number))
    for some, plain in ((rows[:PLAIN_ROWS], True), (rows[PLAIN_ROWS:], False)):
        sets = truth.attended(some, plain=plain, products=MOST_PRODUCTS)
        some = some[: len(sets)]
        _compare_sets(attended, some, sets, 0, outcome)
        _compare_tokens(
            run.at(1)[some], truth.moved(some, sets, problem.alpha), run.error, 1, outcome
        )
    outcome.expect(
        np.array_equal(run.at(0), problem.tokens), "layer 0: not the tokens that were given"
    )


def _judge_batch(problem: Problem, outcome: Outcome) -> None:
    """Where the kernel takes a cloud and the same cloud in the other order."""
    runs = batch_of(problem, LAYERS)
    history = list(problem.truth.walk(problem.alpha, LAYERS))
    outcome.expect(runs.certified, "not certified")
    n = len(problem.tokens)
    leaders = set(leaders_of(history))
    # Every layer is another walk of the kernel, which takes long where it is interpreted.
    for layer in (0, 1, LAYERS) if problem.engine.name == "batch" else (LAYERS,):
        straight, reversed_ = runs.at(layer)
        for tokens in (straight, reversed_[::-1]):
            _compare_tokens(tokens, history[layer][0], runs.error, layer, outcome)
            outcome.rows += n
    straight, reversed_ = (set(found.tolist()) for found in runs.leaders)
    outcome.expect(straight == leaders, f"leaders {_few(straight)}, in truth {_few(leaders)}")
    turned = {n - 1 - i for i in reversed_}
    outcome.expect(
        turned == leaders, f"leaders in the other order {_few(turned)}, in truth {_few(leaders)}"
    )


def _judge_limit(problem: Problem, outcome: Outcome) -> None:
    """The limit is the one that integers find, and its certificate is true, and of this cloud."""
    max_layers = MOST_LAYERS if problem.any_metric else None
    asked = {"max_layers": max_layers, "engine": Cpu(problem.engine.search)}
    exact = hm.limit(problem.tokens, problem.dynamics, max_layers=max_layers, arithmetic="exact")
    if problem.engine.name == "batch":
        lims = hm.limit([problem.tokens, problem.tokens[::-1].copy()], problem.dynamics, **asked)
        if exact.settled_at is not None:
            _compare_limits(
                lims.limit_points[0], lims.runs.error, lims.settled_at[0], exact, outcome
            )
            _compare_limits(
                lims.limit_points[1][::-1], lims.runs.error, lims.settled_at[1], exact, outcome
            )
        return
    lim = hm.limit(problem.tokens, problem.dynamics, **asked)
    outcome.expect(lim.settled_at is not None or problem.any_metric, "the limit is not settled")
    if lim.settled_at is None or exact.settled_at is None:
        outcome.expect(
            lim.settled_at == exact.settled_at, "settled, or not, unlike the limit in integers"
        )
        return
    _compare_limits(lim.limit_points, lim.limit_error, lim.settled_at, exact, outcome)
    told, true = (
        dict(zip(each.leaders.tolist(), each.run.leader_layers.tolist(), strict=True))
        for each in (lim, exact)
    )
    outcome.expect(told == true, f"leaders of the limit {told}, in integers {true}")
    verdict = hm.verify(lim.prove())
    outcome.expect(bool(verdict), f"certificate refused: {verdict.reason}")
    outcome.expect(_is_of(lim.prove(), problem.truth), "the certificate is that of another cloud")


def _compare_limits(
    points: np.ndarray, bound: float, settled_at: int, exact: hm.Limit, outcome: Outcome
) -> None:
    outcome.expect(
        settled_at == exact.settled_at,
        f"settled at {settled_at}, in integers at {exact.settled_at}",
    )
    ends = ExactCloud.of_fractions(exact.exact_limit_points())
    off = ends.further_than(points, bound)
    outcome.expect(not off, f"limits of tokens such as {off[:3]} are further off than {bound:.3e}")


def _is_of(certificate: dict[str, Any], truth: ExactCloud) -> bool:
    """Whether the points are the distinct tokens, in order of first appearance."""
    cloud = certificate["cloud"]
    over = int(cloud["denominator"])
    points = [tuple(Fraction(int(x), over) for x in row) for row in cloud["points"]]
    return points == list(dict.fromkeys(map(tuple, _fractions(truth))))


def _compare_sets(
    attended: Sequence[np.ndarray],
    rows: Sequence[int],
    sets: Sequence[set[int]],
    layer: int,
    outcome: Outcome,
) -> None:
    outcome.rows += len(rows)
    false = [
        (row, told, true)
        for row, true in zip(rows, sets, strict=True)
        if (told := set(attended[row].tolist())) != true
    ]
    if false:
        row, told, true = false[0]
        outcome.wrong.append(
            f"layer {layer}: {len(false)} of {len(rows)} attended sets; token {row} attends to "
            f"{_few(true)}, not to {_few(told)}"
        )


def _compare_tokens(
    tokens: np.ndarray, cloud: ExactCloud, error: float, layer: int, outcome: Outcome
) -> None:
    outcome.expect(np.isfinite(error), f"an error of {error} says nothing")
    off = cloud.further_than(tokens, error)
    outcome.expect(
        not off,
        f"layer {layer}: {len(off)} tokens, such as {off[:3]}, are further off than {error:.3e}",
    )


def _compare_margin(run: hm.Trajectory, truth: ExactCloud, outcome: Outcome) -> None:
    """At the first layer no attended token leads by less than the margin, up to the rounding of a
    score."""
    told, true = float(run.details.decisions.margins[0]), truth.smallest_lead()
    rounding = (truth.numerators.shape[1] + 8) * 2.0**-50
    outcome.expect(told <= true * (1 + 1e-9) + rounding, f"margin {told:.3e}, in truth {true:.3e}")


def _compare_leaders(
    told: dict[int, int], history: list[tuple[ExactCloud, list[set[int]]]], outcome: Outcome
) -> None:
    leaders = leaders_of(history)
    false = sorted(told.items() ^ leaders.items())
    outcome.expect(not false, f"leaders: {len(false)} differ, such as (token, since) {false[:3]}")


def _fractions(cloud: ExactCloud) -> list[list[Fraction]]:
    return [[Fraction(int(x), cloud.denominator) for x in row] for row in cloud.numerators.tolist()]


def _few(tokens: set[int]) -> str:
    shown = sorted(tokens)[:4]
    return f"{shown}{'' if len(tokens) == len(shown) else f' and {len(tokens) - len(shown)} more'}"


def run_of(problem: Problem, layers: int) -> hm.Trajectory:
    """The run of one cloud."""
    tokens, dynamics = problem.tokens, problem.dynamics
    match problem.engine.name:
        case "processor" | "arena" | "wide":
            return _by_processor(problem, layers)
        case "cones":
            # Whoever asks for more than the outermost point is searched in cones.
            with patch.object(shells, "_OUTERMOST", 1):
                return _by_processor(problem, layers)
        case "doubting":
            # Floats prove nothing: integers decide whatever is not ruled out by far.
            with patch.object(
                SlackFactors, "slack", lambda _, norms, *rest: np.full(len(norms), np.inf)
            ):
                return _by_processor(problem, layers)
        case "exact":
            return hm.simulate(tokens, dynamics, layers=layers, arithmetic="exact")
        case "gpu":
            return hm.simulate(tokens, dynamics, layers=layers, engine=Gpu(device()))
    raise AssertionError(f"{problem.engine.name} does not walk one cloud")


def _by_processor(problem: Problem, layers: int) -> hm.Trajectory:
    return hm.simulate(
        problem.tokens, problem.dynamics, layers=layers, engine=Cpu(problem.engine.search)
    )


def batch_of(problem: Problem, layers: int) -> Any:
    """The runs of the cloud and of the same cloud in the other order, walked by one kernel."""
    clouds = [problem.tokens, problem.tokens[::-1].copy()]
    machine = Cpu() if problem.engine.name == "batch" else Gpu(device())
    return hm.simulate(clouds, problem.dynamics, layers=layers, engine=machine)


@cache
def device() -> str:
    """Where tensors are: on a GPU, or else where its kernels are interpreted."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


_BLOCK = 2**22
# Rows that are scored in floats to find the doubtful ones.
_SCORED = 8192


def doubtful_rows(
    cloud: ExactCloud, answers: Sequence[int], most: int, rng: np.random.Generator
) -> list[int]:
    """Up to `most` rows: where plain floats disagree with the answer (one attended token for each
    row), where leads are smallest, the longest and the shortest tokens, the first and the last, and
    some at random."""
    n = len(cloud)
    chosen = np.asarray(answers)
    scored = np.arange(n) if n <= _SCORED else np.sort(rng.choice(n, _SCORED, replace=False))
    deficits, leads = _deficits_and_leads(cloud, scored, chosen[scored])
    norms = np.abs(cloud.floats).max(axis=1)
    by_norm = np.argsort(norms, kind="stable")
    disagree = scored[deficits > 0]
    share = most // 4
    ordered = [
        disagree[np.argsort(-deficits[deficits > 0], kind="stable")][:share],
        [0, n - 1],
        by_norm[:8],
        by_norm[-8:],
        # Whoever is seldom attended to, or by few, is easily overlooked: itself and one who attends
        # to it.
        np.unique(chosen)[:share],
        scored[np.argsort(leads, kind="stable")][:share],
        rng.permutation(n)[:most],
    ]
    rows = dict.fromkeys(int(row) for part in ordered for row in part)
    return list(rows)[:most]


def _deficits_and_leads(
    cloud: ExactCloud, rows: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row's answer is behind the best, and the best ahead of the next, relative to
    the look."""
    looks = _float_looks(cloud, rows)
    deficits, leads = np.empty(len(rows)), np.empty(len(rows))
    step = max(1, _BLOCK // len(cloud))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        scores = looks[part] @ cloud.floats.T
        every = np.arange(len(scores))
        best_at = scores.argmax(axis=1)
        best = scores[every, best_at]
        deficits[part] = best - scores[every, chosen[part]]
        scores[every, best_at] = -np.inf
        leads[part] = best - scores.max(axis=1)
    return deficits, leads


def _float_looks(cloud: ExactCloud, rows: np.ndarray) -> np.ndarray:
    looks = cloud.looks(rows.tolist())
    units = np.maximum(np.abs(looks).max(axis=1), 1).tolist()
    return np.array(
        [[int(x) / unit for x in row] for row, unit in zip(looks.tolist(), units, strict=True)]
    )
