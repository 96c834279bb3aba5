"""Many clouds and dynamics at once: `sweep` makes a table with a row for each cell of a grid."""

import inspect
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax import __version__
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder, write_whole
from hardmax._common.fingerprint import fingerprint
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    Progress,
    check_path,
    check_progress,
    require_extra,
    shorten,
)
from hardmax._kernels.parallel import limit_threads, max_threads
from hardmax._layer.rules import check_rational
from hardmax._tokens.rationals import plain
from hardmax.clouds import MAKERS
from hardmax.dynamics import Dynamics
from hardmax.limits import Limit, Limits, limit

if TYPE_CHECKING:
    import pyarrow

Observable = str | Callable[[Limit], Any]
Observables = Sequence[Observable] | Mapping[str, Observable]
OBSERVABLES = ("settled_at", "leaders", "clusters")
# Cells go through one kernel together, in groups of about so many coordinates; a group is a part of
# the table.
_COORDINATES, _CELLS = 2**18, 512
_AS_DONE = "generator_unordered"  # which Ray's backend does not do
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BEFORE = "done before"
# Parts of layers, with what they are if nothing is said, and words for what they usually are.
_PARTS = {"alpha": "1/2", "metric": "identity", "value": None, "mask": None, "attention": None}
_USUAL = ("identity", "none", "hardmax")
_IGNORED = "the theorem does not apply to the metric"


class Cell(NamedTuple):
    """A cloud and its dynamics."""

    number: int
    maker: str
    arguments: dict[str, Any]
    """Those of the maker."""
    layer: tuple[str, ...]
    """The names of its parts."""


@dataclass(frozen=True)
class Grid:
    """What cells are made of."""

    arguments: dict[str, list[Any]]
    makers: dict[str, Callable[..., Any]]
    parts: tuple[str, ...]
    """Of layers: alpha, metric, and what else is varied."""
    dynamics: dict[tuple[str, ...], Dynamics]
    """By the names of their parts."""
    observables: dict[str, Observable]

    @property
    def columns(self) -> list[str]:
        """Those of the table, in order."""
        return ["cell", "maker", *self.arguments, *self.parts, *self.observables, "error"]


class Part(NamedTuple):
    """A part of the table."""

    rows: "pyarrow.Table"
    """Those that are there."""
    cells: list[Cell]
    """Those that are not."""
    path: Path | None
    """Its file."""


