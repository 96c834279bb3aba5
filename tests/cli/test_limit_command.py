"""`hardmax limit` as people use it: on pipes and terminals, into files, with one cloud and many."""

import csv
import io
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command import Command, Outcome
from terminal import on_a_terminal_here
from test_simulate_command import table

from hardmax import Dynamics, Limit, Trajectories, Trajectory, check_theorem, clouds, limit, verify
from hardmax.cli import output

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
ROUND = b"1,0\n-1/2,4/5\n-1/2,-4/5\n"
HALF = ("--alpha", "1/2")
TURN = (*HALF, "--metric", "0,-1;1,0")


def facts(text: str) -> dict[str, str]:
    lines = [line.removeprefix("# ").split(": ", 1) for line in text.splitlines() if line.startswith("# ")]
    return dict(lines)


def test_a_pipe_gets_the_facts_as_comments_and_every_cluster(hardmax: Command):
    outcome = hardmax("limit", "-", *HALF, stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    assert facts(outcome.out) == {
        "tokens": "5 in 2 dimensions",
        "alpha": "1/2",
        "leaders": "4 (since layer 0: 0, 1, 2, 3)",
        "settled at": "layer 0",
        "within 1e-6": "from layer 33 on",
        "theorem": "applies",
        "arithmetic": "exact: integers",
    }
    rows = table(outcome.out)
    assert [row["kind"] for row in rows] == ["vertex 0", "vertex 1", "vertex 2", "vertex 3", "face 0, 1"]
    last = {"cluster": "4", "z0": "1.0", "z1": "0.0", "kind": "face 0, 1", "size": "1", "share": "0.2", "tokens": "4"}
    assert rows[-1] == last


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax: Command):
    written = hardmax("clouds", "nonleader-clusters", "--turn", "--json").out
    document = json.loads(hardmax("limit", "-", *HALF, "--json", stdin=written.encode()).out)
    lim = limit(clouds.rotated(clouds.nonleader_clusters()), Dynamics("1/2"))
    assert document["points"] == lim.points.tolist()
    assert document["labels"] == lim.clusters.labels.tolist()
    assert document["leaders"] == lim.leaders.tolist()
    assert document["settled_at"] == lim.settled_at == 0
    assert document["layers_to_1e-6"] == lim.layers_to("1e-6")
    assert document["theorem_applies"] is document["certified"] is True
    assert document["theorem_reason"] == ""
    assert document["cycle"] is None
    assert document["clusters"][0] == {"point": [-0.2, 1.4], "size": 2, "kind": "vertex", "leader": 0}
    assert document["clusters"][4] == {
        "point": [0.6, 0.8],
        "size": 1,
        "kind": "face",
        "vertices": [0, 3],
        "weights": ["1/2", "1/2"],
    }


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
def test_the_arithmetic_that_decided_is_named(hardmax: Command, arithmetic: str):
    outcome = hardmax("limit", "-", *HALF, "--arithmetic", arithmetic, "--json", stdin=b"3,0\n0,1\n1,2\n")
    document = json.loads(outcome.out)
    assert document["arithmetic"] == arithmetic
    assert document["certified"] is (arithmetic != "float")


def test_the_metric_decides_where_tokens_end(hardmax: Command):
    tokens = b"3,0\n0,1\n1,1\n"
    plain, stretched = (
        [row["kind"] for row in table(hardmax("limit", "-", *HALF, *metric, stdin=tokens).out)]
        for metric in ((), ("--metric", "1,0;0,100"))
    )
    assert plain == ["vertex 0", "vertex 1"]
    assert stretched == ["vertex 0", "vertex 2"]


def test_it_is_said_why_the_theorem_does_not_apply(hardmax: Command):
    for tokens, reason in (
        (b"1,1\n0,0\n", "token 1 is zero"),
        (b"1,1\n1,1\n", "tokens are repeated"),
    ):
        said = facts(hardmax("limit", "-", *HALF, stdin=tokens).out)["theorem"]
        assert said.startswith(f"does not apply: {reason}")


