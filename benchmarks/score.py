"""Every row of a large table scored, Parquet to Parquet, beside TF-IDF and logistic regression
doing the same.

Run: pip install -c constraints.txt ".[tables]" --group bench && python benchmarks/score.py
TEST.parquet [--rows 1000000], IMDb with the columns text and label: rates and peak memory, both in
processes of their own, in the same run. The peer is trained on the same reviews, which costs it nothing here:
only its speed is measured.

python benchmarks/score.py kill [TEST.parquet] [--rows 200000] [--form .parquet]: a job killed at
ten random moments writes the same rows as one that is left alone.

python benchmarks/score.py folder TEST.parquet [--rows 1000000]: the processor time of scoring a folder of Parquet
files, with the start of the process, beside pyarrow and polars that only read and write it."""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from harness import Timing, record, show

from hardmax.text import make_synthetic_corpus

ROWS, GROUP, KILLS, ROUNDS = 1_000_000, 25_000, 10, 5
MODELS = ("sentiment-en", "imdb")
FORMS = (".parquet", ".csv")
SOON, LATE = 0.05, 0.3  # shares of the time that a job takes, after which it is killed
PEER = "TF-IDF (1, 2) + LogisticRegression"


@dataclass(frozen=True)
class Ended:
    seconds: float
    processor: float  # seconds of all cores
    peak: float  # megabytes


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "data", nargs="+", help="TEST.parquet, or kill, or kill or folder TEST.parquet"
    )
    asked.add_argument("--rows", type=int, default=ROWS)
    asked.add_argument(
        "--form", choices=FORMS, action="append", help="what a killed job writes; both if not given"
    )
    asked.add_argument("--peer", nargs=2, metavar=("IN", "OUT"), help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.peer:
        score_with_peer(Path(given.data[0]), *map(Path, given.peer))
    elif given.data[0] == "folder":
        score_folder(Path(given.data[1]), given.rows)
    elif given.data[0] == "kill":
        kill(Path(given.data[1]) if len(given.data) > 1 else None, given.rows, given.form or FORMS)
    else:
        race(Path(given.data[0]), given.rows)


def race(data: Path, rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="score-") as folder:
        big = write_big(data, Path(folder) / "big.parquet", rows)
        ours, theirs = Path(folder) / "ours.parquet", Path(folder) / "theirs.parquet"
        peer = run([sys.executable, __file__, str(data), "--peer", str(big), str(theirs)])
        found = run(command(big, ours))
        assert parquet.ParquetFile(ours).metadata.num_rows == rows
        assert parquet.ParquetFile(theirs).metadata.num_rows == rows
    # The peer's training and start are not counted: it tells how long its rows took.
    spent = Ended(float(peer[1][0]), float(peer[1][1]), peer[0].peak)
    work = f"{rows:,} reviews, Parquet to Parquet"
    timings = [
        Timing(work, PEER, spent.seconds, PEER, 1.0),
        Timing(work, "hardmax score", found[0].seconds, PEER, found[0].seconds / spent.seconds),
    ]
    for timing, ended in zip(timings, (spent, found[0]), strict=True):
        show(timing)
        cost = f"{1e6 * ended.processor / rows:6.0f} µs of a core a row"
        print(
            f"{timing.contestant:40} {rows / ended.seconds:10,.0f} rows/s {cost} {ended.peak:8,.0f} MB at most"
        )
    print(f"hardmax score is {spent.seconds / found[0].seconds:.1f} times as fast")
    record("score", timings)


COPIES = {
    "pyarrow, reading and writing": """
import pathlib, sys
from pyarrow import parquet
for file in pathlib.Path(sys.argv[1]).iterdir():
    with parquet.ParquetWriter(f"{sys.argv[2]}/{file.name}", parquet.read_schema(file), compression="zstd") as writer:
        for batch in parquet.ParquetFile(file).iter_batches():
            writer.write_batch(batch)
""",
    "polars, reading and writing": """
import pathlib, sys, polars
for file in pathlib.Path(sys.argv[1]).iterdir():
    polars.scan_parquet(file).sink_parquet(f"{sys.argv[2]}/{file.name}", compression="zstd", compression_level=1)
""",
}


def score_folder(data: Path, rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="score-") as name:
        folder = Path(name)
        given = folder / "in"
        given.mkdir()
        table = parquet.read_table(data)
        for first in range(0, rows, GROUP):
            part = table.slice(first % len(table), min(GROUP, rows - first))
            parquet.write_table(
                part, given / f"{first:09}.parquet", compression="zstd", compression_level=1
            )
        lines: dict[str, list[str]] = {}
        for number, (contestant, code) in enumerate(COPIES.items()):
            copy = folder / f"copy{number}"
            copy.mkdir()
            lines[contestant] = [sys.executable, "-c", code, str(given), str(copy)]
        for model in MODELS:
            line = [*command(given, folder / "out.parquet"), "--force", "--model", model]
            lines[f"hardmax score --model {model}"] = line
            lines[f"hardmax score --model {model} --votes"] = [*line, "--votes"]
        found: dict[str, list[Ended]] = {contestant: [] for contestant in lines}
        for _ in range(ROUNDS):
            for contestant, line in lines.items():
                found[contestant].append(run(line)[0])
        peer, *_ = COPIES
        work = f"{rows:,} reviews in a folder, processor time"
        timings = []
        for contestant, ended in found.items():
            pairs = zip(ended, found[peer], strict=True)
            ratio = statistics.median(ours.processor / its.processor for ours, its in pairs)
            seconds = statistics.median(each.processor for each in ended)
            timings.append(Timing(work, contestant, seconds, peer, ratio))
            show(timings[-1])
            print(f"{1e6 * seconds / rows:6.0f} µs a row, {ended[0].peak:8,.0f} MB at most")
        record("score", timings)


def score_with_peer(data: Path, big: Path, out: Path) -> None:
    """Label and probability of every row, a group of rows at a time; prints the seconds without the
    training."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    train = parquet.read_table(data).slice(0, 10_000)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    line = LogisticRegression(max_iter=30).fit(
        words.fit_transform(train["text"].to_pylist()), range_labels(train)
    )
    began, worked = time.perf_counter(), time.process_time()
    file, writer = parquet.ParquetFile(big, pre_buffer=False), None
    for batch in file.iter_batches(batch_size=4096):
        chances = line.predict_proba(words.transform(batch["text"].to_pylist()))
        table = pa.Table.from_batches([batch])
        table = table.append_column("predicted", pa.array(line.classes_[chances.argmax(axis=1)]))
        table = table.append_column("probability", pa.array(chances.max(axis=1)))
        writer = writer or parquet.ParquetWriter(
            out, table.schema, compression="zstd", compression_level=1
        )
        writer.write_table(table)
    if writer:
        writer.close()
    print(time.perf_counter() - began, time.process_time() - worked)


def range_labels(table: pa.Table) -> list[int]:
    """The labels, or two made up where a slice has only one: what is learned does not matter
    here."""
    labels = table["label"].to_pylist()
    return labels if len(set(labels)) > 1 else [number % 2 for number in range(len(labels))]


def kill(data: Path | None, rows: int, forms: Sequence[str]) -> None:
    """Kills a job at ten random moments, and compares what it writes with what one writes that is
    left alone."""
    with tempfile.TemporaryDirectory(prefix="score-") as name:
        folder, chance = Path(name), random.Random(0)
        big = write_big(
            data or write_planted(folder / "planted.parquet"), folder / "big.parquet", rows
        )
        for suffix in forms:
            whole, out = folder / f"whole{suffix}", folder / f"out{suffix}"
            alone = run(command(big, whole))[0].seconds
            kills = 0
            while kills < KILLS:
                started = subprocess.Popen(
                    command(big, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                try:
                    # Ten of these are more than a job: some fall on its start, some on its end,
                    # some on the next one.
                    started.wait(chance.uniform(SOON, LATE) * alone)
                    out.unlink()  # it was sooner: once more
                except subprocess.TimeoutExpired:
                    os.kill(started.pid, signal.SIGKILL)
                    started.wait()
                    kills += 1
            run([*command(big, out), "--force"])
            read = (
                parquet.read_table if suffix == ".parquet" else Path.read_bytes
            )  # Parquet may have other row groups
            same = read(out) == read(whole)
            left = [path.name for path in folder.iterdir() if ".parts" in path.name]
            told = f"killed {kills} times, the same rows: {same}, left behind: {left or 'nothing'}"
            print(f"{rows:,} rows to {suffix}: {alone:.1f} s if left alone; {told}", flush=True)
            assert same
            assert not left


def command(given: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "hardmax", "score", str(given), "-o", str(out)]


def run(line: list[str]) -> tuple[Ended, list[str]]:
    """Runs a command to its end: what it took, and the words that it printed."""
    # Wherever Python keeps no bytecode, it would compile all packages at each start.
    bytecode = Path(tempfile.gettempdir(), "score-bytecode")
    environment = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(bytecode)}
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        started = subprocess.Popen(line, stdout=out, env=os.environ | environment)
        peak = 0.0
        while not (ended := os.wait4(started.pid, os.WNOHANG))[0]:
            peak = max(peak, most_memory(started.pid))
            time.sleep(0.02)
        started.returncode = os.waitstatus_to_exitcode(ended[1])
        assert started.returncode == 0, line
        worked = ended[2].ru_utime + ended[2].ru_stime
        out.seek(0)
        return Ended(time.perf_counter() - began, worked, peak), out.read().split()


def most_memory(process: int) -> float:
    """Megabytes that a process has had at most, as Linux tells; what `wait4` says is at least what
    its parent had."""
    try:
        told = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1e3 for line in told.splitlines() if line.startswith("VmHWM")), 0.0
    )


def write_big(data: Path, big: Path, rows: int) -> Path:
    """The table again and again, until it has so many rows."""
    table, number = parquet.read_table(data), 0
    with parquet.ParquetWriter(
        big, table.schema, compression="zstd", compression_level=1
    ) as writer:
        while number < rows:
            part = table.slice(0, min(len(table), rows - number))
            writer.write_table(part, row_group_size=GROUP)
            number += len(part)
    return big


def write_planted(path: Path) -> Path:
    corpus = make_synthetic_corpus(5000, length=20, seed=1)
    parquet.write_table(pa.table({"text": corpus.texts, "label": corpus.labels}), path)
    return path


if __name__ == "__main__":
    main()