def sweep(
    grid: Mapping[str, Any],
    observables: Observables = OBSERVABLES,
    *,
    output: str | Path | None = None,
    progress: Progress | None = None,
) -> "pyarrow.Table":
    """Limits of many clouds under many dynamics, as a table (extra `sweep`).

    Parameters
    ----------
    grid : mapping
        What to vary; every value is one or a list. `maker` is the name of a function of
        `hardmax.clouds` (default: gaussian) or a function of your own, `n`, `d`, `seed` and others
        are its arguments, ``seeds=100`` stands for the seeds 0 to 99, `alpha` is the step size
        (default: 1/2), and `metric` maps names to matrices, such as [[2, 1], [1, 1]], "2,1;1,1" or
        "identity". Other layers: `steps` in place of alpha ("2,1,1/2"), `value` like the metric,
        `mask` ("causal" or "none", or names mapped to tables) and `attention` ("topk:2",
        "localmax:1/2" or "hardmax").
    observables : sequence or mapping, default ("settled_at", "leaders", "clusters")
        Names of attributes of `Limit`, or functions of it, each under a name of its own. Of what
        has a length, the length is taken.
    output : str or Path, optional
        A folder for Parquet files. Each is written as soon as its cells are done; a sweep that was
        interrupted goes on after them and tries failed cells again. A folder of another sweep is
        refused: of another version of hardmax, or with other code of a maker or observable, as
        well.
    progress : callable, optional
        Called with (cells done, cells).

    Returns
    -------
    pyarrow.Table
        A row for each cell: its number, maker, arguments, alpha, metric, other parts of its layer,
        observables, and `error`, the reason if it failed. Its `schema.metadata` has under "reused"
        how many rows were in the folder, and under "earlier" what an earlier call left there.

    Notes
    -----
    Groups of cells are tasks of joblib: ``with joblib.parallel_config(backend="loky", n_jobs=8)``
    (or "dask", "ray") is all it takes to run them elsewhere.

    Examples
    --------
    >>> table = sweep({"n": [10, 20], "d": 2, "seeds": 3}, ["settled_at", "leaders"])
    >>> table.num_rows, table.column_names[-3:]
    (6, ['settled_at', 'leaders', 'error'])
    """
    require_extra("`sweep`", "sweep", "joblib", "pyarrow")
    import joblib
    import pyarrow as pa

    check_progress(progress)
    checked, groups = read_grid(grid, observables)
    folder = None if output is None else _prepare(check_path(output, "`output`"), checked)
    earlier: Counter[str] = Counter()
    parts = [_find_part(folder, *numbered, earlier) for numbered in enumerate(groups)]
    tables = [part.rows for part in parts if not part.cells]
    done = sum(map(len, tables))
    threads = max(1, max_threads() // max(1, joblib.effective_n_jobs()))
    tasks = (joblib.delayed(_run_part)(checked, part, threads) for part in parts if part.cells)
    backend: Any = joblib.parallel.get_active_backend()[0]
    order = _AS_DONE if backend.supports_return_generator else "list"
    finished: Any = joblib.Parallel(return_as=order)(tasks)
    for table in finished:
        tables.append(table)
        done += len(table)
        if progress is not None:
            progress(done, sum(map(len, groups)))
    # In some parts a column may have no value at all, and so no type, or be missing.
    table = pa.concat_tables(tables, promote_options="permissive")
    table = table.select(checked.columns).sort_by("cell")
    notes = [f"{pluralize(count, 'cell')} {what}" for what, count in earlier.items() if count]
    about = {"earlier": "; ".join(notes), "reused": str(earlier[_BEFORE])}
    return table.replace_schema_metadata(about if notes else None)


def read_grid(grid: Any, observables: Any) -> tuple[Grid, list[list[Cell]]]:
    """Check a grid and list its cells in groups."""
    if not isinstance(grid, Mapping) or not all(isinstance(name, str) for name in grid):
        raise InputError(f"`grid` must map names such as 'n' to values, not {shorten(grid)}.")
    axes = _axes(grid)
    makers = _makers(axes.pop("maker", ["gaussian"]), axes.keys())
    parts = _parts(grid)
    dynamics = {}
    for names in itertools.product(*parts.values()):
        chosen = {part: parts[part][name] for part, name in zip(parts, names, strict=True)}
        dynamics[names] = check_rational(Dynamics(**chosen), "`sweep`")
    checked = Grid(axes, makers, tuple(parts), dynamics, _observables(observables))
    _named(((name, None) for name in checked.columns), "columns")
    numbers = itertools.count()
    groups: list[list[Cell]] = []
    for layer, (name, make) in itertools.product(dynamics, makers.items()):
        taken = inspect.signature(make).parameters
        names = [argument for argument in axes if argument in taken]
        cells = []
        for values in itertools.product(*map(axes.__getitem__, names)):
            arguments = dict(zip(names, values, strict=True))
            cells.append(Cell(next(numbers), name, arguments, layer))
        # Clouds of one dimension go through a kernel together.
        cells.sort(key=lambda cell: str(cell.arguments.get("d")))
        groups += _grouped(cells)
    return checked, groups


def _axes(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of each axis but the parts of layers."""
    axes = {}
    for name, values in grid.items():
        if name not in (*_PARTS, "steps", "seeds"):
            axes[name] = _listed(values)
    if "seeds" in grid:
        count = grid["seeds"]
        if not isinstance(count, int) or count < 1 or "seed" in grid:
            wish = "must be how many there are, from 1 up, without 'seed'"
            raise InputError(f"`grid`: 'seeds' {wish}.")
        axes["seed"] = list(range(count))
    if empty := [name for name, values in axes.items() if not values]:
        raise InputError(f"`grid`: {empty[0]!r} has no value.")
    return axes


def _parts(grid: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of layers, each with its choices by name."""
    if "steps" in grid:
        if "alpha" in grid:
            raise InputError("`grid` must have 'alpha' or 'steps', not both.")
        grid = {**grid, "alpha": grid["steps"]}
    given = {part: grid.get(part, usual) for part, usual in _PARTS.items()}
    return {part: _choices(part, each) for part, each in given.items() if each is not None}


def _choices(part: str, given: Any) -> dict[str, Any]:
    """What a part may be, by name: a mapping, or one or several words."""
    is_named = isinstance(given, Mapping)
    pairs = list(given.items()) if is_named else [(each, each) for each in _listed(given)]
    if not pairs or (part in ("metric", "value") and isinstance(pairs[0][0], list)):
        wish = "must map names to matrices, {'tilted': [[2, 1], [1, 1]]}, or be in words"
        raise InputError(f"`grid`: {part!r} {wish}.")
    named = []
    for name, choice in pairs:
        is_usual = isinstance(choice, str) and choice in _USUAL
        named.append((str(name), None if is_usual else choice))
    return _named(named, f"choices of {part}")


def _named(pairs: Iterable[tuple[Any, Any]], what: str) -> dict[Any, Any]:
    """Things by name; under one name, one of two would be lost."""
    named = {}
    for name, thing in pairs:
        if name in named:
            problem = f"`grid` and `observables`: two {what} would be named {shorten(name)}"
            way_out = "Give each a name of its own, observables as {'name': function}"
            raise InputError(f"{problem}. {way_out}.")
        named[name] = thing
    return named


def _listed(values: Any) -> list[Any]:
    many = isinstance(values, Sequence | range | np.ndarray) and not isinstance(values, str)
    if not many:
        return [values]
    return list(map(plain, values))


def _makers(wanted: list[Any], arguments: Any) -> dict[str, Callable[..., Any]]:
    pairs = []
    for maker in wanted:
        make = MAKERS.get(maker.replace("-", "_")) if isinstance(maker, str) else maker
        if not callable(make):
            wish = f"one of {', '.join(MAKERS)}, or a function"
            raise InputError(f"`grid`: 'maker' must be {wish}, not {shorten(maker)}.")
        name = maker if isinstance(maker, str) else getattr(make, "__name__", repr(make))
        pairs.append((name, make))
    makers = _named(pairs, "makers")
    signatures = {name: inspect.signature(make).parameters for name, make in makers.items()}
    for name, parameters in signatures.items():
        for parameter in parameters.values():
            is_needed = parameter.default is parameter.empty and parameter.kind in _NAMED
            if is_needed and parameter.name not in arguments:
                problem = f"{name} needs {parameter.name!r}"
                raise InputError(f"`grid`: {problem}: give a value, or a list.")
    if unknown := sorted(arguments - set().union(*signatures.values())):
        raise InputError(f"`grid`: no maker takes {unknown[0]!r}.")
    return makers


def _observables(wanted: Any) -> dict[str, Observable]:
    if isinstance(wanted, str) or not isinstance(wanted, Sequence | Mapping) or not wanted:
        wish = "names of attributes of Limit or functions"
        raise InputError(f"`observables` must be {wish}, not {shorten(wanted)}.")
    if isinstance(wanted, Mapping):
        pairs = list(wanted.items())
    else:
        pairs = [(getattr(observable, "__name__", observable), observable) for observable in wanted]
    for name, observable in pairs:
        if not isinstance(name, str) or not (callable(observable) or _is_attribute(observable)):
            problem = f"{shorten(observable)} is neither an attribute of Limit nor a function"
            raise InputError(f"`observables`: {problem}.")
    return _named(pairs, "observables")


def _is_attribute(name: Any) -> bool:
    return isinstance(name, str) and not name.startswith("_") and hasattr(Limit, name)


def _grouped(cells: list[Cell]) -> list[list[Cell]]:
    groups, size = [[]], 0
    for cell in cells:
        if size >= _COORDINATES or len(groups[-1]) == _CELLS:
            groups.append([])
            size = 0
        groups[-1].append(cell)
        n, d = cell.arguments.get("n", 100), cell.arguments.get("d", 2)
        size += n * d if isinstance(n, int) and isinstance(d, int) else 200
    return groups


def _prepare(folder: Path, grid: Grid) -> Path:
    """The folder, which says whose parts it has: those of another sweep are not continued."""
    dynamics = {names: layer.to_dict() for names, layer in grid.dynamics.items()}
    inputs = vars(grid) | {"dynamics": dynamics, "version of hardmax": __version__}
    lines = {f"{what} {fingerprint(value, what)}" for what, value in inputs.items()}
    # A name which readers of folders of Parquet files leave out.
    about = make_folder(folder, "`output`") / "_sweep"
    before = {*about.read_text("utf-8", "replace").splitlines()} if about.exists() else set()
    if lines != before and any(folder.glob("part-*.parquet")):
        changed = ", ".join(line.rpartition(" ")[0] for line in sorted(lines - before))
        problem = f"`output` `{folder}` has the parts of another sweep; what differs: {changed}"
        raise InputError(f"{problem}. Name a new folder, or delete this one.", argument="output")
    write_whole(about, "\n".join(sorted(lines)).encode())
    for draft in folder.glob(f".{'?' * 16}.part"):  # left by a process that was killed
        draft.unlink(missing_ok=True)
    return about.parent


def _find_part(folder: Path | None, number: int, group: list[Cell], earlier: Counter[str]) -> Part:
    """What there is of a part, and what is not; cells that failed are tried again."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder and folder / f"part-{number:06}.parquet"
    table = pa.table({"cell": [], "error": []})
    if path and path.exists():
        try:
            table = parquet.read_table(path)
        except (pa.ArrowException, OSError):
            earlier["computed again, as their file cannot be read"] += len(group)
    rows = table.filter(table["error"].is_null())
    earlier[_BEFORE] += len(rows)
    earlier["tried again, as they had failed"] += len(table) - len(rows)
    done = {*rows["cell"].to_pylist()}
    return Part(rows, [cell for cell in group if cell.number not in done], path)


def _run_part(grid: Grid, part: Part, threads: int) -> "pyarrow.Table":
    """A part of the table, which is also written, if there is a folder."""
    import pyarrow as pa

    cells = part.cells
    with limit_threads(threads), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _IGNORED)
        results = _results(grid, cells)
    columns: dict[str, Any] = {"cell": [cell.number for cell in cells]}
    columns["maker"] = [cell.maker for cell in cells]
    for number, name in enumerate(grid.parts):
        columns[name] = [cell.layer[number] for cell in cells]
    for name in cells[0].arguments:
        columns[name] = [cell.arguments[name] for cell in cells]
    made = pa.table(columns | results | {"error": pa.array(results["error"], pa.string())})
    table = pa.concat_tables([made, part.rows], promote_options="permissive")
    if part.path:
        write_parquet(part.path, table)
    return table


def _results(grid: Grid, group: list[Cell]) -> dict[str, list[Any]]:
    """What is observed in each cell, by columns."""
    try:
        made = [grid.makers[cell.maker](**cell.arguments) for cell in group]
        limits: Any = limit(made, grid.dynamics[group[0].layer])
        return _observed(grid, limits) | {"error": [None] * len(group)}
    except Exception as error:  # it is part of the answer, if it is clear whose it is
        if len(group) == 1:
            return {name: [None] for name in grid.observables} | {"error": [_reason(error)]}
    middle = len(group) // 2
    first, second = _results(grid, group[:middle]), _results(grid, group[middle:])
    return {name: first[name] + second[name] for name in first}


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _observed(grid: Grid, limits: Limits) -> dict[str, list[Any]]:
    at_once = limits._counts()  # what the batch has for all clouds need not be asked of each
    columns = {}
    for name, observable in grid.observables.items():
        if isinstance(observable, str) and observable in at_once:
            columns[name] = at_once[observable]
        else:
            columns[name] = [_value(lim, observable) for lim in limits]
    return columns


def _value(lim: Limit, observable: Observable) -> Any:
    value = getattr(lim, observable) if isinstance(observable, str) else observable(lim)
    if hasattr(value, "__len__") and not isinstance(value, str):
        return len(value)
    return plain(value)
