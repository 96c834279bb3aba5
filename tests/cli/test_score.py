"""`hardmax score` as people use it: files, folders and pipes in, one table out, also if it is
killed on the way."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from planted_files import TEST
from running import HARDMAX, assert_refused, in_a_shell, on_a_terminal, typed
from text.small_models import random_texts, small_model

TEXTS = [f"{text} film" for text in random_texts(40)]


@pytest.fixture(autouse=True)
def reviews(here):
    small_model().save(here / "model")
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(TEXTS)]
    (here / "reviews.jsonl").write_text("\n".join(lines) + "\n")


def test_every_row_gets_what_explain_says(hardmax, here):
    outcome = hardmax("score reviews.jsonl -o out.parquet --model model --abstain 0.7")
    assert (outcome.code, outcome.err) == (0, "")
    model = small_model()
    for row, text in zip(pq.read_table("out.parquet").to_pylist(), TEXTS, strict=True):
        told = model.explain(text)
        assert row["text"] == text
        assert row["label"] == told.label
        assert row["probability"] == told.probability
        assert row["abstain"] == (told.probability < 0.7)
    assert {"# output: out.parquet", "# rows: 40"} <= set(outcome.out.splitlines())


def test_json_and_stderr_say_what_became_of_the_rows(here):
    with (here / "reviews.jsonl").open("a") as stream:
        stream.write('{"id": 40, "review": "x", "label": "mine"}\n')
    outcome = in_a_shell("score reviews.jsonl -o out.csv --model model --json")
    assert outcome.err.splitlines() == [
        "warning: the text column is text; review would be possible, too (choose with `text`)",
        "the table already has columns of these names, so ours are renamed: label as hardmax_label",
        "1 bad row without an answer (line 41: no text)",
    ]
    found, labels = json.loads(outcome.out), list(small_model().predict(TEXTS))
    assert found["labels"] == [
        {"label": label, "rows": labels.count(label)} for label in sorted(set(labels))
    ]
    assert (found["rows"], found["bad"], found["text"]) == (41, 1, "text")
    assert found["bad_rows"] == [{"place": "line 41", "error": "no text"}]


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_standard_input_is_read(kind, hardmax, here):
    lines = ["text", *(f'"{text}"' for text in TEXTS)]
    data = (here / "reviews.jsonl").read_bytes() if kind == "jsonl" else "\n".join(lines).encode()
    assert hardmax("score - -o out.csv --model model", stdin=data).code == 0
    assert len((here / "out.csv").read_text().splitlines()) == 41
    assert_refused(hardmax("score - -o none.csv --model model"), "standard input is empty")
    assert not list(here.glob(".*"))


def test_progress_is_shown_on_a_terminal(monkeypatch):
    monkeypatch.setattr("hardmax.cli.output.BAR_DELAY", 0.0)
    shown = on_a_terminal("score reviews.jsonl -o out.csv --model model", columns=100)
    assert "rows/s" in shown
    assert "scoring" in shown


KILLABLE = """
from hardmax.text import tables
tables.PART_ROWS = 200
from hardmax.cli.main import start
start()
"""


@pytest.mark.check
def test_a_killed_job_goes_on_to_the_same_rows(here, hardmax):
    texts = [TEST.texts[n % len(TEST.texts)] + f" {n} film" for n in range(5000)]
    pq.write_table(pa.table({"id": range(5000), "text": texts}), "many.parquet")
    line = typed("score many.parquet --model model -o out.parquet")
    command = [HARDMAX[0], "-c", KILLABLE, *line]
    parts = Path(".out.parquet.parts")
    for enough in (8, 16):  # of 25
        started = subprocess.Popen(command)
        while started.poll() is None and len(list(parts.glob("*.parquet"))) < enough:
            time.sleep(0.005)
        assert started.poll() is None, "it was done before it could be killed"
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "continued after" in outcome.stderr
    assert hardmax("score many.parquet --model model -o whole.parquet").code == 0
    assert pq.read_table("out.parquet").equals(pq.read_table("whole.parquet"))
    assert not parts.exists()


@pytest.mark.check
def test_a_full_disk_is_one_line_and_the_parts_are_kept(here, hardmax):
    lines = [json.dumps({"text": f"great film {n}"}) for n in range(2000)]
    (here / "many.jsonl").write_text("\n".join(lines))
    # A limit on the size of files stands for the full disk: the part fits, the whole file does not.
    command = "score many.jsonl -o out.jsonl --model model"
    ended = in_a_shell(command, before="trap '' XFSZ; ulimit -f 600")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert "cannot be written: file too large" in ended.err
    assert not (here / "out.jsonl").exists()
    assert "continued after 2,000 rows" in hardmax(command).err
