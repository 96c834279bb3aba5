"""Many clouds and dynamics at once: `sweep` makes a table with a row for each cell of a grid."""

import inspect
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax import __version__, clouds
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder, write_whole
from hardmax._common.fingerprint import fingerprint
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, require_extra, shorten
from hardmax._kernels.parallel import limit_threads, max_threads
from hardmax._streams.chunks import check_progress
from hardmax.dynamics import Dynamics
from hardmax.limits import Limit, Limits, limit

if TYPE_CHECKING:
    import pyarrow

Progress = Callable[[int, int], None]
Observable = str | Callable[[Limit], Any]
Observables = Sequence[Observable] | Mapping[str, Observable]
MAKERS = {
    name: make
    for name, make in vars(clouds).items()
    if inspect.isfunction(make) and make.__module__ == clouds.__name__ and name != "rotated"
}
# Cells go through one kernel together, in groups of about so many coordinates; a group is a part of
# the table.
_COORDINATES, _CELLS = 2**18, 512
_AS_DONE = "generator_unordered"  # which Ray's backend does not do
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_IGNORED = "the theorem does not apply to the metric"


class Cell(NamedTuple):
    """A cloud and its dynamics; `given` are the maker's arguments."""

    number: int
    maker: str
    given: dict[str, Any]
    alpha: str
    metric: str


class Grid(NamedTuple):
    """What cells are made of: arguments, makers, dynamics, by alpha and metric, and observables."""

    arguments: dict[str, list[Any]]
    makers: dict[str, Callable[..., Any]]
    dynamics: dict[tuple[str, str], Dynamics]
    observables: dict[str, Observable]

    @property
    def columns(self) -> list[str]:
        """Those of the table, in order."""
        return ["cell", "maker", *self.arguments, "alpha", "metric", *self.observables, "error"]


class Part(NamedTuple):
    """A part of the table: the rows that are there, the cells that are not, and its file."""

    rows: "pyarrow.Table"
    cells: list[Cell]
    path: Path | None


def sweep(
    grid: Mapping[str, Any],
    observables: Observables = ("settled_at", "leaders", "clusters"),
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
        "identity".
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
        A row for each cell: its number, maker, arguments, alpha, metric, observables, and `error`,
        the reason if it failed. Its `schema.metadata` has under "earlier" what an earlier call left
        in the folder.

    Notes
    -----
    Groups of cells are tasks of joblib: ``with joblib.parallel_config(backend="loky", n_jobs=8)`` (or "dask", "ray")
    is all it takes to run them elsewhere.

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
    finished: Any = joblib.Parallel(
        return_as=_AS_DONE if backend.supports_return_generator else "list"
    )(tasks)
    for table in finished:
        tables.append(table)
        done += len(table)
        if progress is not None:
            progress(done, sum(map(len, groups)))
    # In some parts a column may have no value at all, and so no type, or be missing.
    table = pa.concat_tables(tables, promote_options="permissive")
    table = table.select(checked.columns).sort_by("cell")
    said = [f"{pluralize(count, 'cell')} {what}" for what, count in earlier.items() if count]
    return table.replace_schema_metadata({"earlier": "; ".join(said)} if said else None)


def read_grid(grid: Any, observables: Any) -> tuple[Grid, list[list[Cell]]]:
    """Check a grid and list its cells in groups."""
    if not isinstance(grid, Mapping) or not all(isinstance(name, str) for name in grid):
        raise InputError(
            f"`grid` must map names such as 'n' to values, not {shorten(grid)}.", argument="grid"
        )
    axes = {
        name: _listed(values) for name, values in grid.items() if name not in ("metric", "seeds")
    }
    if "seeds" in grid:
        if not isinstance(grid["seeds"], int) or grid["seeds"] < 1 or "seed" in grid:
            raise InputError(
                "`grid`: 'seeds' must be how many there are, from 1 up, without 'seed'.",
                argument="grid",
            )
        axes["seed"] = list(range(grid["seeds"]))
    if empty := [name for name, values in axes.items() if not values]:
        raise InputError(f"`grid`: {empty[0]!r} has no value.", argument="grid")
    makers = _makers(axes.pop("maker", ["gaussian"]), axes.keys() - {"alpha"})
    matrices = grid.get("metric", {"identity": None})
    if not isinstance(matrices, Mapping) or not matrices:
        raise InputError(
            "`grid`: 'metric' must map names to matrices, {'tilted': [[2, 1], [1, 1]]}.",
            argument="grid",
        )
    pairs = [
        ((str(alpha), str(name)), Dynamics(alpha, _matrix(matrix)))
        for alpha in axes.pop("alpha", ["1/2"])
        for name, matrix in matrices.items()
    ]
    dynamics = _named(pairs, "dynamics")
    checked = Grid(axes, makers, dynamics, _observables(observables))
    _named(((name, None) for name in checked.columns), "columns")
    numbers = itertools.count()
    groups: list[list[Cell]] = []
    for (alpha, metric), (name, make) in itertools.product(dynamics, makers.items()):
        names = [argument for argument in axes if argument in inspect.signature(make).parameters]
        given = [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*(axes[one] for one in names))
        ]
        cells = [Cell(next(numbers), name, one, alpha, metric) for one in given]
        # Clouds of one dimension go through a kernel together.
        groups += _grouped(sorted(cells, key=lambda cell: str(cell.given.get("d"))))
    return checked, groups


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


