"""Runs as npz files.

Fields of a document that was read, each with its type, shape and range: nothing is rounded or made to fit.

Whatever is wrong is an InputError that names the field.

Documents with arrays in files: `.npz` (arrays, with the rest as JSON inside) or `.json` (all of it plain text).

In JSON arrays are lists. In npz an array at the top of the document is an entry under its own name, where other
programs find it; all others of a dtype lie one after the other in one entry, since a batch may have many thousands of
them. The document says `{"array": entry}` or `{"array": entry, "start": …, "shape": …}` in their place.

This is no safetensors, as models are: a run has integers of any length and lists of lists, and what is in it should be
there for whoever has numpy alone.

A file carries a digest, SHA-256, of all else that is in it: in JSON of the document written without spaces and with its
keys in order, in npz of all other entries, in order of their names. Whatever was edited, cut or mixed up is refused. A
digest protects from accidents, not from people: whoever changes a run on purpose can make a new one. To trust a
stranger's result ask for the certificate of its limit, and `hardmax.verify` it.

A run as a document: plain data and arrays, from which the same run is made again. Never pickle.

The integers of exact runs are hexadecimal texts: they are long, and decimal ones would take time that grows with the
square of the length.

The runs of a batch as a document, from which they are made again: those that were made one by one each as a run,
those that a kernel walked together as the kernel's arrays, with the runs that integers decided beside them.
"""

import hashlib
import io
import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._attended import Choices
from hardmax._batch import UNDECIDED, BatchOutcome
from hardmax._batch_runs import Batch, OneByOne, Runs, Together, walk_together
from hardmax._exact.positions import ExactPhase
from hardmax._float.phase import FloatPhase, StoredPositions
from hardmax._float.policies import TieSlack
from hardmax._float.search import CPU
from hardmax._float.solver import FloatSolver
from hardmax._run import Plan, Run, run_points
from hardmax._tokens.batches import Form, Layout, Packed, Ragged
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax._validation import InputError, check_int, shorten
from hardmax.dynamics import Dynamics
from hardmax.engines import solvers_for
from hardmax.io import parse_json, read_arrays, read_bytes, shown_name, write_whole
from hardmax.stops import AfterLayers, Every, LastOnly, Record, Settled

Shape = tuple[int | None, ...]  # None: of any length


def field(document: Any, key: str) -> Any:
    """What a document says of a key, which it must have."""
    if not isinstance(document, dict):
        raise InputError(f"a part of it is {shorten(document)}, where a JSON object belongs.")
    if key not in document:
        raise InputError(f"it says nothing of `{key}`.")
    return document[key]


def optional(read: Callable[..., Any], document: Any, key: str, **wishes: Any) -> Any:
    """A field that may say that there is nothing: None then."""
    return None if field(document, key) is None else read(document, key, **wishes)


def text(document: Any, key: str) -> str:
    """A text."""
    found = field(document, key)
    if not isinstance(found, str):
        raise InputError(f"`{key}` must be a text, not {shorten(found)}.")
    return found


def items(document: Any, key: str) -> list[Any]:
    """A list."""
    found = field(document, key)
    if not isinstance(found, list):
        raise InputError(f"`{key}` must be a list, not {shorten(found)}.")
    return found


def whole(document: Any, key: str, *, at_least: int = 0) -> int:
    """A whole number."""
    return check_int(field(document, key), f"`{key}`", at_least=at_least)


