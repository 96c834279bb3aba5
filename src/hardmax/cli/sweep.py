"""`hardmax sweep`: limits of many clouds under many dynamics, as a table."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated, Any

from typer import Argument, Option

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError, require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table, progress_bar


def sweep_command(
    spec: Annotated[
        str, Argument(metavar="SPEC", help="TOML file with a [grid] and `observables`.")
    ],
    output: Annotated[
        str, Option("--output", "-o", metavar="FOLDER", help="Folder for Parquet files.")
    ],
    steps: opt.Steps = None,
    value: opt.Value = None,
    mask: opt.Mask = None,
    attention: opt.Attention = None,
    jobs: Annotated[int | None, Option(help="Number of processes.")] = None,
    picture: opt.Picture = None,
    x: Annotated[str, Option("--x", help="Column to draw along the horizontal axis.")] = "n",
    y: Annotated[str, Option("--y", help="Column to draw along the vertical axis.")] = "leaders",
    by: Annotated[str | None, Option(help="Column with a line for each of its values.")] = None,
    rows: Annotated[bool, Option("--rows", help="Print every row of the table.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Find the limits of many clouds under many dynamics.

    Every value in [grid] is one or a list: maker, n, d, seed (or seeds, how many), alpha or steps,
    mask, attention; [grid.metric] and [grid.value] have matrices by name. Prints how many cells
    were computed, and the range of every observable. If it is interrupted, the same command
    continues: it computes what is missing or failed."""
    require_extra("`hardmax sweep`", "sweep", "joblib", "pyarrow")
    opt.check_target(picture, "--picture", *opt.PICTURES)
    document = _read(spec)
    layer = {"steps": steps, "value": opt.read_matrix(value), "mask": opt.read_mask(mask)}
    for name, part in (layer | {"attention": attention}).items():
        if part is not None and name in document["grid"]:
            raise InputError(f"`--{name}` is in [grid], too: give it only once.")
        if part is not None:
            document["grid"][name] = part if isinstance(part, str) else {"table": part}

    # Only now: numpy and scipy take a while to import.
    import joblib

    from hardmax.sweeps import OBSERVABLES, sweep

    began = time.perf_counter()
    options: dict[str, Any] = (
        {"observables": document["observables"]} if "observables" in document else {}
    )
    with (
        progress_bar("cells") as progress,
        joblib.parallel_config(n_jobs=jobs) if jobs else nullcontext(),
    ):
        table = sweep(document["grid"], **options, output=output, progress=progress)
    about = table.schema.metadata or {}
    if about:
        notify(about[b"earlier"].decode())
    if picture is not None:
        from hardmax.figures.charts import sweep_figure

        opt.write_picture(picture, sweep_figure(table, x, y, by=by))
    reused = int(about.get(b"reused", 0))
    facts: dict[str, Any] = {"output": output, "cells": table.num_rows, "reused": reused}
    facts["failed"] = table.num_rows - table["error"].null_count
    facts["seconds"] = round(time.perf_counter() - began, 3)
    ranges = _ranges(table, document.get("observables", OBSERVABLES))
    if as_json:
        listed = {"columns": table.column_names, "rows": table.to_pylist()}
        print_json(facts | {"observables": ranges} | listed)
        return
    print_facts(facts)
    if rows:
        print_table(table.column_names, (list(row.values()) for row in table.to_pylist()))
    else:
        print_table(list(ranges[0]), (list(row.values()) for row in ranges))


def _ranges(table: Any, observables: Sequence[str]) -> list[dict[str, Any]]:
    """The smallest and the largest value of each observable."""
    ranges = []
    for name in observables:
        known = [value for value in table[name].to_pylist() if value is not None]
        ends = {"smallest": min(known, default=None), "largest": max(known, default=None)}
        ranges.append({"observable": name, "cells": len(known)} | ends)
    return ranges


def _read(spec: str) -> dict[str, Any]:
    document = opt.read_toml(spec, "expected a TOML file with a table [grid]")
    if not isinstance(document.get("grid"), dict) or document.keys() - {"grid", "observables"}:
        raise InputError(
            f"{shown_name(spec)} must have a table [grid] and may have `observables`: "
            "nothing else is known."
        )
    return document
