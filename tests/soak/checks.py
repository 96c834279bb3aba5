"""What an answer must say, held against integers: attended sets, tokens and their error, leaders,
limits."""

import time
import traceback
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import hardmax as hm
from soak.problems import Problem, problem
from soak.truth import ExactCloud, leaders_of

LAYERS = 3
ROWS = 200  # of a large cloud that are judged
MOST_LAYERS = 40  # where the theorem does not hold, limits need not exist


def answer(number: int, *, until: float, device: bool) -> str | None:
    """What is wrong with the answer to a problem; None after the moment at which none is begun."""
    if time.time() > until:
        return None
    asked = problem(number, device=device)
    wrong = judge(asked)
    return "\n    ".join([str(asked), *wrong]) if wrong else ""


def judge(asked: Problem) -> list[str]:
    """What is wrong with the answer to a problem. Whatever is raised is wrong, too, and so is a
    warning of numbers that overflow."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.filterwarnings("ignore", message="the theorem does not apply")
            # Interpreted, kernels for a GPU compute with numpy, which warns where a GPU goes on
            # with inf.
            interpreter = "triton.runtime.interpreter"
            warnings.filterwarnings("ignore", category=RuntimeWarning, module=interpreter)
            if asked.is_large:
                return [*_wrong_in_sample(asked)]
            return [*_wrong_in_runs(asked), *_wrong_in_limit(asked)]
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return [f"raised {type(error).__name__}: {error} ({at.filename}:{at.lineno})"]


def _wrong_in_runs(asked: Problem) -> Iterator[str]:
    """Every row at layers 0 to LAYERS; in a batch, also of the cloud in the other order."""
    history = [*asked.truth.walk(asked.alpha, LAYERS)]
    if asked.answerer != "batch":
        run = hm.simulate(asked.tokens, asked.dynamics, layers=LAYERS, **asked.how)
        yield from _wrong_in_run(run, history)
        return
    turned = asked.tokens[::-1].copy()
    run, other = hm.simulate([asked.tokens, turned], asked.dynamics, layers=LAYERS)
    yield from _wrong_in_run(run, history)
    last = len(turned) - 1
    if sorted(last - other.leaders) != run.leaders.tolist():
        yield "other leaders in the other order"


def _wrong_in_run(run: hm.Run, history: list[tuple[ExactCloud, list[set[int]]]]) -> Iterator[str]:
    if not run.certified:
        yield "not certified"
    for layer, (cloud, sets) in enumerate(history):
        rows = range(len(cloud))
        yield from _wrong_sets(run.attended(layer), rows, sets, layer)
        yield from _wrong_tokens(run.at(layer), cloud, run.error, layer)
    told = dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True))
    true = leaders_of(history)
    if told != true:
        yield f"leaders {told}, in truth {true}"


def _wrong_in_sample(asked: Problem) -> Iterator[str]:
    """Some rows at layer 0, and where their tokens are a layer later."""
    run = hm.simulate(asked.tokens, asked.dynamics, layers=1, **asked.how)
    attended, truth = run.attended(0), asked.truth
    firsts = np.array([several[0] for several in attended])
    rows = doubtful_rows(asked.tokens, firsts, np.random.default_rng(asked.number))
    sets = truth.attended(rows)
    yield from _wrong_sets(attended, rows, sets, 0)
    yield from _wrong_tokens(run.at(1)[rows], truth.moved(rows, sets, asked.alpha), run.error, 1)


def _wrong_in_limit(asked: Problem) -> Iterator[str]:
    """The limit is the one that integers find, and its certificate is true."""
    most = {"max_layers": MOST_LAYERS if asked.metric_kind == "any" else None}
    exact = hm.limit(asked.tokens, asked.dynamics, arithmetic="exact", **most)
    if asked.answerer == "batch":
        lim = hm.limits([asked.tokens], asked.dynamics, **most)[0]
    else:
        lim = hm.limit(asked.tokens, asked.dynamics, **asked.how, **most)
    if lim.settled_at != exact.settled_at:
        yield f"settled at {lim.settled_at}, in integers at {exact.settled_at}"
    elif lim.settled_at is None:
        if asked.metric_kind != "any":
            yield "the limit is not settled"
    else:
        ends = ExactCloud.of_fractions(exact.exact_limit_points())
        if off := ends.further_than(lim.limit_points, lim.limit_error):
            yield f"limits of tokens such as {off[:3]} are further off than {lim.limit_error:.3e}"
        verdict = hm.verify(lim.prove(), of=asked.tokens)
        if not verdict:
            yield f"certificate refused: {verdict.reason}"


def _wrong_sets(
    attended: Sequence[np.ndarray], rows: Sequence[int], sets: list[set[int]], layer: int
) -> Iterator[str]:
    told = [{*attended[row].tolist()} for row in rows]
    wrong = [k for k, true in enumerate(sets) if told[k] != true]
    if wrong:
        k = wrong[0]
        few = f"token {rows[k]} attends to {sets[k]!s:.99}, not to {told[k]!s:.99}"
        yield f"layer {layer}: {len(wrong)} attended sets; {few}"


def _wrong_tokens(tokens: np.ndarray, cloud: ExactCloud, error: float, layer: int) -> Iterator[str]:
    if not np.isfinite(error):
        yield f"an error of {error} says nothing"
    if off := cloud.further_than(tokens, error):
        yield f"layer {layer}: tokens such as {off[:3]} are further off than {error:.3e}"


def doubtful_rows(tokens: np.ndarray, chosen: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Rows where leads are smallest, who is seldom attended to, the longest and the shortest
    tokens, and some at random."""
    scored = rng.permutation(len(tokens))[:2000]
    floats = tokens / (np.abs(tokens).max() or 1.0)
    second, first = np.partition(floats[scored] @ floats.T, (-2, -1), axis=1)[:, -2:].T
    by_norm = np.abs(floats).max(axis=1).argsort(kind="stable")
    close = scored[(first - second).argsort(kind="stable")]
    parts = [close[: ROWS // 3], np.unique(chosen)[: ROWS // 3], by_norm[:8], by_norm[-8:], scored]
    return list(dict.fromkeys(np.concatenate(parts).tolist()))[:ROWS]