def size(value: Any, name: str) -> float:
    """A number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < np.inf:
        raise InputError(f"`{name}` must be a number from 0 up, not {shorten(value)}.")
    return float(value)


def size_of(document: Any, key: str) -> float:
    """A field with a number from 0 up."""
    return size(field(document, key), key)


def size_or(nothing: float, document: Any, key: str) -> float:
    """A number from 0 up; JSON knows no inf and no nan, and says null instead."""
    found = field(document, key)
    return nothing if found is None else size(found, key)


def yes_or_no(document: Any, key: str) -> bool:
    """True or false; 1 and "False" are neither."""
    found = field(document, key)
    if not isinstance(found, bool):
        raise InputError(f"`{key}` must be true or false, not {shorten(found)}.")
    return found


def integers(document: Any, key: str, shape: Shape, *, at_least: int = 0, below: int = 2**62) -> np.ndarray:
    """An int64 array of that shape; 1.5 and true are no whole numbers."""
    array = _array(document, key, shape, "iu", "whole numbers")
    if array.size and not (at_least <= int(array.min()) and int(array.max()) < below):
        raise InputError(f"`{key}` must hold whole numbers from {at_least} up to {below - 1}.")
    return array.astype(np.int64)


def floats(document: Any, key: str, shape: Shape) -> np.ndarray:
    """A float64 array of that shape, of finite numbers."""
    array = _array(document, key, shape, "fiu", "numbers").astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"`{key}` must hold finite numbers.")
    return array


def truths(document: Any, key: str, shape: Shape) -> np.ndarray:
    """An array of true and false."""
    return _array(document, key, shape, "b", "true or false").astype(bool)


def numbers(document: Any, key: str) -> np.ndarray:
    """A table of floats, or of the Fractions that texts such as `7/5` say."""
    rows = field(document, key)
    if not (isinstance(rows, list) and rows and isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], str)):
        return floats(document, key, (None, None))
    return np.array(_table(document, key, (len(rows), len(rows[0])), _quotient), dtype=object)


def hexadecimal(document: Any, key: str, shape: tuple[int, int]) -> list[list[int]]:
    """A table of integers, each written in hexadecimal."""
    return _table(document, key, shape, lambda said: int(said, 16))


def _table(document: Any, key: str, shape: tuple[int, int], read: Callable[[str], Any]) -> list[list[Any]]:
    rows = items(document, key)
    if len(rows) != shape[0] or not all(isinstance(row, list) and len(row) == shape[1] for row in rows):
        raise InputError(f"`{key}` must be a table of {shape[0]} rows with {shape[1]} entries each.")
    try:
        return [[read(said) for said in row] for row in rows]
    except (ValueError, TypeError, ZeroDivisionError):
        raise InputError(f"`{key}` must hold written numbers.") from None


def _quotient(said: str) -> Fraction:
    above, _, below = said.partition("/")
    # Not Fraction(said): 1e999999999 is a short text and a long number.
    return Fraction(int(above), int(below or "1"))


def _array(document: Any, key: str, shape: Shape, kinds: str, what: str) -> np.ndarray:
    found = field(document, key)
    array = _array_of_list(found, key, kinds, what) if isinstance(found, list) else found
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.dtype.itemsize > 8:
        raise InputError(f"`{key}` must hold {what}, not {getattr(array, 'dtype', shorten(array))}.")
    if array.ndim != len(shape) or any(wish not in (None, came) for wish, came in zip(shape, array.shape, strict=True)):
        wish = " x ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"`{key}` has shape {array.shape}: expected {wish}.")
    return array


def _array_of_list(found: list[Any], key: str, kinds: str, what: str) -> np.ndarray:
    try:
        entries = np.array(found, dtype=object)
    except ValueError:
        raise InputError(f"`{key}` must be an array, of rows that are equally long.") from None
    # Looked at before numpy does, to which true is 1 and 1 is 1.0.
    allowed = {"f": {float, int}, "i": {int}, "b": {bool}}[kinds[0]]
    odd = [entry for entry in entries.ravel().tolist() if type(entry) not in allowed]
    if odd:
        raise InputError(f"`{key}` must hold {what}, not {shorten(odd[0])}.")
    try:
        return entries.astype({"f": np.float64, "i": np.int64, "b": np.bool_}[kinds[0]])
    except OverflowError:
        raise InputError(f"`{key}` must hold {what} that are not as large.") from None


VERSION, UNSIGNED = 4, (2, 3)  # those without a digest: of a run only where it began is taken from them
RUN, RUNS = "hardmax-trajectory", "hardmax-trajectories"
_HOLDS = {RUN: "the run of one cloud", RUNS: "the runs of a batch of clouds"}
_READER = {RUN: "`Trajectory.load`", RUNS: "`Trajectories.load`"}
_DOCUMENT, _DIGEST = "document", "digest"


def write_document(path: Path, format: str, document: dict[str, Any]) -> None:
    """Write a document in the form that the suffix names, whole or not at all."""
    document = {"format": format, "version": VERSION} | document
    match path.suffix.lower():
        case ".json":
            write_whole(path, json.dumps(signed(document), default=np.ndarray.tolist).encode())
        case ".npz":
            write_whole(path, _archive(document))
        case suffix:
            raise InputError(f"`path` must end in .npz or .json, not {suffix or 'nothing'!r}.")


def read_document(path: Path, format: str) -> dict[str, Any]:
    """Read a document of a format; a file that holds anything else, or was changed, is told apart in one line.

    Documents of UNSIGNED versions may have been changed: whoever reads them must not trust what they claim.
    """
    name, wish = shown_name(path), f"expected {_HOLDS[format]}, as `save` writes it"
    data = read_bytes(path, wish)
    if path.suffix.lower() == ".json":
        document = parse_json(data, name, wish)
        is_whole = isinstance(document, dict) and document.pop(_DIGEST, None) == _digest_of_text(document)
    else:
        arrays = read_arrays(data, name)
        if _DOCUMENT not in arrays:
            raise InputError(f"{name} holds the arrays {', '.join(sorted(arrays)) or '(none)'}: {wish}.")
        said = arrays.pop(_DIGEST, np.empty(0, dtype=np.uint8)).tobytes()
        is_whole = said == _digest_of_arrays(arrays)
        with damage_named(path):
            text = arrays[_DOCUMENT].tobytes()
            document = parse_json(text, name, wish, object_hook=lambda item: _put_back(item, arrays))
    _check_kind(document, format, name, wish)
    if document["version"] == VERSION and not is_whole:
        raise InputError(f"{name} is not what was saved: its digest differs. Copy it again, or save it again.")
    return document


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its digest, as it stands in JSON."""
    return document | {_DIGEST: _digest_of_text(document)}


