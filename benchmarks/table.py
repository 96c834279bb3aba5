"""Writes the tables of README.md and docs/ from the newest rows of results/*.csv.

Run: python benchmarks/table.py [--check]; with --check nothing is written, and 1 comes back if
something would change."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import TextWrapper

from cpu_results import (
    CPU,
    DISTURBED,
    FOOTNOTE,
    GPU,
    TARGETS,
    Run,
    Target,
    duration,
    mark,
    newest_runs,
    number,
    times_faster,
)
from growth import growth_table
from harness import RESULTS, read_rows
from text_tables import (
    corpora_sentence,
    corpora_table,
    faithfulness_line,
    faithfulness_table,
    few_labels_table,
    flips_sentence,
    imdb_line,
    model_table,
    pairs_table,
    peers_table,
    reading_sentence,
    sentiment_table,
)

from hardmax._common.files import write_whole

ROOT = Path(__file__).parents[1]
SHOWN = (
    "4,096 reviews of 132 tokens, d 2, 8 layers",
    "16 of the reviews, d 2, 8 layers",
    "4,096 reviews of 132 tokens, d 16, 8 layers",
    "n 1,000,000, d 2: one layer",
    "n 100,000, d 3: the limit beside one flat pass",
    "n 100,000, d 8: the limit beside one flat pass",
    "n 100,000, d 3, on a sphere: one layer",
    "n 30,000, d 16: one layer",
    "n 100,000, d 16: one layer",
    "n 100,000, d 64: one layer",
)


def numbers_table() -> str:
    """The few rows of README.md."""
    million = CPU["n 1,000,000, d 2: one layer"]
    three = CPU["n 100,000, d 3: the limit beside one flat pass"]
    hull = f"{seconds(million['numpy, hull and angles'])} (numpy, hull and angles)"
    product = seconds(three["scipy, hull and product, one layer"])
    flat = f"{product} (scipy's hull and one product, one layer), "
    flat += f"{seconds(three['faiss, one layer'])} (FAISS, one layer)"
    peers = {"torch float32": "torch float32 in blocks", "SDPA bf16": "SDPA bf16"}
    races = {name: GPU["one layer n 65536 d 64", "hardmax", peer] for name, peer in peers.items()}
    times = sorted(float(row["milliseconds"]) / 1e3 for row in races.values())
    beside = ", ".join(f"{gpu_peer(row)} ({name})" for name, row in races.items())
    rows = [
        (
            "one layer, 1,000,000 tokens, d 2, two cores",
            "speed.md",
            seconds(million["hardmax"]),
            hull,
        ),
        (
            "the limit, 100,000 tokens, d 3, two cores",
            "speed.md",
            seconds(three["hardmax, the limit"]),
            flat,
        ),
        (
            "one layer, 65,536 tokens, d 64, H200",
            "speed.md",
            " to ".join(map(duration, times)),
            beside,
        ),
        *map(imdb_line, ("imdb", "imdb-best")),
        *map(faithfulness_line, ("votes", "removals")),
    ]
    lines = [f"| [{what}](docs/{page}) | {mine} | {peer} |" for what, page, mine, peer in rows]
    return "\n".join(["| | hardmax | peer |", "|---|---|---|", *lines])


def speed_table() -> str:
    """Ours beside the peers, on two cores and on a GPU, and when that was."""
    head = "| work | hardmax | peers | rows checked: wrong |\n|---|---|---|---|"
    lines = [head, *(cpu_line(work, CPU[work]) for work in SHOWN if work in CPU), *gpu_lines()]
    on_two_cores = [row for work in SHOWN for row in CPU.get(work, {}).values()]
    when = f"Two cores: rows of {dates(on_two_cores)}. H200: rows of {dates(GPU.values())}."
    table = with_footnote("\n".join(lines))
    return f"{table}\n\n{when} {sdpa()}"


def dates(rows: Iterable[dict[str, str]]) -> str:
    """The days of rows, each with its commits.

    >>> dates([{"date": "2026-11-15", "commit": "b"}, {"date": "2026-11-15", "commit": "a"}])
    '2026-11-15 (b, a)'
    """
    commits: dict[str, list[str]] = {}
    for row in rows:
        known = commits.setdefault(row["date"], [])
        if row["commit"] not in known:
            known.append(row["commit"])
    return ", ".join(f"{day} ({', '.join(few)})" for day, few in commits.items())


def sdpa() -> str:
    """Which kernel stood behind SDPA, as far as the rows tell."""
    told = {name for row in GPU.values() for name in re.findall(r"sdpa=(\w+)", row["versions"])}
    if not told:
        return "The rows do not name the kernel that PyTorch chose for SDPA."
    return f"For SDPA PyTorch chose {', '.join(sorted(told))}."


def with_footnote(table: str) -> str:
    return f"{table}\n\n{FOOTNOTE}" if DISTURBED in table else table


def cpu_line(work: str, run: Run) -> str:
    ours = [name for name in run if name.startswith("hardmax")]
    peers = [name for name in run if name not in ours]
    mine = ", ".join(
        [
            seconds(run[ours[0]]),
            *(f"{name.removeprefix('hardmax, ')} {seconds(run[name])}" for name in ours[1:]),
        ]
    )
    beside = ", ".join(
        f"{name} {seconds(run[name])} (**{number(times_faster(run, name, ours[0]))}×**)"
        for name in peers
    )
    wrong = [f"{run[name]['disagreements']}" for name in ours[:1]]
    wrong += [
        f"{name} {run[name]['disagreements']}"
        for name in peers
        if run[name]["disagreements"] not in ("", "0")
    ]
    what = work.removesuffix(" beside one flat pass")
    return f"| {what}, two cores{mark(run)} | {mine} | {beside} | {checked(run[ours[0]])}{', '.join(wrong)} |"


def seconds(row: dict[str, str]) -> str:
    return duration(float(row["seconds"]))


def checked(row: dict[str, str]) -> str:
    return f"{int(row['checked']):,}: " if row["checked"] else ""


def gpu_lines() -> list[str]:
    """A line for each work on a GPU; there a ratio says how many times longer the peer takes."""
    lines: dict[tuple[str, str], list[dict[str, str]]] = {}
    for (work, contestant, _), row in GPU.items():
        if contestant.startswith("hardmax"):
            lines.setdefault((work, contestant), []).append(row)
    return [gpu_line(work, rows) for (work, _), rows in lines.items()]


def gpu_peer(row: dict[str, str]) -> str:
    """The time of the peer: a ratio says how many times longer it takes."""
    return duration(float(row["milliseconds"]) / 1e3 * float(row["ratio"]))


def gpu_line(work: str, rows: list[dict[str, str]]) -> str:
    # Peers race in groups, in each of which ours has a time of its own.
    ratios = [f"{row['peer']} {gpu_peer(row)} (**{number(float(row['ratio']))}×**)" for row in rows]
    beside, times = ", ".join(ratios), sorted(float(row["milliseconds"]) / 1e3 for row in rows)
    ours = " to ".join(dict.fromkeys(map(duration, times)))
    work = re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", work)
    device = rows[0]["machine"].removeprefix("NVIDIA ").split()[0]
    return (
        f"| {work}, {device} | {ours} | {beside} | {checked(rows[0])}{rows[0]['disagreements']} |"
    )


def target_table() -> str:
    """What was aimed at, and what came out."""
    return with_footnote(
        "\n".join(["| work | aim | measured | |\n|---|---|---|---|", *map(target_line, TARGETS)])
    )


def target_line(target: Target) -> str:
    try:
        measured, met = target.measure()
    except KeyError:
        return f"| {target.work} | {target.aim} | not measured | |"
    return f"| {target.work} | {target.aim} | {measured} | {'met' if met else '**missed**'} |"


def machine_table() -> str:
    """The newest rows of each thing that `limit_of_machine.py` measures."""
    runs: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_rows(RESULTS / "limit_of_machine.csv"):
        if row["what"] in runs.get(row["of"], {}):  # measured again
            runs[row["of"]] = {}
        runs.setdefault(row["of"], {})[row["what"]] = row
    lines = [machine_line(row) for run in runs.values() for row in run.values()]
    return "\n".join(["| of | what | | share |\n|---|---|---|---|", *lines])


def machine_line(row: dict[str, str]) -> str:
    share = f"{float(row['share']):.1%}" if row["share"] else ""
    return (
        f"| {row['of']} | {row['what']} | {number(float(row['value']))} {row['unit']} | {share} |"
    )


def layers_table() -> str:
    """Layers other than the paper's, in processor time: the newest run of each work, and of the
    limits of clouds that are hard to search."""
    lines = ["| work | hardmax | beside it |", "|---|---|---|"]
    for name, contestant in (("layers", "hardmax"), ("families", "hardmax, the limit")):
        rows = read_rows(RESULTS / f"{name}.csv")
        runs = newest_runs([row for row in rows if row["date"] >= LAYERS_SINCE])
        for work, run in runs.items():
            peers = [
                f"{who} {seconds(row)} (**{number(times_faster(run, who, contestant))}×**)"
                for who, row in run.items()
                if who != contestant
            ]
            lines.append(f"| {work} | {seconds(run[contestant])} | {', '.join(peers) or '–'} |")
    return "\n".join(lines)


def arithmetics_table() -> str:
    """What certainty costs: the time of `certified` over that of `float`."""
    runs = newest_runs(read_rows(RESULTS / "arithmetics.csv"))
    costs = {work: run["certified"] for work, run in runs.items() if "float" in run}
    lines = [f"| {work} | 1 | {float(row['ratio']):.2f} |" for work, row in costs.items()]
    return "\n".join(["| work | `float` | `certified` |", "|---|---|---|", *lines])


DOCS, LAYERS_SINCE = ROOT / "docs", "2026-11-18"
TABLES = {
    ROOT / "README.md": {"table of numbers": numbers_table},
    DOCS / "speed.md": {
        "speed table": speed_table,
        "table of aims": target_table,
        "table of other layers": layers_table,
        "table of the machine": machine_table,
    },
    DOCS / "growth.md": {"table of growth": growth_table},
    DOCS / "limits.md": {"table of arithmetics": arithmetics_table},
    DOCS / "text.md": {
        "sentence of reading": reading_sentence,
        "sentence of flips": flips_sentence,
    },
    DOCS / "models.md": {
        "table of sentiment": sentiment_table,
        "table of models": model_table,
        "table of few labels": few_labels_table,
        "table of corpora": corpora_table,
        "sentence of corpora": corpora_sentence,
        "table of peers": peers_table,
        "table of faithfulness": faithfulness_table,
        "table of paired differences": pairs_table,
    },
}


def with_tables(text: str, tables: dict) -> str:
    """The text with each table between its two marks made anew."""
    for name, make in tables.items():
        start, end = f"<!-- {name}: made by benchmarks/table.py -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"There are no marks {start} and {end}.")
        text = f"{before}{start}\n{in_columns(make())}\n{end}{after}"
    return text


def in_columns(text: str) -> str:
    """The sentences of a text in lines of at most 120 columns, its tables as they are."""
    columns = TextWrapper(120, break_long_words=False, break_on_hyphens=False)
    lines = text.splitlines()
    return "\n".join(line if line.startswith("|") else columns.fill(line) for line in lines)


def main(only_check: bool) -> int:
    stale = 0
    for path, tables in TABLES.items():
        text = path.read_text(encoding="utf-8")
        made = with_tables(text, tables)
        if made != text:
            stale = 1
            print(
                f"{path.name} is not what the results say."
                if only_check
                else f"{path.name} is written."
            )
            if not only_check:
                write_whole(path, made.encode())
    return stale if only_check else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