def test_what_does_not_settle_gets_the_reason_the_bound_and_the_cycle(hardmax: Command):
    outcome = hardmax("limit", "-", *TURN, "--max-layers", 20, stdin=ROUND)
    said = facts(outcome.out)
    assert outcome.code == 0
    assert said["settled at"] == "not yet"
    assert said["stopped"] == "gave up at layer 20: not settled yet"
    assert re.fullmatch(r"within [\d.e-]+ of these points", said["limits"])
    assert said["cycle"] == "the same attended sets in every layer"
    assert "within 1e-6" not in said
    assert [row["kind"] for row in table(outcome.out)] == ["elsewhere"] * 3


def test_json_of_what_does_not_settle_has_null_where_nothing_is_known(hardmax: Command):
    document = json.loads(hardmax("limit", "-", *TURN, "--max-layers", 20, "--json", stdin=ROUND).out)
    assert document["settled_at"] is document["layers_to_1e-6"] is None
    assert document["certified"] is False
    assert document["cycle"] == 1
    assert document["bound"] < 1


def test_one_token_is_its_own_limit(hardmax: Command):
    rows = table(hardmax("limit", "-", *HALF, stdin=b"3,4\n").out)
    assert [(row["z0"], row["z1"], row["kind"]) for row in rows] == [("3.0", "4.0", "vertex 0")]


def test_many_clouds_get_a_line_each(hardmax: Command):
    rows = table(hardmax("limit", "-", *HALF, stdin=BATCH).out)
    assert [(row["cloud"], row["tokens"], row["clusters"], row["settled"]) for row in rows] == [
        ("0", "2", "1", "0"),
        ("1", "3", "1", "0"),
    ]
    documents = json.loads(hardmax("limit", "-", *HALF, "--json", stdin=BATCH).out)["clouds"]
    assert [document["points"] for document in documents] == [[[1, 1]] * 2, [[3, 4]] * 3]


# ---------------------------------------------------------------- --check


