"""What `hardmax score` says of the rows that it scored."""

from typing import TYPE_CHECKING, Any

from hardmax._format import pluralize
from hardmax.cli.output import narrate, print_facts, print_json

if TYPE_CHECKING:
    from hardmax.text.data.corpora import BadRow
    from hardmax.text.scoring.bulk import Account

_SHOWN = 5
_BECAME = {"null": "without an answer", "skip": "left out"}


def tell(account: "Account", on_bad_rows: str) -> None:
    """Says on stderr what people should know before they use the file."""
    if account.kept:
        narrate(f"went on after {pluralize(account.kept, 'row')} that were scored before")
    renamed = [f"{name} as {given}" for name, given in account.names.items() if given.endswith(f"hardmax_{name}")]
    if renamed:
        narrate(f"the table has columns of that name, so ours are written with another: {', '.join(renamed)}")
    if account.others:
        narrate(f"{pluralize(account.others, 'other file')} of the folder left alone")
    for lost in account.lost:
        narrate(f"{lost.place}: {lost.reason}")
    if account.bad:
        shown = "; ".join(f"{row.place}: {row.reason}" for row in account.listed[:_SHOWN])
        more = f"; and {account.bad - _SHOWN:,} more" if account.bad > _SHOWN else ""
        narrate(f"{pluralize(account.bad, 'row')} {_BECAME[on_bad_rows]} ({shown}{more}).")


def document(account: "Account", source: str, out: str, model: str, seconds: float) -> dict[str, Any]:
    """All of it as plain data."""
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
        "bad_rows": list(map(_place, account.listed)),  # the first thousand
        "lost_files": list(map(_place, account.lost)),
        "scored_before": account.kept,
        "seconds": round(seconds, 3),
        "rows_per_second": round(rate, 1),
    }


def show(report: dict[str, Any], as_json: bool) -> None:
    """Prints the report, for people or programs."""
    if as_json:
        print_json(report)
        return
    labels = ", ".join(f"{one['label']} {one['rows']:,}" for one in report["labels"])
    print_facts(
        [
            ("wrote", report["output"]),
            ("rows", f"{report['rows']:,}"),
            ("labels", labels or "none"),
            ("abstained", f"{report['abstained']:,}"),
            ("bad rows", f"{report['bad']:,}"),
            ("took", f"{report['seconds']:,.1f} s, {report['rows_per_second']:,.0f} rows/s"),
        ],
        comment="# ",
    )


def _place(row: "BadRow") -> dict[str, str]:
    return {"place": row.place, "error": row.reason}
