"""Writes the tables of docs/ from the newest rows of results/*.csv.

Run: python benchmarks/table.py [--check]; with --check nothing is written, and 1 comes back if something would change.
"""

import re
import statistics
import sys
from pathlib import Path

from cpu_results import CPU, DISTURBED, FOOTNOTE, GPU, TARGETS, Run, Target, duration, mark, number, times_faster
from harness import RESULTS, read_rows

from hardmax._files import write_whole

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


def speed_table() -> str:
    """Ours beside the peers, on two cores and on a GPU."""
    head = "| work | hardmax | peers | rows checked: wrong |\n|---|---|---|---|"
    lines = [head, *(cpu_line(work, CPU[work]) for work in SHOWN if work in CPU), *gpu_lines()]
    return with_footnote("\n".join(lines))


def with_footnote(table: str) -> str:
    return f"{table}\n\n{FOOTNOTE}" if DISTURBED in table else table


def cpu_line(work: str, run: Run) -> str:
    ours = [name for name in run if name.startswith("hardmax")]
    peers = [name for name in run if name not in ours]
    mine = ", ".join(
        [seconds(run[ours[0]]), *(f"{name.removeprefix('hardmax, ')} {seconds(run[name])}" for name in ours[1:])]
    )
    beside = ", ".join(
        f"{name} {seconds(run[name])} (**{number(times_faster(run, name, ours[0]))}×**)" for name in peers
    )
    wrong = [f"{run[name]['disagreements']}" for name in ours[:1]]
    wrong += [f"{name} {run[name]['disagreements']}" for name in peers if run[name]["disagreements"] not in ("", "0")]
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


def gpu_line(work: str, rows: list[dict[str, str]]) -> str:
    # Peers race in groups, in each of which ours has a time of its own.
    times = [(row["peer"], float(row["milliseconds"]) / 1e3, float(row["ratio"])) for row in rows]
    beside = ", ".join(f"{peer} {duration(mine * ratio)} (**{number(ratio)}×**)" for peer, mine, ratio in times)
    ours = " to ".join(dict.fromkeys(duration(mine) for mine in sorted(mine for _, mine, _ in times)))
    work = re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", work)
    device = rows[0]["machine"].removeprefix("NVIDIA ").split()[0]
    return f"| {work}, {device} | {ours} | {beside} | {checked(rows[0])}{rows[0]['disagreements']} |"


def target_table() -> str:
    """What was aimed at, and what came out."""
    return with_footnote("\n".join(["| work | aim | measured | |\n|---|---|---|---|", *map(target_line, TARGETS)]))


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
    return f"| {row['of']} | {row['what']} | {number(float(row['value']))} {row['unit']} | {share} |"


def model_table() -> str:
    """The models on the test split of IMDb and on single sentences: the newest rows, in the mean of the seeds."""
    newest = {(row["model"], row["seed"]): row for row in read_rows(RESULTS / "imdb.csv")}
    seeds: dict[str, list[dict[str, str]]] = {}
    for (model, _), row in newest.items():
        seeds.setdefault(model, []).append(row)
    head = "| model | active tokens per review | test accuracy | peer with as many tokens | log loss, ECE |"
    head += " single sentences: accuracy, log loss, undecided | training |"
    return "\n".join([head, "|---" * 7 + "|", *(model_line(*each) for each in seeds.items())])


def model_line(model: str, rows: list[dict[str, str]]) -> str:
    def mean(column: str) -> float:
        return statistics.fmean(float(row[column]) for row in rows)

    accuracy, peer, sentences, undecided = (
        f"{mean(column):.1%}" for column in ("accuracy", "peer_accuracy", "mr_accuracy", "mr_undecided")
    )
    calibration = f"{mean('log_loss'):.3f}, {mean('calibration_error'):.3f}"
    single = f"{sentences}, {mean('mr_log_loss'):.3f}, {undecided}"
    told = f"{mean('tokens'):.1f} | **{accuracy}** | {peer} | {calibration} | {single}"
    return f"| `{model}` | {told} | {mean('seconds'):.0f} s |"


