"""The runs of a batch as a document, from which they are made again: those that were made one by one each as a run,
those that a kernel walked together as the kernel's arrays, with the runs that integers decided beside them.
"""

from pathlib import Path
from typing import Any

import numpy as np

from hardmax.checking import short
from hardmax.engines.arithmetics import walkers_for
from hardmax.engines.cpu.batch import UNDECIDED, BatchOutcome
from hardmax.engines.cpu.machine import CPU
from hardmax.errors import InputError
from hardmax.runs.batch.one_by_one import OneByOne
from hardmax.runs.batch.runs import Runs
from hardmax.runs.batch.together import Batch, Together, walk_together
from hardmax.runs.plan import Plan
from hardmax.runs.records import Every, LastOnly, Record
from hardmax.runs.run import Run
from hardmax.runs.stops import AfterLayers, Settled
from hardmax.runs.storage import fields
from hardmax.runs.storage.packing import RUNS, UNSIGNED, damage_named, read_document, write_document
from hardmax.runs.storage.run import dynamics_document, dynamics_of, run_document, run_of, walked_again
from hardmax.tokens.batches import Form, Layout, Packed, Ragged


def save(runs: Runs, path: Path) -> None:
    """Write the runs of a batch to a `.npz` or `.json` file, whole or not at all."""
    if isinstance(runs, Together) and _record_document(runs.batch.plan.record) is not None:
        told = _together_document(runs)
    else:
        told = _listed_document(runs)
    write_document(path, RUNS, {"layout": runs.form.layout.name, "multiplicities": runs.multiplicities} | told)


def load(path: Path) -> Runs:
    """Read the runs of a batch; a file that holds something else is told apart in one line."""
    document = read_document(path, RUNS)
    with damage_named(path):
        runs = _runs_of(document)
        return _walked_again(runs) if document["version"] in UNSIGNED else runs


def _walked_again(runs: Runs) -> Runs:
    """The runs made anew: what a file without a digest says of its tokens is not trusted."""
    if isinstance(runs, Together):
        return walk_together(runs.batch, runs.form, None)
    again = [walked_again(runs.run(cloud)) for cloud in range(len(runs))]
    return OneByOne(again, runs.form, runs.multiplicities)


def _listed_document(runs: Runs) -> dict[str, Any]:
    made = [runs.run(cloud) for cloud in range(len(runs))]
    return {
        "tokens": np.concatenate([run.floats_at(run.layers) for run in made]),
        "offsets": np.cumsum([0, *(run.n for run in made)]),
        "together": None,
        "runs": [run_document(run) for run in made],
    }


def _together_document(runs: Together) -> dict[str, Any]:
    clouds, plan, outcome = runs.batch.clouds, runs.batch.plan, runs.outcome
    tokens, since, errors = outcome.tokens.copy(), outcome.leader_since.copy(), outcome.errors.copy()
    for cloud, run in runs.exact.items():  # where the kernel gave up, its arrays mean nothing
        here = slice(clouds.offsets[cloud], clouds.offsets[cloud + 1])
        tokens[here], since[here], errors[cloud] = (
            run.floats_at(run.layers),
            run.leader_since[run.points.of_token],
            run.error,
        )
    return {
        "tokens": tokens,
        "offsets": clouds.offsets,
        "together": dynamics_document(plan.dynamics)
        | {
            "starts": clouds.tokens,
            "last_layer": plan.stop.last_layer,
            "when_settled": plan.stop.when_settled,
            "record": _record_document(plan.record),
            "leader_since": since,
            "settled": outcome.settled,
            "errors": errors,
        },
        "runs": [run_document(run) for run in runs.exact.values()],
    }


def _runs_of(document: dict[str, Any]) -> Runs:
    form, runs = _form(document), [run_of(item) for item in fields.items(document, "runs")]
    counts = fields.optional(fields.integers, document, "multiplicities", shape=(None,), at_least=1)
    # What Ragged refuses, no batch can be made of: offsets that cut no clouds, multiplicities for other tokens.
    offsets = fields.integers(document, "offsets", (None,))
    tokens = Ragged(fields.floats(document, "tokens", (None, None)), offsets, counts)
    sizes = np.diff(tokens.offsets)
    if form.is_single or (form.layout is Layout.STACK and len(set(sizes.tolist())) > 1):
        raise InputError(f"its clouds are no {form.layout.name.lower()}.")
    if fields.field(document, "together") is not None:
        return _together_of(document["together"], runs, tokens, form)
    if [run.n for run in runs] != sizes.tolist():
        raise InputError("its runs are those of other clouds.")
    return OneByOne(runs, form, tokens.multiplicities)


def _form(document: dict[str, Any]) -> Form:
    name = fields.text(document, "layout")
    if name not in Layout.__members__:
        raise InputError(f"`layout` must be one of {', '.join(Layout.__members__)}, not {short(name)}.")
    return Form(Layout[name])


def _together_of(told: Any, runs: list[Run], tokens: Ragged, form: Form) -> Together:
    starts = Ragged(fields.floats(told, "starts", tokens.tokens.shape), tokens.offsets, tokens.multiplicities)
    settled = fields.integers(told, "settled", (len(starts),), at_least=UNDECIDED)
    since = fields.integers(told, "leader_since", (len(starts.tokens),), at_least=-1)
    outcome = BatchOutcome(tokens.tokens, since, settled, _errors(told, len(starts)))
    if len(outcome.undecided) != len(runs):
        raise InputError(f"`runs` holds {len(runs)} runs, where {len(outcome.undecided)} clouds were left to integers.")
    exact = dict(zip(outcome.undecided.tolist(), runs, strict=True))
    if any(run.n != len(starts[cloud]) for cloud, run in exact.items()):
        raise InputError("its runs are those of other clouds.")
    dynamics, last = dynamics_of(told), fields.field(told, "last_layer")
    dynamics.check_dimension(starts.tokens.shape[1])
    stop = Settled(last) if fields.yes_or_no(told, "when_settled") else AfterLayers(last)
    kept = fields.field(told, "record")
    record = LastOnly() if kept == "last" else Every(kept)
    clouds = Packed(starts.tokens, starts.offsets, starts.multiplicities)
    batch = Batch(clouds, Plan(dynamics, walkers_for("certified", CPU), stop, record), CPU)
    return Together(batch, form, outcome, exact)


def _record_document(record: Record) -> int | str | None:
    """Every m-th layer or the last, if it is that simple; another record's runs have to be made and kept."""
    match record:
        case Every(m):
            return m
        case LastOnly():
            return "last"
    return None


def _errors(told: Any, clouds: int) -> np.ndarray:
    errors = fields.floats(told, "errors", (clouds,))
    if (errors < 0).any():
        raise InputError("`errors` must hold numbers from 0 up.")
    return errors
