"""`hardmax simulate` as people use it: piped, on terminals narrow and wide, into files, with one cloud and many."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import Command
from terminal import on_a_terminal

from hardmax import Dynamics, Trajectories, Trajectory, clouds, simulate
from hardmax.cli.commands.clouds import NAMES
from hardmax.io import read_cloud

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
THIRTY = ("--alpha", "1/2", "--layers", "30")


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader((line for line in text.splitlines() if line[0] != "#"), delimiter="\t"))


def test_a_pipe_gets_the_facts_as_comments_and_every_token(hardmax: Command):
    outcome = hardmax("simulate", "-", *THIRTY, stdin=SQUARE)
    assert outcome.code == 0
    assert outcome.err == ""
    for fact in ("5 in 2 dimensions", "4 (since layer 0: 0, 1, 2, 3)", "settled at: layer 0", "exact: integers"):
        assert fact in outcome.out
    rows = table(outcome.out)
    assert [row["attends to"] for row in rows] == ["0", "1", "2", "3", "0 1"]
    assert [row["leader since"] for row in rows] == ["0", "0", "0", "0", ""]
    assert float(rows[4]["z0"]) == 1 - (2 / 3) ** 30 / 2
    assert float(rows[4]["z1"]) == 0


def test_a_pipe_gets_all_tokens_however_many(hardmax: Command):
    grid = hardmax("clouds", "grid", "--side", "12").out
    assert len(table(hardmax("simulate", "-", *THIRTY, stdin=grid.encode()).out)) == 144


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax: Command):
    cloud = clouds.emerging_leader()
    written = hardmax("clouds", "emerging-leader", "--json").out
    document = json.loads(hardmax("simulate", "-", *THIRTY, "--json", stdin=written.encode()).out)
    run = simulate(cloud, Dynamics("1/2"), layers=30)
    assert document["alpha"] == "1/2"
    assert document["tokens"] == run.at(30).tolist()
    assert document["attended"] == run.attended(30).tolist()
    assert document["leaders"] == run.leaders.tolist() == [0, 1, 2]
    assert document["leader_layers"] == [0, 1, 0]
    assert document["settled_at"] == run.settled_at == 1
    assert document["margins"] == run.margins.tolist()
    assert document["stopped"] == run.stopped
    assert document["certified"] is True


def test_json_has_null_where_there_is_no_number(hardmax: Command):
    document = json.loads(hardmax("simulate", "-", *THIRTY, "--json", "--arithmetic", "float", stdin=b"3,4\n").out)
    assert document["smallest_margin"] is None
    assert document["error"] is None
    assert document["tokens"] == [[3.0, 4.0]]


def test_one_token_leads_itself(hardmax: Command):
    outcome = hardmax("simulate", "-", "--alpha", "1", "--until-settled", stdin=b"3,4\n")
    assert "smallest margin: none (no choice to make)" in outcome.out
    assert table(outcome.out)[0]["attends to"] == "0"


def test_until_settled_stops_when_nothing_changes_any_more(hardmax: Command):
    written = hardmax("clouds", "emerging-leader").out
    outcome = hardmax("simulate", "-", "--alpha", "1/2", "--until-settled", stdin=written.encode())
    assert "# layers: 1\n" in outcome.out


def test_the_metric_decides_who_is_attended_to(hardmax: Command, tmp_path: Path):
    (tmp_path / "metric.csv").write_text("1,0\n0,100\n")
    tokens = b"3,0\n0,1\n1,1\n"

    def attended(*metric: object) -> list[str]:
        return [row["attends to"] for row in table(hardmax("simulate", "-", *THIRTY, *metric, stdin=tokens).out)]

    assert attended() == ["0", "1", "0"]
    assert attended("--metric", "1,0;0,100") == ["0", "2", "2"]
    assert attended("--metric", tmp_path / "metric.csv") == ["0", "2", "2"]


def test_any_square_matrix_is_a_metric(hardmax: Command):
    outcome = hardmax("simulate", "-", *THIRTY, "--metric", "0,1;-1,0", stdin=SQUARE)
    assert outcome.code == 0


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
def test_the_arithmetic_that_decided_is_named(hardmax: Command, arithmetic: str):
    tokens = b"3,0\n0,1\n1,2\n"
    outcome = hardmax("simulate", "-", *THIRTY, "--arithmetic", arithmetic, "--json", stdin=tokens)
    assert json.loads(outcome.out)["arithmetic"] == arithmetic


def test_many_clouds_get_a_line_each(hardmax: Command):
    rows = table(hardmax("simulate", "-", *THIRTY, stdin=BATCH).out)
    assert [(row["cloud"], row["tokens"], row["leaders"]) for row in rows] == [("0", "2", "1"), ("1", "3", "1")]
    documents = json.loads(hardmax("simulate", "-", *THIRTY, "--json", stdin=BATCH).out)["clouds"]
    assert [document["n"] for document in documents] == [2, 3]


def test_a_cloud_on_a_pipe_is_the_very_cloud_of_the_package(hardmax: Command):
    written = hardmax("clouds", "gaussian", "--n", "20", "--d", "3", "--seed", "7").out
    document = json.loads(hardmax("simulate", "-", *THIRTY, "--json", stdin=written.encode()).out)
    run = simulate(clouds.gaussian(20, 3, seed=7), Dynamics("1/2"), layers=30)
    assert document["tokens"] == run.at(30).tolist()


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", ["npz"])
def test_a_run_in_a_file_can_be_loaded_again(hardmax: Command, tmp_path: Path, suffix: str):
    path = tmp_path / f"run.{suffix}"
    outcome = hardmax("simulate", "-", *THIRTY, "-o", path, stdin=SQUARE)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"wrote {path}\n")
    assert Trajectory.load(path).at(30)[4].tolist() == [1 - (2 / 3) ** 30 / 2, 0]


def test_a_csv_has_a_line_for_each_token_at_each_recorded_layer(hardmax: Command, tmp_path: Path):
    path = tmp_path / "run.csv"
    hardmax("simulate", "-", *THIRTY, "--record", "10", "-o", path, stdin=SQUARE)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [int(row["layer"]) for row in rows[::5]] == [0, 10, 20, 30]
    assert [row["token"] for row in rows[:5]] == ["0", "1", "2", "3", "4"]
    assert float(rows[-1]["z0"]) == 1 - (2 / 3) ** 30 / 2


def test_many_clouds_in_a_csv_are_numbered(hardmax: Command, tmp_path: Path):
    path = tmp_path / "runs.csv"
    hardmax("simulate", "-", *THIRTY, "--record", "last", "-o", path, stdin=BATCH)
    assert [row["cloud"] for row in csv.DictReader(path.read_text().splitlines())] == ["0", "0", "1", "1", "1"]


@pytest.mark.parametrize("suffix", ["npz"])
def test_many_runs_in_a_file_can_be_loaded_again(hardmax: Command, tmp_path: Path, suffix: str):
    path = tmp_path / f"runs.{suffix}"
    outcome = hardmax("simulate", "-", *THIRTY, "--json", "-o", path, stdin=BATCH)
    printed = json.loads(outcome.out)["clouds"]
    loaded = Trajectories.load(path)
    assert [run.tolist() for run in loaded.at(30)] == [document["tokens"] for document in printed]
    assert [run.attended(30).tolist() for run in loaded] == [document["attended"] for document in printed]


def test_many_clouds_in_an_npz_can_be_simulated_further(hardmax: Command, tmp_path: Path):
    source, path = tmp_path / "before.npz", tmp_path / "after.npz"
    np.savez(source, tokens=np.eye(3), offsets=np.array([0, 1, 3]), multiplicities=np.array([5, 1, 2]))
    assert hardmax("simulate", source, *THIRTY, "-o", path).code == 0
    with np.load(path) as after:
        assert after["offsets"].tolist() == [0, 1, 3]
        assert after["multiplicities"].tolist() == [5, 1, 2]
    assert len(table(hardmax("simulate", path, *THIRTY).out)) == 2


@pytest.mark.parametrize("suffix", ["csv", "json", "npy"])
def test_a_named_cloud_in_a_file_is_the_cloud(hardmax: Command, tmp_path: Path, suffix: str):
    path = tmp_path / f"cloud.{suffix}"
    assert hardmax("clouds", "gaussian", "--n", "9", "--d", "2", "-o", path).out == ""
    cloud = read_cloud(path)
    assert isinstance(cloud, np.ndarray)
    assert cloud.tolist() == clouds.gaussian(9, 2).tolist()


def test_options_of_a_named_cloud_reach_it(hardmax: Command):
    assert hardmax("clouds", "square", "--inside", "3/10,1/10").out.splitlines()[-1] == "3/10,1/10"
    assert hardmax("clouds", "polygon", "--sides", "4").out.count("\n") == 5
    assert hardmax("clouds", "square", "--inside", "1,0", "--turn").out.splitlines()[-1] == "3/5,4/5"


def test_the_list_of_clouds_names_each_with_its_options(hardmax: Command):
    rows = {row["cloud"]: row["options"] for row in table(hardmax("clouds").out)}
    assert rows["gaussian"] == "--n --d --seed"
    assert set(rows) == {name.replace("_", "-") for name in NAMES}
    assert [row["cloud"] for row in json.loads(hardmax("clouds", "--json").out)] == list(rows)


# ---------------------------------------------------------------- terminals


def test_a_terminal_shows_the_first_twenty_tokens(tmp_path: Path):
    np.save(tmp_path / "many.npy", clouds.gaussian(100, 2))
    shown = on_a_terminal("simulate", str(tmp_path / "many.npy"), *THIRTY, columns=80)
    assert "... 80 more" in shown
    assert re.search(r"^\s+19 ", shown, re.MULTILINE)
    assert not re.search(r"^\s+20 ", shown, re.MULTILINE)


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal_is_not_overrun(tmp_path: Path, columns: int):
    np.save(tmp_path / "wide.npy", clouds.gaussian(30, 12))
    shown = on_a_terminal("simulate", str(tmp_path / "wide.npy"), *THIRTY, columns=columns)
    assert "… " in shown
    assert max(len(line) for line in shown.splitlines()) <= columns


def test_a_terminal_watches_many_clouds_go_by(tmp_path: Path):
    np.save(tmp_path / "batch.npy", clouds.gaussian(600, 2).reshape(100, 6, 2))
    shown = on_a_terminal("simulate", str(tmp_path / "batch.npy"), *THIRTY, columns=80)
    assert "clouds ━" in shown
    assert re.search(r"^\s+99 ", shown, re.MULTILINE)


# ---------------------------------------------------------------- the command as a whole


def test_help_waits_for_no_heavy_import():
    started = [sys.executable, "-X", "importtime", "-m", "hardmax", "--help"]
    outcome = subprocess.run(started, capture_output=True, text=True, check=True)
    assert "simulate" in outcome.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in outcome.stderr.splitlines()}
    assert imported.isdisjoint({"numpy", "scipy", "numba", "rich", "matplotlib", "torch"})


def test_without_arguments_the_help_is_shown(hardmax: Command):
    outcome = hardmax()
    assert outcome.code == 0
    assert "Usage: hardmax" in outcome.out


def test_the_version_is_printed(hardmax: Command):
    assert re.fullmatch(r"hardmax \d+\.\d+\.\d+\S*\n", hardmax("--version").out)


def test_a_reader_who_leaves_early_hears_no_complaint(tmp_path: Path):
    np.save(tmp_path / "many.npy", clouds.gaussian(10_000, 2))
    command = [sys.executable, "-m", "hardmax", "simulate", str(tmp_path / "many.npy"), "--alpha", "1", "--layers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.readline() == b"# tokens: 10000 in 2 dimensions\n"
        started.stdout.close()
        assert started.stderr.read() == b""
    assert started.returncode == 1


def test_an_interruption_ends_quietly_with_130(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hardmax.io.read_cloud", interrupted)
    outcome = hardmax("simulate", "-", *THIRTY)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_a_fault_of_ours_is_one_line_too(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    def broken(_: str) -> None:
        raise RuntimeError("the cat sat\non the keyboard")

    monkeypatch.setattr("hardmax.io.read_cloud", broken)
    outcome = hardmax("simulate", "-", *THIRTY)
    assert outcome.code == 1
    assert outcome.err.startswith("error: hardmax failed (RuntimeError: the cat sat on the keyboard)")
    assert outcome.err.count("\n") == 1


def test_too_little_memory_is_said_in_one_line(hardmax: Command):
    outcome = hardmax("clouds", "gaussian", "--n", 10**15, "--d", 2)
    assert outcome.code == 1
    assert outcome.err.startswith("error: not enough memory")
    assert outcome.err.count("\n") == 1


def test_a_fault_of_ours_can_be_traced(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    def broken(_: str) -> None:
        raise RuntimeError

    monkeypatch.setattr("hardmax.io.read_cloud", broken)
    monkeypatch.setenv("HARDMAX_TRACEBACK", "1")
    outcome = hardmax("simulate", "-", *THIRTY)
    assert outcome.code == 1
    assert "Traceback" in outcome.err
    assert "in broken" in outcome.err


def test_a_missing_extra_is_named(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    from hardmax._validation import MissingExtra

    def missing(_: str) -> None:
        raise MissingExtra("reading clouds of cats", "cats")

    monkeypatch.setattr("hardmax.io.read_cloud", missing)
    outcome = hardmax("simulate", "-", *THIRTY)
    assert outcome.code == 1
    assert "pip install 'hardmax[cats]'" in outcome.err
