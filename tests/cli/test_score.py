"""`hardmax score` as people use it: files and pipes in, one table out."""

import json
import os
import signal
import subprocess
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import HARDMAX, assert_refused
from text.small_models import random_texts, small_model

from hardmax._common.progress import Reporting

TEXTS = [f"{text} film" for text in random_texts(40)]
MODEL = small_model()


@pytest.fixture(autouse=True)
def reviews(here):
    MODEL.save(here / "model")
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(TEXTS)]
    (here / "reviews.jsonl").write_text("\n".join(lines) + "\n")


def test_every_row_gets_what_the_model_says(hardmax, monkeypatch):
    said = []
    monkeypatch.setattr(Reporting, "__call__", lambda _, *done: said.append(done))
    outcome = hardmax("score reviews.jsonl -o out.parquet --model model", terminal=True)
    assert said[0] == (100, 100, "%, 40 rows")
    assert "rows: 40\n" in outcome.out
    assert "rows with errors: 0\n" in outcome.out
    table = pa.table({"id": [*range(40)], "text": TEXTS})
    assert pq.read_table("out.parquet").equals(MODEL.score_table(table))
    assert hardmax("score reviews.jsonl -o votes.parquet --model model --votes").code == 0
    assert pq.read_table("votes.parquet").equals(MODEL.score_table(table, votes=True))


def test_json_and_stderr_say_what_became_of_the_rows(hardmax, here):
    with (here / "reviews.jsonl").open("a") as stream:
        stream.write('{"id": 40, "review": "x", "label": "mine"}\n')
    with warnings.catch_warnings(action="ignore"):
        outcome = hardmax("score reviews.jsonl -o out.csv --model model --json")
    renamed, bad = outcome.err.splitlines()
    assert renamed.endswith("so ours are renamed: label as hardmax_label")
    assert bad == "1 bad row (line 41: no text)"
    found, labels = json.loads(outcome.out), list(MODEL.predict(TEXTS))
    assert found["labels"] == {label: labels.count(label) for label in {*labels}}
    assert (found["rows"], found["bad"], found["text"]) == (41, 1, "text")
    assert found["model_sha256"] == MODEL._digest


def test_standard_input_is_read(hardmax, here):
    data = (here / "reviews.jsonl").read_bytes()
    assert hardmax("score - -o out.csv --model model", stdin=data).code == 0
    assert len((here / "out.csv").read_text().splitlines()) == 41
    assert_refused(hardmax("score - -o none.csv --model model"), "standard input is empty")


KILLABLE = """
import sys
from hardmax.text import tables
tables.PART_ROWS = 200
from hardmax.cli.main import run
run(sys.argv[1].split())
"""


@pytest.mark.check
def test_a_killed_job_goes_on_to_the_same_rows(here, hardmax):
    pq.write_table(pa.table({"text": TEXTS * 125}), "many.parquet")
    line = "score many.parquet --model model -o out.parquet"
    command = [HARDMAX[0], "-c", KILLABLE, line]
    parts = Path(".out.parquet.parts")
    started = subprocess.Popen(command)
    while started.poll() is None and len(list(parts.glob("*-*"))) < 8:  # of 25
        time.sleep(0.005)
    assert started.poll() is None, "it was done before it could be killed"
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "continued after" in outcome.stderr
    assert hardmax(line.replace("out.", "whole.")).code == 0
    assert pq.read_table("out.parquet").equals(pq.read_table("whole.parquet"))
    assert not parts.exists()
