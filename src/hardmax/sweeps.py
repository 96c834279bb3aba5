"""Many clouds and dynamics at once: `sweep` makes a table with a row for each pair of them."""

import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax import __version__
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder
from hardmax._common.progress import Search
from hardmax._common.validation import InputError, check_int, check_path, require_extra, shorten
from hardmax._tokens.rationals import plain
from hardmax.clouds import gaussian
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.infinite_depth import Limit, limits

if TYPE_CHECKING:
    import pyarrow

Observable = str | Callable[[Limit], Any]
_CELLS = 64  # of a task, at most: clouds of one size in one batch


def sweep(
    grid: Mapping[str, Any],
    dynamics: Dynamics | Sequence[Dynamics] | Mapping[Any, Dynamics],
    observables: Sequence[Observable] | Mapping[str, Observable] = ("settled_at", "leaders"),
    *,
    maker: Callable[..., Any] = gaussian,
    output: str | Path | None = None,
) -> "pyarrow.Table":
    """Limits of many clouds under many dynamics, as a table (extra `sweep`).

    Parameters
    ----------
    grid : mapping
        Arguments of the maker, such as `n`, `d` and `seed`: for each a value, or a list of them.
        ``"seeds": 100`` stands for the seeds 0 to 99.
    dynamics : Dynamics, or a sequence or mapping of them
        A mapping says what they are called in the table.
    observables : sequence or mapping, default ("settled_at", "leaders")
        Names of attributes or methods of `Limit`, or functions of it. If one has a length, the
        length is taken.
    maker : callable, default gaussian
        A function that returns a cloud, such as those of `hardmax.clouds`; what its dimension
        depends on is called `d`.
    output : str or Path, optional
        A folder for Parquet files, each written as soon as its rows are there. Calling again skips
        complete files, and computes what is missing or damaged. It does not see that the
        code of your own functions has changed: then use a new folder.

    Returns
    -------
    pyarrow.Table
        A row for each cloud and each dynamics. After Ctrl-C, the rows of the first tasks, with a
        warning and ``"interrupted"`` among the metadata of the schema.

    Notes
    -----
    Rows are computed in tasks of joblib: ``with joblib.parallel_config(backend="loky", n_jobs=8)``
    (or "dask", "ray") is all it takes to run them elsewhere. A line of stderr says how many are
    done after two seconds, on a terminal or in a notebook.

    Examples
    --------
    >>> table = sweep({"n": [10, 20], "d": 2, "seeds": 3}, Dynamics(1), ["leaders", "clusters"])
    >>> table.num_rows, table.column_names
    (6, ['dynamics', 'n', 'd', 'seed', 'leaders', 'clusters'])
    """
    require_extra("`sweep`", "sweep", "joblib", "pyarrow")
    import joblib
    import pyarrow as pa

    layers = {name: check_dynamics(one) for name, one in _named(dynamics, "`dynamics`").items()}
    seen = _named(observables, "`observables`")
    for name, observable in seen.items():
        is_attribute = isinstance(observable, str) and hasattr(Limit, observable)
        if not isinstance(name, str) or not (callable(observable) or is_attribute):
            problem = f"{shorten(observable)} is neither an attribute of Limit nor a function"
            raise InputError(f"`observables`: {problem}.")
    pairs = [*product(layers.items(), _groups(grid, maker, {"dynamics", *seen}))]
    folder = output
    if output is not None:
        folder = make_folder(check_path(output, "`output`"), "`output`")
    run = joblib.delayed(_run)
    tasks = (run(maker, cells, name, layer, seen, folder) for (name, layer), cells in pairs)
    # Not all backends give what is done before all is.
    backend: Any = joblib.parallel.get_active_backend()[0]
    can_yield = backend.supports_return_generator
    results: Any = joblib.Parallel(return_as="generator" if can_yield else "list")(tasks)
    tables, rows_before = [], 0
    with Search("tasks") as report:
        for table, found in results:
            tables.append(table)
            rows_before += found
            report(len(tables), len(pairs))
    if rows_before:
        unseen = "if you have changed the code of your own functions, use a new folder"
        warnings.warn(f"{rows_before} rows were in `{output}`; {unseen}", stacklevel=2)
    if not tables:
        raise KeyboardInterrupt
    # In some tables a column may have no value at all, and so no type.
    table = pa.concat_tables(tables, promote_options="permissive")
    if not report.interrupted:
        return table.replace_schema_metadata(None)
    part = f"{len(tables)} of {len(pairs)} tasks"
    warnings.warn(f"interrupted: the table has the rows of {part}", stacklevel=2)
    return table.replace_schema_metadata({"interrupted": part})


