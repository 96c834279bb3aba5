"""`hardmax score`: classify every row of a table."""

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax._format import pluralize
from hardmax._validation import require_extra
from hardmax.cli.one_text import DEFAULT_MODEL, TheModel
from hardmax.cli.options import AsJson, grouped
from hardmax.cli.output import narrate, print_facts, print_json, progress_bar

if TYPE_CHECKING:
    from hardmax.text.scoring import ScoringReport

SHOWN_ROWS = 5


@dataclass(frozen=True)
class RowOptions:
    """What is asked of every row."""

    text: Annotated[str | None, typer.Option("--text", help="The column of the texts; usual names are looked for.")] = (
        None
    )
    abstain: Annotated[float, typer.Option(help="Mark rows whose probability is below this one.")] = 0.0
    on_bad_rows: Annotated[
        str, typer.Option(help="Rows without a text, and broken ones: null (kept, with an error), skip or refuse.")
    ] = "null"


@grouped
def score_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="Parquet, CSV, TSV or JSON lines file, a folder of Parquet files, or - for standard input.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="The file to write: .parquet, .csv, .tsv or .jsonl, or a folder for Parquet files.",
        ),
    ],
    *,
    model: TheModel = DEFAULT_MODEL,
    asked: RowOptions,
    threads: Annotated[
        int | None, typer.Option(help="Processor threads to use; all, if not given. Changes no result.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    as_json: AsJson = False,
) -> None:
    """Classify every row of a table, of any size.

    Writes the table with columns for the label, whether it is decided, its probability, the margin to the next label,
    the leaders, the active tokens with their votes, whether to abstain, and what was wrong with a row. If it is
    interrupted, the same command continues after the last part that was written.
    """
    require_extra("`hardmax score`", "tables", "pyarrow", "narwhals")

    # Only now, since numpy and pyarrow take a while to come.
    from hardmax._parallel import limit_threads
    from hardmax._validation import check_int, check_path
    from hardmax.text.scoring import ScoreOptions, check_output, score_file
    from hardmax.text.shipped import load

    if threads is not None:
        check_int(threads, "`threads`", at_least=1)
    options, target = ScoreOptions(**asdict(asked)), check_path(out, "`out`")
    check_output(source, target, force)
    began = time.perf_counter()
    with progress_bar("scoring") as bar, limit_threads(threads) if threads else nullcontext():

        def update(share: float, rows: int) -> None:
            if bar:
                bar(int(1000 * share), 1000, f"{rows / max(time.perf_counter() - began, 1e-9):,.0f} rows/s")

        report = score_file(load(model), source, target, options, force=force, progress=update)
    _notify(report, asked.on_bad_rows)
    document = _document(report, source, out, model, time.perf_counter() - began)
    if as_json:
        print_json(document)
        return
    labels = ", ".join(f"{each['label']} {each['rows']:,}" for each in document["labels"])
    print_facts(
        [
            ("wrote", out),
            ("rows", f"{report.rows:,}"),
            ("labels", labels or "none"),
            ("undecided", f"{report.undecided:,}"),
            ("abstained", f"{report.abstained:,}"),
            ("bad rows", f"{report.bad:,}"),
            ("took", f"{document['seconds']:,.1f} s, {document['rows_per_second']:,.0f} rows/s"),
        ],
        comment="# ",
    )


def _notify(report: "ScoringReport", on_bad_rows: str) -> None:
    """Print on stderr what those who use the file should know."""
    if report.resumed:
        narrate(f"continued after {pluralize(report.resumed, 'row')} that an earlier run had scored")
    if report.note:
        narrate(report.note)
    renamed = [f"{name} as {new}" for name, new in report.names.items() if new.startswith("hardmax_")]
    if renamed:
        narrate(f"the table already has columns of these names, so ours are renamed: {', '.join(renamed)}")
    if report.bad:
        shown = "; ".join(f"{place}: {fault}" for place, fault in report.listed[:SHOWN_ROWS])
        more = f"; and {report.bad - SHOWN_ROWS:,} more" if report.bad > SHOWN_ROWS else ""
        what = "without an answer" if on_bad_rows == "null" else "left out"
        narrate(f"{pluralize(report.bad, 'bad row')} {what} ({shown}{more})")


def _document(report: "ScoringReport", source: str, out: str, model: str, seconds: float) -> dict[str, Any]:
    return {
        "input": source,
        "output": out,
        "model": model,
        "text": report.text,
        "columns": report.names,
        "rows": report.rows,
        "labels": [{"label": label, "rows": rows} for label, rows in sorted(report.labels.items())],
        "undecided": report.undecided,
        "abstained": report.abstained,
        "bad": report.bad,
        "bad_rows": [{"place": place, "error": fault} for place, fault in report.listed],  # the first hundred
        "scored_before": report.resumed,
        "seconds": round(seconds, 3),
        "rows_per_second": round((report.rows - report.resumed) / seconds, 1),
    }