def test_check_tells_of_every_statement_what_became_of_it(hardmax: Command):
    outcome = hardmax("limit", "-", *HALF, "--check", stdin=SQUARE)
    report = check_theorem(limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2")))
    told = [line.split("\t") for line in outcome.out.splitlines()[-len(report) :]]
    assert outcome.code == 0
    assert told == [[one.claim, one.verdict, one.detail] for one in report]


def test_check_in_json_has_the_same_statements(hardmax: Command):
    outcome = hardmax("limit", "-", *TURN, "--max-layers", 20, "--check", "--json", stdin=ROUND)
    checks = json.loads(outcome.out)["check"]
    assert outcome.code == 0
    assert {check["verdict"] for check in checks} == {"does not apply"}
    assert all(check["claim"] for check in checks)


def test_a_statement_that_fails_is_exit_code_1(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    from hardmax.theorem import FAILS, Statement, TheoremReport

    broken = TheoremReport((Statement("leaders exist", FAILS, "none"),))
    monkeypatch.setattr("hardmax.theorem.check_theorem", lambda _: broken)
    outcome = hardmax("limit", "-", *HALF, "--check", stdin=SQUARE)
    assert outcome.code == 1
    assert outcome.out.endswith("leaders exist\tfails\tnone\n")


def test_checks_of_many_clouds_are_counted(hardmax: Command):
    out = hardmax("limit", "-", *HALF, "--check", stdin=BATCH).out
    assert "cloud\thold\tfail\tundecided\tdo not apply\n0\t6\t0\t0\t0\n1\t6\t0\t0\t0\n" in out


# ---------------------------------------------------------------- files


def test_limits_in_a_csv_have_a_line_for_each_token(hardmax: Command, tmp_path: Path):
    path = tmp_path / "limits.csv"
    outcome = hardmax("limit", "-", *HALF, "-o", path, stdin=SQUARE)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"wrote {path}\n")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    last = {"token": "4", "z0": "1.0", "z1": "0.0", "cluster": "4", "kind": "face 0, 1", "leader since": ""}
    assert rows[-1] == last
    assert [row["leader since"] for row in rows] == ["0", "0", "0", "0", ""]


def test_many_clouds_in_a_csv_are_numbered(hardmax: Command, tmp_path: Path):
    hardmax("limit", "-", *HALF, "-o", tmp_path / "limits.csv", stdin=BATCH)
    rows = csv.DictReader((tmp_path / "limits.csv").read_text().splitlines())
    assert [(row["cloud"], row["token"]) for row in rows] == [
        ("0", "0"),
        ("0", "1"),
        ("1", "0"),
        ("1", "1"),
        ("1", "2"),
    ]


@pytest.mark.parametrize("tokens", [SQUARE, BATCH], ids=["one", "many"])
def test_limits_in_a_json_are_what_json_prints(hardmax: Command, tmp_path: Path, tokens: bytes):
    outcome = hardmax("limit", "-", *HALF, "--json", "-o", tmp_path / "limits.json", stdin=tokens)
    assert json.loads((tmp_path / "limits.json").read_text()) == json.loads(outcome.out)


def test_limits_in_an_npz_can_be_loaded(hardmax: Command, tmp_path: Path):
    hardmax("limit", "-", *HALF, "-o", tmp_path / "one.npz", stdin=SQUARE)
    hardmax("limit", "-", *HALF, "-o", tmp_path / "many.npz", stdin=BATCH)
    assert Limit(Trajectory.load(tmp_path / "one.npz")).points[4].tolist() == [1, 0]
    assert [leaders.tolist() for leaders in Trajectories.load(tmp_path / "many.npz").leaders] == [[0], [0]]


def test_a_certificate_is_written_and_verifies(hardmax: Command, tmp_path: Path):
    path = tmp_path / "proof.json"
    outcome = hardmax("limit", "-", *HALF, "--certificate", path, stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, f"wrote {path}\n")
    assert facts(outcome.out)["settled at"] == "layer 0"
    assert verify(json.loads(path.read_text()))
    assert hardmax("verify", path).code == 0


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_drawn(hardmax: Command, tmp_path: Path, suffix: str, start: bytes):
    path = tmp_path / f"limit.{suffix}"
    outcome = hardmax("limit", "-", *HALF, "--picture", path, stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, f"wrote {path}\n")
    assert path.read_bytes().startswith(start)


def test_where_there_is_no_proof_nothing_is_written(hardmax: Command, tmp_path: Path):
    files = ("-o", tmp_path / "limits.csv", "--picture", tmp_path / "limit.png", "--certificate", tmp_path / "no.json")
    for options, reason in (
        ((*TURN, "--max-layers", 20), "gave up at layer 20"),
        ((*HALF, "--arithmetic", "float"), "float"),
    ):
        outcome = hardmax("limit", "-", *options, *files, stdin=ROUND)
        assert_refused(outcome, naming=["`--certificate`", "no proof", reason])
        assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- bad input


def assert_refused(outcome: Outcome, *, naming: list[str]) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    for words in naming:
        assert words in outcome.err


BAD_OPTIONS = {
    "alpha zero": (["--alpha", "0"], ["--alpha", "positive"]),
    "alpha missing": ([], ["--alpha"]),
    "metric of another dimension": ([*HALF, "--metric", "1"], ["--metric", "1 by 1", "2"]),
    "arithmetic unknown": ([*HALF, "--arithmetic", "fuzzy"], ["--arithmetic", "fuzzy", "certified"]),
    "layers negative": ([*HALF, "--max-layers", "-3"], ["--max-layers", "-3"]),
    "layers a word": ([*HALF, "--max-layers", "many"], ["--max-layers", "int"]),
    "output of unknown suffix": ([*HALF, "-o", "out.xlsx"], ["--output", "out.xlsx", ".csv, .json or .npz"]),
    "output in no folder": ([*HALF, "-o", "nowhere/out.csv"], ["--output", "nowhere/out.csv", "folder"]),
    "certificate of unknown suffix": ([*HALF, "--certificate", "c.txt"], ["--certificate", "c.txt", ".json"]),
    "picture of unknown suffix": ([*HALF, "--picture", "p.gif"], ["--picture", "p.gif", ".png, .svg or .pdf"]),
    "picture in no folder": ([*HALF, "--picture", "nowhere/p.png"], ["--picture", "folder"]),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_make_no_sense_are_refused_by_name(
    hardmax: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
):
    monkeypatch.chdir(tmp_path)
    options, naming = BAD_OPTIONS[case]
    assert_refused(hardmax("limit", "-", *options, stdin=SQUARE), naming=naming)
    assert list(tmp_path.iterdir()) == []


def test_tokens_that_are_no_cloud_are_refused_by_line(hardmax: Command):
    assert_refused(hardmax("limit", "-", *HALF, stdin=b"1,2\nnan,3\n"), naming=["line 2, column 1", "nan"])
    assert_refused(hardmax("limit", "nowhere.csv", *HALF), naming=["nowhere.csv", "does not exist"])


@pytest.mark.parametrize("option", ["--certificate", "--picture"])
def test_a_proof_and_a_picture_are_of_one_cloud(hardmax: Command, tmp_path: Path, option: str):
    path = tmp_path / {"--certificate": "proof.json", "--picture": "limit.png"}[option]
    outcome = hardmax("limit", "-", *HALF, option, path, stdin=BATCH)
    assert_refused(outcome, naming=[f"`{option}`", "one cloud", "2"])
    assert list(tmp_path.iterdir()) == []


def test_a_cloud_too_large_to_check_is_refused(hardmax: Command, tmp_path: Path):
    np.save(tmp_path / "many.npy", clouds.gaussian(3000, 2))
    outcome = hardmax("limit", tmp_path / "many.npy", *HALF, "--check")
    assert_refused(outcome, naming=["`--check`", "2,000", "3,000"])


def test_an_interruption_ends_quietly_with_130(hardmax: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hardmax.limits.limit", interrupted)
    outcome = hardmax("limit", "-", *HALF, "-o", tmp_path / "limits.csv", stdin=SQUARE)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- terminals


@pytest.mark.parametrize(("columns", "d"), [(60, 2), (60, 12), (100, 12)])
def test_a_narrow_terminal_is_not_overrun(tmp_path: Path, columns: int, d: int):
    np.save(tmp_path / "cloud.npy", clouds.gaussian(100, d))
    shown = on_a_terminal_here("limit", str(tmp_path / "cloud.npy"), *HALF, "--check", columns=columns)
    assert max(len(line) for line in shown.splitlines()) <= columns
    assert "vertex" in shown
    assert "holds" in shown


def test_a_terminal_shows_the_first_twenty_clusters(tmp_path: Path):
    cloud = clouds.gaussian(50, 3)
    np.save(tmp_path / "sphere.npy", cloud / np.linalg.norm(cloud, axis=1, keepdims=True))
    shown = on_a_terminal_here("limit", str(tmp_path / "sphere.npy"), *HALF, columns=80)
    rows = re.findall(r"^\s+(\d+)\s.*vertex", shown, re.MULTILINE)
    assert rows == [str(number) for number in range(20)]
    assert re.search(r"^\.\.\. \d+ more$", shown, re.MULTILINE)


@pytest.mark.parametrize(("columns", "last"), [(60, "arithmetic"), (80, "theorem")])
def test_many_clouds_fit_on_a_terminal(tmp_path: Path, columns: int, last: str):
    np.save(tmp_path / "batch.npy", clouds.gaussian(30, 2).reshape(5, 6, 2))
    shown = on_a_terminal_here("limit", str(tmp_path / "batch.npy"), *HALF, columns=columns)
    (header,) = (line for line in shown.splitlines() if "leaders" in line)
    assert header.split()[-1] == last
    assert len(re.findall(r"^\s+\d .*certified", shown, re.MULTILINE)) == 5


def test_what_takes_a_while_shows_that_it_goes_on_and_what_does_not_shows_nothing(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(output, "A_WHILE", 0.05)
    for seconds in (0.0, 0.5):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with output.progress_bar("clouds"):
            time.sleep(seconds)
        assert ("clouds" in sys.stderr.getvalue()) == bool(seconds)  # pyright: ignore[reportAttributeAccessIssue]
