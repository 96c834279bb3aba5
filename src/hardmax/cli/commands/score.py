"""`hardmax score`: what a model says of every row of a table."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from hardmax._validation import require_extra
from hardmax.cli.one_text import DEFAULT_MODEL, TheModel
from hardmax.cli.options import AsJson, grouped
from hardmax.cli.output import progress_bar
from hardmax.cli.reports import score as score_report


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
    prefix: Annotated[str, typer.Option(help="What the names of the new columns begin with.")] = ""


@dataclass(frozen=True)
class WorkOptions:
    """How the work is done."""

    batch_size: Annotated[int, typer.Option(help="Rows that are scored at a time. Changes no result.")] = 4096
    threads: Annotated[
        int | None, typer.Option(help="Processor threads to use; all, if not given. Changes no result.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace the output, or parts of another job.")] = False


@grouped
def score_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="Parquet, CSV, TSV or JSON lines file (also .gz, .zst), a folder of them, or - for standard input.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write: .parquet, .csv, .tsv or .jsonl (also .gz, .zst).")
    ],
    *,
    model: TheModel = DEFAULT_MODEL,
    asked: RowOptions,
    work: WorkOptions,
    as_json: AsJson = False,
) -> None:
    """Score every row of a table, of any size.

    Writes the table with columns for the label, its probability, the margin (that probability less the next one), the
    words that lead, those that count with their votes, whether to abstain, and what was wrong with a row. Interrupted
    at any moment, the same command goes on where it was, and writes the same bytes.
    """
    require_extra("`hardmax score`", "tables", "pyarrow")

    # Only now, since numpy and pyarrow take a while to come.
    from hardmax import __version__
    from hardmax._parallel import limit_threads
    from hardmax._validation import check_int, check_path
    from hardmax.text.scoring.bulk import Plan, check_places, score_file
    from hardmax.text.scoring.scored import Asked
    from hardmax.text.shipped import load

    if work.threads is not None:
        check_int(work.threads, "`threads`", at_least=1)
    check_int(work.batch_size, "`batch_size`", at_least=1)
    wishes, target = Asked.read(**asdict(asked)), check_path(out, "`out`")
    check_places(source, target, work.force)
    plan = Plan(work.batch_size, work.force, __version__)
    began = time.perf_counter()
    with progress_bar("scoring") as bar, limit_threads(work.threads) if work.threads else nullcontext():
        account = score_file(load(model), source, Path(out), wishes, plan, bar and _with_rate(bar))
    seconds = time.perf_counter() - began
    score_report.tell(account, wishes.on_bad_rows)
    report = score_report.document(account, source, out, model, seconds)
    score_report.show(report, as_json)


def _with_rate(bar: Callable[..., None]) -> Callable[[int, int, int], None]:
    """Progress by bytes, with the rows of a second beside it."""
    began = time.perf_counter()

    def update(done: int, total: int, rows: int) -> None:
        bar(done, total, f"{rows / max(time.perf_counter() - began, 1e-9):,.0f} rows/s")

    return update
