"""`hardmax score`: classify every row of a table."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hardmax._format import pluralize
from hardmax._validation import require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from hardmax.text.scoring.bulk import Account

SHOWN_ROWS = 5


def score_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="Parquet, CSV, TSV or JSON lines file (also .gz, .zst), a folder of them, or - to read stdin.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="A .parquet, .csv, .tsv or .jsonl file (also .gz, .zst)."),
    ],
    model: opt.ModelOption = opt.DEFAULT_MODEL,
    text: opt.TextColumn = None,
    abstain: Annotated[float, typer.Option(help="Mark rows whose probability is below this one.")] = 0.0,
    on_bad_rows: Annotated[
        Literal["null", "skip", "refuse"],
        typer.Option(help="What to do with broken rows and rows without a text; null keeps them, with an error."),
    ] = "null",
    prefix: Annotated[str, typer.Option(help="Prefix of the names of the new columns.")] = "",
    batch_size: Annotated[int, typer.Option(min=1, help="Rows scored at a time; does not change the result.")] = 4096,
    threads: opt.Threads = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Classify every row of a table of any size.

    Writes the table with columns for the label, its probability, the margin to the next label, the leaders, the active
    tokens with their votes, whether to abstain, and what was wrong with a row. If it is interrupted, the same command
    continues where it stopped.
    """
    require_extra("`hardmax score`", "tables", "pyarrow")

    # Only now: numpy and pyarrow take a while to import.
    from hardmax import __version__
    from hardmax._parallel import limit_threads
    from hardmax._validation import check_path
    from hardmax.text.scoring.bulk import Plan, check_places, score_file
    from hardmax.text.scoring.scored import Asked
    from hardmax.text.shipped import load

    wishes = Asked.read(text=text, abstain=abstain, on_bad_rows=on_bad_rows, prefix=prefix)
    check_places(source, check_path(out, "`out`"), force)
    began = time.perf_counter()
    with progress_bar("scoring") as bar, limit_threads(threads) if threads else nullcontext():

        def update(done: int, total: int, rows: int) -> None:
            if bar is not None:
                bar(done, total, f"{rows / max(time.perf_counter() - began, 1e-9):,.0f} rows/s")

        account = score_file(load(model), source, Path(out), wishes, Plan(batch_size, force, __version__), update)
    _warn(account, on_bad_rows)
    report = _document(account, source, out, model, time.perf_counter() - began)
    if as_json:
        print_json(report)
        return
    print_facts(report, "output", "rows", "abstained", "bad", "seconds", "rows_per_second")
    print_table(["label", "rows"], ([one["label"], one["rows"]] for one in report["labels"]))


def _warn(account: "Account", on_bad_rows: str) -> None:
    """Messages for those who will use the file."""
    if account.kept:
        notify(f"continued after {pluralize(account.kept, 'row')} scored before")
    renamed = [f"{name} as {given}" for name, given in account.names.items() if given.endswith(f"hardmax_{name}")]
    if renamed:
        notify(f"the table already has columns of these names, so ours are renamed: {', '.join(renamed)}")
    if account.others:
        notify(f"{pluralize(account.others, 'other file')} in the folder ignored")
    for lost in account.lost:
        notify(f"{lost.place}: {lost.reason}")
    if account.bad:
        shown = "; ".join(f"{row.place}: {row.reason}" for row in account.listed[:SHOWN_ROWS])
        more = f"; and {account.bad - SHOWN_ROWS:,} more" if account.bad > SHOWN_ROWS else ""
        what = "without an answer" if on_bad_rows == "null" else "skipped"
        notify(f"{pluralize(account.bad, 'row')} {what} ({shown}{more}).")


def _document(account: "Account", source: str, out: str, model: str, seconds: float) -> dict[str, Any]:
    rate = (account.rows - account.kept) / seconds if seconds else 0.0
    return {
        "input": source,
        "output": out,
        "model": model,
        "text": account.text,
        "columns": account.names,
        "rows": account.rows,
        "scored": account.scored,
        "labels": [{"label": label, "rows": rows} for label, rows in sorted(account.labels.items(), key=str)],
        "abstained": account.abstained,
        "bad": account.bad,
        "bad_rows": [{"place": row.place, "error": row.reason} for row in account.listed],  # the first thousand
        "lost_files": [{"place": row.place, "error": row.reason} for row in account.lost],
        "scored_before": account.kept,
        "seconds": round(seconds, 3),
        "rows_per_second": round(rate, 1),
    }
