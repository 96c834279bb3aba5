"""`hardmax score`: classify every row of a table."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from hardmax._common.format import pluralize
from hardmax._common.validation import check_path, require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from hardmax.text.score_files import ScoringReport

INPUT = "Parquet, CSV, TSV or JSON lines file, a folder of Parquet files, or - to read stdin."
BAD_ROWS = "What to do with rows that cannot be used; null keeps them, with an error."


def score_command(
    source: Annotated[str, Argument(metavar="INPUT", help=INPUT)],
    out: Annotated[
        str, Option("--out", "-o", help="A .parquet, .csv, .tsv or .jsonl file, or a folder.")
    ],
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    text: opt.TextColumn = None,
    encoding: opt.Encoding = None,
    columns: Annotated[
        str | None, Option(metavar="NAME,…", help="Columns to keep; by default all.")
    ] = None,
    abstain: Annotated[float, Option(help="Mark rows with a lower probability.")] = 0.0,
    on_bad_rows: Annotated[Literal["null", "skip", "refuse"], Option(help=BAD_ROWS)] = "null",
    threads: opt.Threads = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Classify every row of a table of any size.

    Writes the table with columns for the label, whether it is decided, its probability, the margin
    to the next label, the leaders, the active tokens with their votes, whether to abstain, and what
    was wrong with a row. If it is interrupted, the same command continues after the parts that were
    written.

    Of a folder all Parquet files are read, in the order of their names: part-10 before part-2.
    Anything else in it is named on stderr. From a folder to a folder, each becomes one of its name.
    """
    require_extra("`hardmax score`", "tables", "pyarrow", "narwhals")

    # Only now: numpy and pyarrow take a while to import.
    from hardmax._kernels.parallel import limit_threads
    from hardmax.text.score_files import score_file
    from hardmax.text.scoring import ScoreOptions
    from hardmax.text.shipped import load_model

    kept = None if columns is None else tuple(name.strip() for name in columns.split(","))
    options = ScoreOptions(
        text=text, abstain=abstain, on_bad_rows=on_bad_rows, columns=kept, encoding=encoding
    )
    target = check_path(out, "`out`")
    began = time.perf_counter()
    with progress_bar("scoring") as bar, limit_threads(threads):

        def update(share: float, rows: int) -> None:
            if bar:
                speed = rows / max(time.perf_counter() - began, 1e-9)
                bar(int(1000 * share), 1000, f"{speed:,.0f} rows/s")

        report = score_file(
            load_model(model), source, target, options, force=force, progress=update
        )
    _warn(report, on_bad_rows)
    seconds = time.perf_counter() - began
    labels = [{"label": label, "rows": rows} for label, rows in sorted(report.labels.items())]
    bad_rows = [{"place": place, "error": fault} for place, fault in report.bad_rows]
    document = {
        "input": source,
        "output": out,
        "model": model,
        **asdict(report),
        "labels": labels,
        "bad_rows": bad_rows,
        "seconds": round(seconds, 3),
        "rows_per_second": round((report.rows - report.scored_before) / seconds, 1),
    }
    if as_json:
        print_json(document)
        return
    print_facts(
        document, *("output", "rows", "undecided", "abstained", "bad", "seconds", "rows_per_second")
    )
    print_table(["label", "rows"], (list(row.values()) for row in labels))


def _warn(report: "ScoringReport", on_bad_rows: str) -> None:
    """Print to stderr what those who use the file should know."""
    if report.scored_before:
        rows = pluralize(report.scored_before, "row")
        notify(f"continued after {rows} that an earlier run scored")
    renamed = [f"{name} as {ours}" for name, ours in report.columns.items() if name != ours]
    if renamed:
        shown = ", ".join(renamed)
        notify(f"the table already has columns of these names, so ours are renamed: {shown}")
    if report.bad:
        from hardmax.text.tables import join_first

        shown = join_first([f"{place}: {fault}" for place, fault in report.bad_rows], report.bad)
        what = "without an answer" if on_bad_rows == "null" else "left out"
        notify(f"{pluralize(report.bad, 'bad row')} {what} ({shown})")
