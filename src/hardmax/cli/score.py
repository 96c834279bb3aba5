"""Classify every row of a table of any size.

Writes the table with columns for the label, whether it is decided, its probability, and what was
wrong with a row; with --votes also for the leaders, the active tokens, their votes and what they
attend to. If it is interrupted, the same command continues after the parts that were written.

All Parquet files of a folder are read in the order of their names, part-10 before part-2. Anything
else in it is named on stderr."""

import time
from argparse import Namespace
from typing import TYPE_CHECKING

from hardmax._common.format import pluralize
from hardmax._common.progress import Reporting
from hardmax._common.validation import check_path, require_extra
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json, print_table

if TYPE_CHECKING:
    from hardmax.text.score_files import ScoringReport


OPTIONS = {
    "INPUT": {"help": "Parquet, CSV, TSV or JSON lines file, a folder of Parquet files, or -."},
    "-o --output": opt.value("FILE", "Table to write.", required=True),
    **opt.MODEL,
    **opt.COLUMN_OF_TEXTS,
    "--votes": opt.flag("Also write the words behind each label, which takes longer."),
    "--on-bad-rows": {
        "choices": ("null", "refuse"),
        "default": "null",
        "help": "What to do with rows that cannot be used; null keeps them, with an error.",
    },
    "--force": opt.flag("Overwrite existing files."),
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    require_extra("`hardmax score`", "tables", "pyarrow", "narwhals")

    # Only now: numpy and pyarrow take a while to import.
    from hardmax.text.score_files import score_file
    from hardmax.text.shipped import load_model

    how = {name: getattr(args, name) for name in ("text", "votes", "on_bad_rows", "force")}
    target = check_path(args.output, "`output`")
    model = load_model(args.model)
    began = time.perf_counter()
    bar = Reporting("scoring")

    def update(share: float, rows: int) -> None:
        bar(int(100 * share), 100, f"%, {pluralize(rows, 'row')}")

    report = score_file(model, args.INPUT, target, **how, progress=update)
    bar.end()
    _warn(report)
    seconds = time.perf_counter() - began
    document = {"input": args.INPUT, "output": args.output} | model._made_by
    document |= vars(report) | {"seconds": round(seconds, 3)}
    if args.json:
        print_json(document)
        return
    document["rows_with_errors"] = report.bad
    print_facts(document, "output", "rows", "undecided", "rows_with_errors", "seconds")
    print_table(["label", "rows"], sorted(report.labels.items()))


def _warn(report: "ScoringReport") -> None:
    """Print to stderr what those who use the file should know."""
    if report.scored_before:
        notify(f"continued after {pluralize(report.scored_before, 'row')} of an earlier run")
    renamed = [f"{name} as {ours}" for name, ours in report.columns.items() if name != ours]
    if renamed:
        shown = ", ".join(renamed)
        notify(f"the table already has columns of these names, so ours are renamed: {shown}")
    if report.bad:
        from hardmax.text.tables import join_first

        shown = join_first([f"{place}: {fault}" for place, fault in report.bad_rows], report.bad)
        notify(f"{pluralize(report.bad, 'bad row')} ({shown})")