def _check_kind(document: Any, format: str, name: str, wish: str) -> None:
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, str) or found not in _HOLDS:
        raise InputError(f"{name} was not saved by hardmax: {wish}.")
    if found != format:
        raise InputError(f"{name} holds {_HOLDS[found]}: read it with {_READER[found]}.")
    version = document.get("version")
    if version not in (*UNSIGNED, VERSION) or isinstance(version, bool):
        raise InputError(f"{name} has version {shorten(version)}: this hardmax reads up to version {VERSION}.")


def _digest_of_text(document: dict[str, Any]) -> str:
    text = json.dumps(document, default=np.ndarray.tolist, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # Lengths first, so that no two archives say the same in another way.
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode() + b"\n")
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Whatever breaks off the making of a run from a document becomes one line that names the file."""
    try:
        yield
    except InputError as error:
        complaint = str(error) if shown_name(path) in str(error) else f"{shown_name(path)} holds no sound run: {error}"
        raise InputError(complaint) from None
    except Exception as error:  # a document may be wrong in any way at all
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{shown_name(path)} is damaged ({type(error).__name__}: {reason}). Save it again.") from None


def _archive(document: dict[str, Any]) -> bytes:
    entries = {name: value for name, value in document.items() if isinstance(value, np.ndarray)}
    pools: dict[str, list[np.ndarray]] = defaultdict(list)
    lengths: dict[str, int] = defaultdict(int)

    def set_aside(array: np.ndarray) -> dict[str, Any]:
        pool = array.dtype.name
        place = {"array": pool, "start": lengths[pool], "shape": array.shape}
        pools[pool].append(array.ravel())
        lengths[pool] += array.size
        return place

    named = {name: {"array": name} for name in entries}
    text = json.dumps(document | named, default=set_aside).encode()
    entries |= {pool: np.concatenate(arrays) for pool, arrays in pools.items()}
    entries[_DOCUMENT] = np.frombuffer(text, dtype=np.uint8)
    entries[_DIGEST] = np.frombuffer(_digest_of_arrays(entries), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **entries)
    return buffer.getvalue()


def _put_back(item: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    if item.keys() == {"array"}:
        return arrays[item["array"]]
    if item.keys() != {"array", "start", "shape"}:
        return item
    start, shape = item["start"], item["shape"]
    if min([start, *shape]) < 0:
        raise ValueError("an array that begins, or is, less than nothing")
    return arrays[item["array"]][start : start + prod(shape)].reshape(shape)


def save_run(run: Run, path: Path) -> None:
    """Write a run to a `.npz` or `.json` file, whole or not at all."""
    write_document(path, RUN, run_document(run))


def load_run(path: Path) -> Run:
    """Read a run; a file that is not one is told apart in one line."""
    document = read_document(path, RUN)
    with damage_named(path):
        run = run_of(document)
        return walked_again(run) if document["version"] in UNSIGNED else run


def walked_again(run: Run) -> Run:
    """The run made anew from its tokens: what a file without a digest says of them is not trusted."""
    plan = Plan(run.dynamics, (run.solver,), AfterLayers(run.layers), _These(run.recorded))
    return replace(run_points(run.points, plan), stopped=run.stopped)


@dataclass(frozen=True)
class _These:
    """A record of layers that are listed, each later than the one before."""

    recorded: tuple[int, ...]

    def layers(self, last: int) -> Sequence[int]:
        return self.recorded

    def keeps(self, first: int, until: int) -> bool:
        following = bisect_left(self.recorded, first)
        return following < len(self.recorded) and self.recorded[following] < until


def run_document(run: Run) -> dict[str, Any]:
    """Everything that a run is."""
    judge = run.solver.judge if isinstance(run.solver, FloatSolver) else None
    return dynamics_document(run.dynamics) | {
        "arithmetic": run.solver.arithmetic,
        "tie_slack": judge.relative if isinstance(judge, TieSlack) else None,
        "recorded": list(run.recorded),
        "settled_at": run.settled_at,
        "stopped": run.stopped,
        "leader_since": run.leader_since,
        "margin_at": [[layer, _finite(margin)] for layer, margin in run.margin_at.items()],
        "decided_by": [[layer, search] for layer, search in run.decided_by.items()],
        "points": {
            "coordinates": _numbers(run.points.coordinates),
            "multiplicities": run.points.multiplicities,
            "of_token": run.points.of_token,
        },
        "phases": [_stretch_document(phase) for phase in run.phases],
    }


def run_of(document: dict[str, Any]) -> Run:
    """The run that a document tells of."""
    points, dynamics = _points(field(document, "points")), dynamics_of(document)
    dynamics.check_dimension(points.dimension)
    slack = optional(size_of, document, "tie_slack")
    solver = solvers_for(TieSlack(slack) if slack is not None else text(document, "arithmetic"), CPU)[0]
    phases = tuple(_stretch(item, dynamics, points) for item in items(document, "phases"))
    settled_at = optional(whole, document, "settled_at")
    recorded = integers(document, "recorded", (None,)).tolist()
    if not recorded or any(later <= layer for layer, later in pairwise(recorded)):
        raise InputError("`recorded` must be layers, each later than the one before.")
    _check_order(phases, settled_at)
    return Run(
        points=points,
        dynamics=dynamics,
        solver=solver,
        phases=phases,
        recorded=tuple(recorded),
        leader_since=integers(document, "leader_since", (points.count,), at_least=-1),
        margin_at=dict(_by_layer(document, "margin_at", _margin)),
        decided_by=dict(_by_layer(document, "decided_by", _name)),
        settled_at=settled_at,
        stopped=text(document, "stopped"),
    )


def _points(document: Any) -> Points:
    coordinates = numbers(document, "coordinates")
    if coordinates.size == 0:
        raise InputError("`coordinates` must hold at least one point.")
    count = len(coordinates)
    of_token = integers(document, "of_token", (None,), below=count)
    multiplicities = integers(document, "multiplicities", (count,), at_least=1)
    tokens = np.bincount(of_token, minlength=count)
    if (tokens < 1).any() or (multiplicities < tokens).any():
        raise InputError("`multiplicities` must count every token of `of_token`, and each point must have one.")
    return Points(coordinates, multiplicities, of_token)


def _check_order(phases: Sequence[FloatPhase | ExactPhase], settled_at: int | None) -> None:
    ends = [phase.until for phase in phases]
    starts = [phase.layer for phase in phases]
    if not phases or None in ends[:-1] or any(s < e for s, e in zip(starts[1:], ends, strict=False) if e is not None):
        raise InputError("`phases` must follow one another.")
    if settled_at is not None and ends[-1] is not None:
        raise InputError("`settled_at` names a layer, but the last phase does not last for ever.")


def _by_layer(document: Any, key: str, read: Callable[[Any, str], Any]) -> Iterator[tuple[int, Any]]:
    for pair in items(document, key):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"`{key}` must hold pairs of a layer and what is said of it, not {shorten(pair)}.")
        yield check_int(pair[0], f"`{key}`", at_least=0), read(pair[1], key)


def _margin(value: Any, key: str) -> float:
    return np.inf if value is None else size(value, key)


def _name(value: Any, key: str) -> str:
    return text({key: value}, key)


def dynamics_document(dynamics: Dynamics) -> dict[str, Any]:
    """alpha and the metric, as exact as they are."""
    metric = dynamics.metric
    return {
        "alpha": str(dynamics.alpha),
        "metric": None if metric is None else [[str(entry) for entry in row] for row in metric],
    }


def dynamics_of(document: dict[str, Any]) -> Dynamics:
    """The parameters that a document tells of."""
    alpha, metric = text(document, "alpha"), optional(items, document, "metric")
    return Dynamics(alpha, metric)


def _stretch_document(phase: FloatPhase | ExactPhase) -> dict[str, Any]:
    shared = {
        "layer": phase.layer,
        "until": phase.until,
        "indices": phase.choices.indices,
        "offsets": phase.choices.offsets,
        "alone": phase.is_leader,
        "margin": _finite(phase.margin),
        "decided_by": phase.decided_by,
    }
    if isinstance(phase, FloatPhase):
        return shared | {
            "positions": phase.positions,
            # Means are worked out from exact positions, which are not written.
            "targets": None if phase.choices.all_single else phase.targets,
            "error": _finite(phase.error),
        }
    return shared | {
        "positions": _hexes(phase.positions.numerators),
        "targets": _hexes(phase.targets.numerators),
        "denominator": f"{phase.positions.denominator:x}",
    }


def _stretch(item: Any, dynamics: Dynamics, points: Points) -> FloatPhase | ExactPhase:
    count, shape = points.count, (points.count, points.dimension)
    layer = whole(item, "layer")
    shared = {
        "layer": layer,
        "until": optional(whole, item, "until", at_least=layer + 1),
        "choices": _choices(item, count),
        "is_leader": truths(item, "alone", (count,)),
        "margin": size_or(np.inf, item, "margin"),
        "keep": dynamics.contraction,
        "decided_by": text(item, "decided_by"),
    }
    if "denominator" in item:
        ((denominator,),) = hexadecimal({"denominator": [[item["denominator"]]]}, "denominator", (1, 1))
        if denominator < 1:
            raise InputError("`denominator` must be positive.")
        clouds = (IntegerCloud(hexadecimal(item, key, shape), denominator) for key in ("positions", "targets"))
        positions, targets = clouds
        return ExactPhase(**shared, positions=positions, targets=targets)
    places = StoredPositions(floats(item, "positions", shape), points.multiplicities)
    # 0.1 wrote no targets in floats: its runs are walked again, and need none.
    told = optional(floats, item, "targets", shape=shape) if "targets" in item else None
    return FloatPhase(**shared, places=places, error=size_or(np.nan, item, "error"), told=told)


def _choices(item: Any, count: int) -> Choices:
    offsets = integers(item, "offsets", (count + 1,))
    indices = integers(item, "indices", (None,), below=count)
    if offsets[0] != 0 or offsets[-1] != len(indices) or (np.diff(offsets) < 1).any():
        raise InputError("`offsets` must cut `indices` into a set for each point, none of them empty.")
    increases = np.diff(indices) > 0
    increases[offsets[1:-1] - 1] = True  # from one set to the next
    if not increases.all():
        raise InputError("`indices` must increase within each attended set.")
    return Choices(indices, offsets)


def _finite(value: float) -> float | None:
    """JSON knows no inf and no nan."""
    return value if np.isfinite(value) else None


def _numbers(coordinates: np.ndarray) -> np.ndarray | list[list[str]]:
    return [[str(value) for value in row] for row in coordinates] if coordinates.dtype == object else coordinates


def _hexes(rows: list[list[int]]) -> list[list[str]]:
    return [[f"{value:x}" for value in row] for row in rows]


def save_batch(runs: Runs, path: Path) -> None:
    """Write the runs of a batch to a `.npz` or `.json` file, whole or not at all."""
    if isinstance(runs, Together) and _record_document(runs.batch.plan.record) is not None:
        told = _together_document(runs)
    else:
        told = _listed_document(runs)
    write_document(path, RUNS, {"layout": runs.form.layout.name, "multiplicities": runs.multiplicities} | told)


def load_batch(path: Path) -> Runs:
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
    form, runs = _form(document), [run_of(item) for item in items(document, "runs")]
    counts = optional(integers, document, "multiplicities", shape=(None,), at_least=1)
    # What Ragged refuses, no batch can be made of: offsets that cut no clouds, multiplicities for other tokens.
    offsets = integers(document, "offsets", (None,))
    tokens = Ragged(floats(document, "tokens", (None, None)), offsets, counts)
    sizes = np.diff(tokens.offsets)
    if form.is_single or (form.layout is Layout.STACK and len(set(sizes.tolist())) > 1):
        raise InputError(f"its clouds are no {form.layout.name.lower()}.")
    if field(document, "together") is not None:
        return _together_of(document["together"], runs, tokens, form)
    if [run.n for run in runs] != sizes.tolist():
        raise InputError("its runs are those of other clouds.")
    return OneByOne(runs, form, tokens.multiplicities)


def _form(document: dict[str, Any]) -> Form:
    name = text(document, "layout")
    if name not in Layout.__members__:
        raise InputError(f"`layout` must be one of {', '.join(Layout.__members__)}, not {shorten(name)}.")
    return Form(Layout[name])


def _together_of(told: Any, runs: list[Run], tokens: Ragged, form: Form) -> Together:
    starts = Ragged(floats(told, "starts", tokens.tokens.shape), tokens.offsets, tokens.multiplicities)
    settled = integers(told, "settled", (len(starts),), at_least=UNDECIDED)
    since = integers(told, "leader_since", (len(starts.tokens),), at_least=-1)
    outcome = BatchOutcome(tokens.tokens, since, settled, _errors(told, len(starts)))
    if len(outcome.undecided) != len(runs):
        raise InputError(f"`runs` holds {len(runs)} runs, where {len(outcome.undecided)} clouds were left to integers.")
    exact = dict(zip(outcome.undecided.tolist(), runs, strict=True))
    if any(run.n != len(starts[cloud]) for cloud, run in exact.items()):
        raise InputError("its runs are those of other clouds.")
    dynamics, last = dynamics_of(told), field(told, "last_layer")
    dynamics.check_dimension(starts.tokens.shape[1])
    stop = Settled(last) if yes_or_no(told, "when_settled") else AfterLayers(last)
    kept = field(told, "record")
    record = LastOnly() if kept == "last" else Every(kept)
    clouds = Packed(starts.tokens, starts.offsets, starts.multiplicities)
    batch = Batch(clouds, Plan(dynamics, solvers_for("certified", CPU), stop, record), CPU)
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
    errors = floats(told, "errors", (clouds,))
    if (errors < 0).any():
        raise InputError("`errors` must hold numbers from 0 up.")
    return errors
