"""`hardmax score` as people use it: files, folders and pipes in, one file out, also if it is killed on the way."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from planted_files import TEST
from running import HARDMAX, Command, Outcome, assert_refused, in_a_shell, on_a_terminal
from text.small_models import random_texts, small_model

from hardmax.text.scoring import bulk

TEXTS = [f"{text} film" for text in random_texts(40)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a model and reviews.jsonl."""
    monkeypatch.chdir(tmp_path)
    small_model().save(tmp_path / "model")
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(TEXTS)]
    (tmp_path / "reviews.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_every_row_gets_what_explain_says(hardmax: Command, here: Path):
    outcome = hardmax("score", "reviews.jsonl", "-o", "out.parquet", "--model", "model", "--abstain", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    model = small_model()
    for row, text in zip(parquet.read_table("out.parquet").to_pylist(), TEXTS, strict=True):
        told = model.explain(text)
        assert (row["text"], row["label"], row["probability"]) == (text, told.label, told.probability)
        assert row["counting"] == [word.word for word in told.active]
        assert row["abstain"] == (told.probability < 0.7)
    assert {"# output: out.parquet", "# rows: 40"} <= set(outcome.out.splitlines())


def test_json_has_the_same_numbers(hardmax: Command, here: Path):
    with (here / "reviews.jsonl").open("a") as stream:
        stream.write('{"id": 40}\n')
    outcome = hardmax("score", "reviews.jsonl", "-o", "out.csv", "--model", "model", "--json")
    assert outcome.err == "1 row without an answer (line 41: no text).\n"
    found = json.loads(outcome.out)
    labels = list(small_model().predict(TEXTS))
    assert found["labels"] == [{"label": label, "rows": labels.count(label)} for label in sorted(set(labels))]
    assert (found["rows"], found["scored"], found["bad"]) == (41, 40, 1)
    assert found["bad_rows"] == [{"place": "line 41", "error": "no text"}]
    assert found["text"] == "text"


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_standard_input_is_read(kind: str, hardmax: Command, here: Path):
    lines = ["text", *(f'"{text}"' for text in TEXTS)]
    data = (here / "reviews.jsonl").read_bytes() if kind == "jsonl" else "\n".join(lines).encode()
    assert hardmax("score", "-", "-o", "out.csv", "--model", "model", stdin=data).code == 0
    assert len((here / "out.csv").read_text().splitlines()) == 41
    assert_refused(hardmax("score", "-", "-o", "none.csv", "--model", "model"), "standard input is empty")
    assert not (here / "none.csv.parts").exists()


def test_a_folder_with_a_damaged_file_is_refused_before_anything_is_written(hardmax: Command, here: Path):
    (here / "in").mkdir()
    hardmax("score", "reviews.jsonl", "-o", "in/a.parquet", "--model", "model", "--prefix", "first_")
    (here / "in" / "b.parquet").write_bytes((here / "in" / "a.parquet").read_bytes()[:-100])
    assert_refused(hardmax("score", "in", "-o", "out.csv", "--model", "model"), "b.parquet", "--on-bad-rows skip")
    outcome = hardmax("score", "in", "-o", "out.csv", "--model", "model", "--on-bad-rows", "skip")
    assert outcome.code == 0
    assert "b.parquet" in outcome.err
    assert_refused(hardmax("score", "in", "-o", "in/out.csv", "--model", "model"), "lies in the folder that is read")


def test_what_cannot_be_done_is_one_line_in_the_words_of_the_command(hardmax: Command, here: Path):
    def score(*more: object, out: str = "out.csv") -> Outcome:
        return hardmax("score", "reviews.jsonl", "-o", out, "--model", "model", *more)

    assert_refused(score("--text", "body"), "`--text` is 'body'", "id, text")
    assert_refused(score("--abstain", 60), "`--abstain` must be a probability")
    assert_refused(score("--abstain", "nan"), "`--abstain` must be a probability")
    assert_refused(score("--on-bad-rows", "drop"), "--on-bad-rows", "'null', 'skip', 'refuse'")
    assert_refused(score("--batch-size", 0), "--batch-size")
    assert_refused(score("--threads", 0), "--threads")
    assert_refused(score(out="out.xlsx"), "`--out` `out.xlsx` has an unknown suffix", ".parquet")
    assert_refused(hardmax("score", "nowhere.csv", "-o", "out.csv"), "`nowhere.csv` does not exist")
    assert score().code == 0
    assert_refused(score(), "`out.csv` exists: --force replaces it.")
    assert score("--force").code == 0
    assert score("--prefix", "label", out="again.csv").code == 0


def test_columns_of_our_names_are_kept_and_ours_renamed(hardmax: Command, here: Path):
    (here / "labelled.csv").write_text("text,label\ngreat film,mine\n")
    outcome = hardmax("score", "labelled.csv", "-o", "out.jsonl", "--model", "model")
    row = json.loads((here / "out.jsonl").read_text())
    assert row["label"] == "mine"
    assert row["hardmax_label"] in ("negative", "positive")
    assert "label as hardmax_label" in outcome.err


def test_progress_is_shown_on_a_terminal(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hardmax.cli.output.BAR_DELAY", 0.0)
    shown = on_a_terminal(
        "score", "reviews.jsonl", "-o", "out.csv", "--model", "model", "--batch-size", "1", columns=100
    )
    assert "rows/s" in shown
    assert "scoring" in shown


# ---------------------------------------------------------------- killed


KILLABLE = """
from hardmax.text.scoring import bulk
bulk.PART_ROWS = 200
from hardmax.cli.main import start
start()
"""


def begin(arguments: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        [HARDMAX[0], "-c", KILLABLE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def parts(out: Path) -> int:
    return len(list(Path(f"{out}.parts").glob("??????.json")))


def test_a_killed_job_goes_on_to_the_same_bytes(here: Path, hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    lines = [json.dumps({"id": n, "text": TEST.texts[n % len(TEST.texts)] + f" {n} film"}) for n in range(5000)]
    (here / "many.jsonl").write_text("\n".join(lines))

    def command(out: str) -> list[str]:
        return ["score", "many.jsonl", "-o", out, "--model", "model", "--threads", "1", "--batch-size", "50"]

    whole, out, chance = Path("whole.parquet"), Path("out.parquet"), random.Random(0)
    for before in (0, 8):  # of 25 parts
        started = begin(command(str(out)))
        while started.poll() is None and parts(out) < before + 8:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.02)
        assert started.poll() is None, "it was done before it could be killed"
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
        assert parts(out) >= before + 8
    monkeypatch.setattr(bulk, "PART_ROWS", 200)
    assert hardmax(*command(str(out))).code == 0
    assert hardmax(*command(str(whole))).code == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not Path(f"{out}.parts").exists()


def test_a_full_disk_is_one_line_and_the_parts_are_kept(here: Path, hardmax: Command):
    (here / "many.jsonl").write_text("\n".join(json.dumps({"text": f"great film {n}" * 50}) for n in range(2000)))
    # A limit on the size of files stands for the full disk: the part fits, the whole file does not.
    command = ("score", "many.jsonl", "-o", "out.jsonl", "--model", "model")
    ended = in_a_shell(*command, before="trap '' XFSZ; ulimit -f 100")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert "cannot be written: file too large" in ended.err
    assert not (here / "out.jsonl").exists()
    assert hardmax(*command).code == 0