def _matrix(given: Any) -> Any:
    """What Dynamics takes of a metric, which may be typed as on the command line."""
    if not isinstance(given, str):
        return given
    return None if given == "identity" else [row.split(",") for row in given.strip(" ;").split(";")]


def _listed(values: Any) -> list[Any]:
    many = isinstance(values, Sequence | range | np.ndarray) and not isinstance(values, str)
    return (
        [value.item() if isinstance(value, np.generic) else value for value in values]
        if many
        else [values]
    )


def _makers(wanted: list[Any], arguments: Any) -> dict[str, Callable[..., Any]]:
    pairs = []
    for one in wanted:
        make = MAKERS.get(one.replace("-", "_")) if isinstance(one, str) else one
        if not callable(make):
            known = ", ".join(MAKERS)
            raise InputError(
                f"`grid`: 'maker' must be one of {known}, or a function, not {shorten(one)}."
            )
        pairs.append((one if isinstance(one, str) else getattr(make, "__name__", repr(make)), make))
    makers = _named(pairs, "makers")
    signatures = {name: inspect.signature(make).parameters for name, make in makers.items()}
    for name, taken in signatures.items():
        needed = [
            one.name for one in taken.values() if one.default is one.empty and one.kind in _NAMED
        ]
        if missing := [one for one in needed if one not in arguments]:
            raise InputError(
                f"`grid`: {name} needs {missing[0]!r}: give a value, or a list.", argument="grid"
            )
    if unknown := sorted(arguments - set().union(*signatures.values())):
        raise InputError(f"`grid`: no maker takes {unknown[0]!r}.", argument="grid")
    return makers


def _observables(wanted: Any) -> dict[str, Observable]:
    if isinstance(wanted, str) or not isinstance(wanted, Sequence | Mapping) or not wanted:
        raise InputError(
            f"`observables` must be names of attributes of Limit or functions, not {shorten(wanted)}."
        )
    pairs = (
        wanted.items()
        if isinstance(wanted, Mapping)
        else [(getattr(one, "__name__", one), one) for one in wanted]
    )
    for name, one in pairs:
        public = isinstance(one, str) and not one.startswith("_") and hasattr(Limit, one)
        if not isinstance(name, str) or not (callable(one) or public):
            raise InputError(
                f"`observables`: {shorten(one)} is neither an attribute of Limit nor a function."
            )
    return _named(pairs, "observables")


def _grouped(cells: list[Cell]) -> list[list[Cell]]:
    groups, size = [[]], 0
    for cell in cells:
        if size >= _COORDINATES or len(groups[-1]) == _CELLS:
            groups.append([])
            size = 0
        groups[-1].append(cell)
        n, d = cell.given.get("n", 100), cell.given.get("d", 2)
        size += n * d if isinstance(n, int) and isinstance(d, int) else 200
    return groups


def _prepare(folder: Path, grid: Grid) -> Path:
    """The folder, which says whose parts it has: those of another sweep are not continued."""
    dynamics = {names: one.to_dict() for names, one in grid.dynamics.items()}
    inputs = grid._asdict() | {"dynamics": dynamics, "version of hardmax": __version__}
    lines = {f"{what} {fingerprint(value, what)}" for what, value in inputs.items()}
    about = (
        make_folder(folder, "`output`") / "_sweep"
    )  # which readers of folders of Parquet files leave out
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
    earlier["done before"] += len(rows)
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
    numbers, makers, given, alphas, metrics = zip(*cells, strict=True)
    columns: Any = {"cell": numbers, "maker": makers, "alpha": alphas, "metric": metrics}
    columns |= {name: [arguments[name] for arguments in given] for name in given[0]}
    made = pa.table(columns | results | {"error": pa.array(results["error"], pa.string())})
    table = pa.concat_tables([made, part.rows], promote_options="permissive")
    if part.path:
        write_parquet(part.path, table)
    return table


def _results(grid: Grid, group: list[Cell]) -> dict[str, list[Any]]:
    """What is observed in each cell, by columns."""
    try:
        made = [grid.makers[cell.maker](**cell.given) for cell in group]
        limits: Any = limit(made, grid.dynamics[group[0].alpha, group[0].metric])
        return _observed(grid, limits) | {"error": [None] * len(group)}
    except Exception as error:  # it is part of the answer, if it is clear whose it is
        if len(group) == 1:
            return {name: [None] for name in grid.observables} | {"error": [_reason(error)]}
    halves = [_results(grid, half) for half in (group[: len(group) // 2], group[len(group) // 2 :])]
    return {name: halves[0][name] + halves[1][name] for name in halves[0]}


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _observed(grid: Grid, limits: Limits) -> dict[str, list[Any]]:
    at_once = limits._counts()  # what the batch has for all clouds need not be asked of each
    return {
        name: at_once[one]
        if isinstance(one, str) and one in at_once
        else [_value(lim, one) for lim in limits]
        for name, one in grid.observables.items()
    }


def _value(lim: Limit, one: Observable) -> Any:
    value = getattr(lim, one) if isinstance(one, str) else one(lim)
    value = value.item() if isinstance(value, np.generic) else value
    return len(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