def _groups(grid: Any, maker: Any, taken: set[Any]) -> list[list[dict[str, Any]]]:
    """The arguments of all clouds, in a group for each task."""
    if not isinstance(grid, Mapping) or taken & grid.keys():
        wish = f"map arguments of `maker` to values; none is called {', '.join(map(str, taken))}"
        raise InputError(f"`grid` must {wish}: it is {shorten(grid)}.")
    axes: dict[str, Any] = {name: _listed(values) for name, values in grid.items()}
    if "seeds" in grid:
        del axes["seeds"]
        axes["seed"] = range(check_int(grid["seeds"], "`grid` 'seeds'", at_least=1))
    try:
        signature = inspect.signature(maker)
    except Exception:  # of what only seems to be a function, any
        wish = "a function that makes clouds, such as hm.clouds.gaussian"
        raise InputError(f"`maker` must be {wish}, not {shorten(maker)}.") from None
    try:
        signature.bind(**axes)
    except TypeError as error:
        raise InputError(f"`grid` must fit `maker`: {error}.") from None
    groups = defaultdict(list)
    for number, values in enumerate(product(*axes.values())):
        cell = dict(zip(axes, values, strict=True))
        groups[number // _CELLS, cell.get("n"), cell.get("d")].append(cell)
    if not groups:
        raise InputError("`grid`: an argument has no value.")
    return [*groups.values()]


def _named(given: Any, what: str) -> dict[Any, Any]:
    """One or several things, by names."""
    things = [*given.items()] if isinstance(given, Mapping) else [*map(_with_name, _listed(given))]
    if not things or len(dict(things)) < len(things):
        raise InputError(f"{what} must be one or several, with different names.")
    return dict(things)


def _with_name(thing: Any) -> tuple[Any, Any]:
    return thing if isinstance(thing, str) else getattr(thing, "__name__", str(thing)), thing


def _listed(given: Any) -> list[Any]:
    given = given.tolist() if isinstance(given, np.ndarray) else given
    return [*map(plain, given)] if isinstance(given, list | tuple | range) else [given]


def _run(
    maker: Any, cells: Any, name: Any, dynamics: Dynamics, seen: Any, folder: Path | None
) -> tuple["pyarrow.Table", int]:
    """The rows of some cells, and how many of them were in the folder."""
    import joblib
    import pyarrow as pa
    from pyarrow import parquet

    functions = [_with_name(function)[0] for function in (maker, *seen.values())]
    inputs = joblib.hash([__version__, cells, name, dynamics.to_dict(), list(seen), functions])
    path = folder and folder / f"{inputs}.parquet"
    with suppress(Exception):  # whatever a damaged file raises
        if path and path.exists():
            table = parquet.read_table(path)
            if table.schema.metadata[b"digest"].decode() == joblib.hash(table.to_pydict()):
                return table, len(table)
    found = limits([maker(**cell) for cell in cells], dynamics)
    columns = {"dynamics": [name] * len(cells)}
    columns |= {argument: [cell[argument] for cell in cells] for argument in cells[0]}
    columns |= {what: [_value(lim, seen[what]) for lim in found] for what in seen}
    table = pa.table(columns)
    if path:
        digest = joblib.hash(table.to_pydict())
        write_parquet(path, table.replace_schema_metadata({"digest": digest}))
    return table, 0


def _value(lim: Limit, observable: Observable) -> Any:
    value = getattr(lim, observable) if isinstance(observable, str) else observable(lim)
    value = value() if callable(value) else value
    has_length = hasattr(value, "__len__") and not isinstance(value, str)
    return len(value) if has_length else plain(value)