def frontier_table() -> str:
    """Accuracy at several numbers of active tokens, beside the peer: the newest rows, in the mean of the seeds."""
    newest = {(row["model"], row["gate"], row["seed"]): row for row in read_rows(RESULTS / "frontier.csv")}
    points: dict[tuple[str, str], list[dict[str, str]]] = {}
    for (model, gate, _), row in newest.items():
        points.setdefault((model, gate), []).append(row)
    lines = ["| active tokens per review | test accuracy | peer with as many tokens |", "|---|---|---|"]
    for rows in points.values():
        tokens, accuracy, peer = (
            statistics.fmean(float(row[column]) for row in rows) for column in ("tokens", "accuracy", "peer_accuracy")
        )
        lines.append(f"| {tokens:.1f} | **{accuracy:.2%}** | {peer:.2%} |")
    return "\n".join(lines)


def corpora_table() -> str:
    """The classifier as it comes on several corpora, beside its peer: the newest rows, in the mean of the seeds."""
    newest = {(row["corpus"], row["contestant"], row["seed"]): row for row in read_rows(RESULTS / "corpora.csv")}
    rows: dict[str, dict[str, list[dict[str, str]]]] = {}
    for row in newest.values():
        rows.setdefault(row["corpus"], {}).setdefault(row["contestant"], []).append(row)
    head = "| corpus | texts | classes | TF-IDF + logistic regression | hardmax | difference |"
    head += " active tokens | training |"
    return "\n".join([head, "|---" * 8 + "|", *(corpora_line(name, found) for name, found in rows.items())])


def corpora_line(name: str, found: dict[str, list[dict[str, str]]]) -> str:
    def mean(column: str) -> float:
        return sum(float(row[column]) for row in ours) / len(ours)

    peer, ours = (found[key] for key in sorted(found, key=lambda key: "hardmax" in key.lower()))
    first, theirs = ours[0], 100 * float(peer[0]["accuracy"])
    accuracy, counting = 100 * mean("accuracy"), mean("words_that_count")
    size = f"{int(first['texts']):,} | {first['classes']}"
    return (
        f"| {name} | {size} | {theirs:.1f} % | {accuracy:.1f} % | {accuracy - theirs:+.1f} | {counting:.1f} |"
        f" {mean('seconds'):.0f} s |"
    )


def faithfulness_table() -> str:
    """How well each attribution ranks the words of reviews (the newest run of 100 texts), and of sentences."""
    found: dict[str, dict[bool, dict[str, str]]] = {}
    for row in read_rows(RESULTS / "faithfulness.csv"):
        found.setdefault(row["attribution"], {})[row["texts"] == "100"] = row
    measures = "comprehensiveness ↑, sufficiency ↓, labels flipped, time"
    head = f"| words ranked by | reviews: {measures} | sentences: {measures} |"
    lines = [f"| {name} | {'| '.join(map(faithfulness, (of[True], of[False])))}|" for name, of in found.items()]
    return "\n".join([head, "|---" * 3 + "|", *lines])


def faithfulness(row: dict[str, str]) -> str:
    measured = f"{float(row['comprehensiveness']):.3f}, {float(row['sufficiency']):.3f}, {float(row['flips']):.0%}"
    return f"{measured}, {duration(float(row['ms']) / 1000)} "


def peers_table() -> str:
    """The shipped models beside other models that can be read."""
    head = "| model | active tokens per review | test accuracy | log loss, ECE | training |\n" + "|---" * 5 + "|"
    rows = {row["method"]: row for row in read_rows(RESULTS / "peers.csv")}
    lines = [
        f"| {name} | {float(row['tokens']):.0f} | {float(row['accuracy']):.1%} | {float(row['log_loss']):.3f},"
        f" {float(row['calibration_error']):.3f} | {duration(float(row['seconds'])) if row['seconds'] else 'above'} |"
        for name, row in rows.items()
    ]
    return "\n".join([head, *lines])


DOCS = ROOT / "docs"
TABLES = {
    DOCS / "speed.md": {
        "speed table": speed_table,
        "table of aims": target_table,
        "table of the machine": machine_table,
    },
    DOCS / "models.md": {
        "table of models": model_table,
        "table of the frontier": frontier_table,
        "table of corpora": corpora_table,
        "table of peers": peers_table,
        "table of faithfulness": faithfulness_table,
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
        text = f"{before}{start}\n{make()}\n{end}{after}"
    return text


def main(only_check: bool) -> int:
    stale = 0
    for path, tables in TABLES.items():
        text = path.read_text(encoding="utf-8")
        made = with_tables(text, tables)
        if made != text:
            stale = 1
            print(f"{path.name} is not what the results say." if only_check else f"{path.name} is written.")
            if not only_check:
                write_whole(path, made.encode())
    return stale if only_check else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
