"""`hardmax simulate` and `hardmax clouds` as people use them: piped, on terminals, into files, one
cloud and many."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from running import Command, assert_refused, on_a_terminal

from hardmax import Dynamics, Softmax, clouds, limit, simulate
from hardmax.cli.clouds import NAMES
from hardmax.io import read_cloud
from hardmax.simulation import load_run

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
THIRTY = ("--alpha", "1/2", "--layers", "30")


def table(text: str) -> list[dict[str, str]]:
    return list(
        csv.DictReader((line for line in text.splitlines() if line[0] != "#"), delimiter="\t")
    )


def test_a_pipe_gets_the_facts_as_comments_and_every_token(hardmax: Command):
    outcome = hardmax("simulate", "-", *THIRTY, stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    for fact in ("# n: 5", "# leaders: 0 1 2 3", "# settled at: 0", "# arithmetic: exact"):
        assert fact in outcome.out
    rows = table(outcome.out)
    assert [row["attends to"] for row in rows] == ["0", "1", "2", "3", "0 1"]
    assert [row["leader since"] for row in rows] == ["0", "0", "0", "0", ""]
    assert (rows[4]["z0"], rows[4]["z1"]) == (f"{1 - (2 / 3) ** 30 / 2:.6g}", "0")
    many = hardmax("clouds", "gaussian", "--n", "144", "--d", "2").out
    assert len(table(hardmax("simulate", "-", *THIRTY, stdin=many.encode()).out)) == 144


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax: Command):
    written = hardmax("clouds", "emerging-leader", "--json").out
    document = json.loads(hardmax("simulate", "-", *THIRTY, "--json", stdin=written.encode()).out)
    run = simulate(clouds.emerging_leader(), Dynamics("1/2"), layers=30)
    assert document["alpha"] == "1/2"
    assert document["tokens"] == run.at(30).tolist()
    assert document["attended"] == run.attended(30).tolist()
    assert (document["leaders"], document["leader_layers"]) == ([0, 1, 2], [0, 1, 0])
    assert (document["settled_at"], document["stop_reason"], document["certified"]) == (
        1,
        run.stop_reason,
        True,
    )
    assert document["margins"] == run.details.decisions.margins.tolist()


def test_one_token_has_no_margin(hardmax: Command):
    document = json.loads(
        hardmax("simulate", "-", *THIRTY, "--json", "--arithmetic", "float", stdin=b"3,4\n").out
    )
    assert document["smallest_margin"] is document["error"] is None
    assert document["tokens"] == [[3.0, 4.0]]
    assert (
        "margin"
        not in hardmax("simulate", "-", "--alpha", "1", "--until-settled", stdin=b"3,4\n").out
    )


def test_until_settled_stops_when_nothing_changes_any_more(hardmax: Command):
    written = hardmax("clouds", "emerging-leader").out
    assert (
        "# layers: 1\n"
        in hardmax("simulate", "-", "--alpha", "1/2", "--until-settled", stdin=written.encode()).out
    )


def test_the_metric_decides_which_tokens_are_attended_to(hardmax: Command, here: Path):
    (here / "metric.csv").write_text("1,0\n0,100\n")
    for metric, attended in (((), "0 1 0"), (("1,0;0,100",), "0 2 2"), (("metric.csv",), "0 2 2")):
        options = ("--metric", *metric) if metric else ()
        rows = table(hardmax("simulate", "-", *THIRTY, *options, stdin=b"3,0\n0,1\n1,1\n").out)
        assert [row["attends to"] for row in rows] == attended.split()


def test_many_clouds_get_a_line_each(hardmax: Command):
    rows = table(hardmax("simulate", "-", *THIRTY, stdin=BATCH).out)
    assert [(row["cloud"], row["tokens"], row["leaders"]) for row in rows] == [
        ("0", "2", "1"),
        ("1", "3", "1"),
    ]
    documents = json.loads(hardmax("simulate", "-", *THIRTY, "--json", stdin=BATCH).out)["clouds"]
    assert [document["n"] for document in documents] == [2, 3]


# ---------------------------------------------------------------- files


def test_runs_in_files_can_be_loaded_again(hardmax: Command, here: Path):
    outcome = hardmax("simulate", "-", *THIRTY, "-o", "run.npz", stdin=SQUARE)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote run.npz\n")
    assert load_run("run.npz").at(30)[4].tolist() == [1 - (2 / 3) ** 30 / 2, 0]
    printed = json.loads(
        hardmax("simulate", "-", *THIRTY, "--json", "-o", "runs.npz", stdin=BATCH).out
    )["clouds"]
    loaded = load_run("runs.npz")
    assert [run.tolist() for run in loaded.at(30)] == [document["tokens"] for document in printed]


def test_a_run_is_written_as_a_page_and_as_a_film(hardmax: Command, here: Path):
    image = pytest.importorskip("PIL.Image")
    (here / "points.csv").write_text("2,1\n-1,2\n1/2,0\n")
    run = ("simulate", "points.csv", "--alpha", "1/2", "--layers", "2", "-o")
    assert hardmax(*run, "run.html").code == 0
    assert "[0.5, 0.0]" in (here / "run.html").read_text(encoding="utf-8")
    assert hardmax(*run, "run.gif").code == 0
    with image.open(here / "run.gif") as film:
        assert film.n_frames == 3


def test_a_csv_has_a_line_for_each_token_at_each_recorded_layer(hardmax: Command, here: Path):
    pytest.importorskip("pandas", reason="the extra `tables` is not installed")
    hardmax("simulate", "-", *THIRTY, "--record", "10", "-o", "run.csv", stdin=SQUARE)
    rows = list(csv.DictReader((here / "run.csv").read_text().splitlines()))
    assert [int(row["layer"]) for row in rows[::5]] == [0, 10, 20, 30]
    assert float(rows[-1]["z0"]) == 1 - (2 / 3) ** 30 / 2
    hardmax("simulate", "-", *THIRTY, "--record", "last", "-o", "runs.csv", stdin=BATCH)
    rows = list(csv.DictReader((here / "runs.csv").read_text().splitlines()))
    assert [row["cloud"] for row in rows] == ["0", "0", "1", "1", "1"]


def test_many_clouds_in_an_npz_can_be_simulated_further(hardmax: Command, here: Path):
    np.savez(
        "before.npz",
        tokens=np.eye(3),
        offsets=np.array([0, 1, 3]),
        multiplicities=np.array([5, 1, 2]),
    )
    assert hardmax("simulate", "before.npz", *THIRTY, "-o", "after.npz").code == 0
    with np.load("after.npz") as after:
        assert after["offsets"].tolist() == [0, 1, 3]
        assert after["multiplicities"].tolist() == [5, 1, 2]
    assert len(table(hardmax("simulate", "after.npz", *THIRTY).out)) == 2


# ---------------------------------------------------------------- named clouds


def test_a_named_cloud_is_the_very_cloud_of_the_package(hardmax: Command, here: Path):
    made = ("clouds", "gaussian", "--n", "9", "--d", "2", "--seed", "7")
    for name in ("cloud.csv", "cloud.json"):
        assert hardmax(*made, "-o", name).out == ""
        cloud = read_cloud(name)
        assert isinstance(cloud, np.ndarray)
        assert cloud.tolist() == clouds.gaussian(9, 2, seed=7).tolist()
    assert hardmax(*made).out == (here / "cloud.csv").read_text()


def test_options_of_a_named_cloud_reach_it(hardmax: Command):
    assert hardmax("clouds", "square", "--inside", "3/10,1/10").out.splitlines()[-1] == "3/10,1/10"
    assert hardmax("clouds", "polygon", "--sides", "4").out.count("\n") == 5
    assert (
        hardmax("clouds", "square", "--inside", "1,0", "--rotate").out.splitlines()[-1] == "3/5,4/5"
    )
    assert json.loads(hardmax("clouds", "square", "--rotate", "--json").out)[0] == ["-1/5", "7/5"]


def test_the_list_of_clouds_names_each_with_its_options(hardmax: Command):
    rows = {row["cloud"]: row["options"] for row in table(hardmax("clouds").out)}
    assert rows["gaussian"] == "--n --d --seed"
    assert set(rows) == {name.replace("_", "-") for name in NAMES}
    assert [row["cloud"] for row in json.loads(hardmax("clouds", "--json").out)] == list(rows)


# ---------------------------------------------------------------- terminals


def test_a_terminal_shows_the_first_twenty_tokens(here: Path):
    np.save("many.npy", clouds.gaussian(100, 2))
    shown = on_a_terminal("simulate", "many.npy", *THIRTY, columns=80)
    assert "... 80 more" in shown
    assert re.findall(r"^\s+(\d+) ", shown, re.MULTILINE) == [str(number) for number in range(20)]


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal_is_not_overrun(here: Path, columns: int):
    np.save("wide.npy", clouds.gaussian(30, 12))
    np.save("batch.npy", clouds.gaussian(600, 2).reshape(100, 6, 2))
    wide = on_a_terminal("simulate", "wide.npy", *THIRTY, columns=columns)
    assert "… " in wide
    batch = on_a_terminal("simulate", "batch.npy", *THIRTY, columns=columns)
    assert re.search(r"^\s+19 .*certified", batch, re.MULTILINE)
    assert max(len(line) for line in (wide + batch).splitlines()) <= columns


# ---------------------------------------------------------------- bad input

# What is in the file points.csv, and what the error must say.
BAD_TOKENS = {
    "nan": ("1,2\nnan,3\n", ["line 2", "nan", "finite"]),
    "infinity": ("x,y\n1,2\n3,4\n5,-inf\n", ["line 4", "column 2", "-inf", "finite"]),
    "a row too long": ("1,2\n3,4\n\n5,6,7\n", ["line 4", "3 columns", "expected 2"]),
    "text": ("1,2\n3,four\n", ["line 2", "column 2", "'four'", "number"]),
    "a decimal comma": ("1,5;2,5\n", ["line 1", "'1,5'", "such as 0.5"]),
    "an empty file": ("", ["points.csv", "no tokens"]),
    "more digits than memory": ("1e999999999,1\n", ["line 1", "1e999999999", "1.8e308"]),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_tokens_that_are_no_cloud_are_refused_by_line(hardmax: Command, here: Path, case: str):
    text, words = BAD_TOKENS[case]
    (here / "points.csv").write_text(text)
    assert_refused(hardmax("simulate", "points.csv", *THIRTY), *words)
    piped = [word.replace("points.csv", "standard input") for word in words]
    assert_refused(hardmax("simulate", "-", *THIRTY, stdin=text.encode()), *piped)


BAD_OPTIONS = {
    "no threads": ([*THIRTY, "--threads", "0"], ["--threads", "0"]),
    "threads on a GPU": ([*THIRTY, "--gpu", "--threads", "1"], ["--gpu", "--threads"]),
    "alpha zero": (["--alpha", "0", "--layers", "3"], ["--alpha", "positive", "0"]),
    "alpha nonsense": (["--alpha", "half", "--layers", "3"], ["--alpha", "half"]),
    "alpha missing": (["--layers", "3"], ["--alpha"]),
    "metric not square": ([*THIRTY, "--metric", "2,1"], ["--metric", "square", "1 by 2"]),
    "metric of words": (
        [*THIRTY, "--metric", "identity"],
        ["--metric", "identity", "finite number"],
    ),
    "layers negative": (["--alpha", "1", "--layers", "-3"], ["--layers", "-3"]),
    "layers and until settled": (
        [*THIRTY, "--until-settled"],
        ["--layers", "--until-settled", "both"],
    ),
    "neither layers nor until settled": (
        ["--alpha", "1"],
        ["--layers", "--until-settled", "neither"],
    ),
    "ten terabytes": (
        ["--alpha", "1", "--layers", "156250000000"],
        ["12,500.0 GB", "--record last", "--record "],
    ),
    "record nonsense": ([*THIRTY, "--record", "some"], ["--record", "some", "last"]),
    "arithmetic unknown": (
        [*THIRTY, "--arithmetic", "fuzzy"],
        ["--arithmetic", "fuzzy", "certified"],
    ),
    "output of unknown suffix": (
        [*THIRTY, "-o", "out.xlsx"],
        ["--output", "out.xlsx", ".npz", ".csv"],
    ),
    "output in no folder": (
        [*THIRTY, "-o", "nowhere/out.npz"],
        ["--output", "nowhere/out.npz", "folder"],
    ),
    "option unknown": ([*THIRTY, "--layer", "3"], ["--layer", "--help"]),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_make_no_sense_are_refused_by_name(hardmax: Command, here: Path, case: str):
    options, words = BAD_OPTIONS[case]
    assert_refused(hardmax("simulate", "-", *options, stdin=SQUARE), *words)
    assert list(here.iterdir()) == []


OTHERS = {
    "a missing file": (("simulate", "nowhere.csv", *THIRTY), ["nowhere.csv", "does not exist"]),
    "a file called like an option": (("simulate", "layers", *THIRTY), ["`layers` does not exist"]),
    "a folder": (("simulate", ".", *THIRTY), ["folder"]),
    "no such cloud": (("clouds", "foo"), ["emerging-leader", "'foo'"]),
    "a cloud of minus three tokens": (
        ("clouds", "gaussian", "--n", "-3", "--d", "2"),
        ["`--n`", "-3"],
    ),
    "a cloud without that option": (("clouds", "square", "--n", "5"), ["`--inside`", "`--n`"]),
    "a cloud without two options": (("clouds", "square", "--n=5", "--d=2"), ["it has no `--n`"]),
    "a cloud that needs more": (("clouds", "gaussian", "--d", "2"), ["`--n` is missing"]),
    "a cloud in an unknown format": (
        ("clouds", "square", "-o", "square.npy"),
        ["--output", ".csv or .json"],
    ),
}


@pytest.mark.parametrize(("typed", "words"), OTHERS.values(), ids=OTHERS)
def test_other_mistakes_are_named_as_they_were_typed(
    hardmax: Command, here: Path, typed: tuple, words: list[str]
):
    assert_refused(hardmax(*typed), *words)


def test_without_a_gpu_the_option_is_named(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    refused = hardmax("simulate", "-", *THIRTY, "--gpu", stdin=SQUARE)
    assert_refused(refused, "`--gpu` cannot be used", "Leave `--gpu` out")


WORDS = {
    "mask": "causal",
    "value": "1,0;0,1/2",
    "attention": "topk:2",
    "steps": "2,1,1/2",
}


@pytest.mark.parametrize("command", ["simulate", "limit"])
def test_other_layers_are_those_of_the_package(command: str, hardmax: Command):
    options = [part for name, word in WORDS.items() for part in (f"--{name}", word)]
    layer = {name: WORDS[name] for name in ("mask", "value", "attention")}
    dynamics = Dynamics(["2", "1", "1/2"], **layer)
    more = ("--layers", "7") if command == "simulate" else ()
    outcome = hardmax(command, "-", *options, *more, "--json", stdin=SQUARE)
    document, tokens = json.loads(outcome.out), read_square()
    assert document["attention"] == {"kind": "TopK", "k": 2}
    assert (document["alpha"], document["mask"]) == (["2", "1", "1/2"], "causal")
    if command == "simulate":
        assert document["tokens"] == simulate(tokens, dynamics, layers=7).at(7).tolist()
    else:
        lim = limit(tokens, dynamics)
        assert document["limit_points"] == lim.limit_points.tolist()
    shown = hardmax(command, "-", *options, *more, stdin=SQUARE)
    for fact in ("alpha: 2 1 1/2", "mask: causal", "value: 1,0;0,1/2", "attention: topk:2"):
        assert f"# {fact}\n" in shown.out


def read_square() -> list[list[str]]:
    return [line.split(",") for line in SQUARE.decode().splitlines()]


def test_a_mask_is_a_file_of_0_and_1(hardmax: Command, here: Path):
    (here / "mask.csv").write_text("1,0,0,0,0\n1,1,0,0,0\n1,1,1,0,0\n1,1,1,1,0\n1,1,1,1,1\n")
    ways = [
        json.loads(hardmax("simulate", "-", *THIRTY, "--mask", mask, "--json", stdin=SQUARE).out)
        for mask in ("causal", "mask.csv")
    ]
    assert ways[0]["attended"] == ways[1]["attended"]
    assert ways[0]["tokens"] == ways[1]["tokens"]
    (here / "mask.csv").write_text("1,2\n0,1\n")
    refused = hardmax("simulate", "-", *THIRTY, "--mask", "mask.csv", stdin=SQUARE)
    assert_refused(refused, "`--mask` must be", "a file of 0 and 1")


def test_softmax_is_enclosed(hardmax: Command):
    softmax = ("simulate", "-", "--alpha", "1/2", "--attention", "softmax:10", "--layers", "3")
    document = json.loads(hardmax(*softmax, "--json", stdin=SQUARE).out)
    run = simulate(read_square(), Dynamics("1/2", attention=Softmax(10)), layers=3)
    assert (document["tokens"], document["error"]) == (run.at(3).tolist(), run.error)
    shown = hardmax(*softmax, stdin=SQUARE).out
    assert "# attention: softmax:10\n" in shown
    assert table(shown)[4]["z0"] == f"{run.at(3)[4, 0]:.6g}"
    many = table(hardmax(*softmax, stdin=BATCH).out)
    assert [(row["tokens"], row["layers"]) for row in many] == [("2", "3"), ("3", "3")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ["either `--alpha`", "or `--steps`", "neither was"]),
        (("--alpha", "1", "--steps", "2,1"), ["both were given"]),
        (("--steps", "2,0"), ["`--alpha` (layer 1)", "positive"]),
        (("--alpha", "1", "--attention", "topk:0"), ["`--attention` is 'topk:0'", "from 1 up"]),
        (("--alpha", "1", "--attention", "loud"), ["`--attention`", "'topk:2'", "not 'loud'"]),
        (("--alpha", "1", "--value", "1,x;0,1"), ["`--value` (row 0, column 1)", "'x'"]),
        (("--alpha", "1", "--value", "1"), ["`--value` is 1 by 1", "2 coordinates"]),
        (("--alpha", "1", "--mask", "nobody"), ["`--mask` must be 'causal'", "a file of 0 and 1"]),
        (
            ("--alpha", "1", "--columns", "x"),
            ["`--columns` must be names", "standard input has 1, 2"],
        ),
        (("--alpha", "1", "--attention", "softmax:2", "-o", "a.npz"), ["`--output`", "softmax"]),
        (("--alpha", "1", "--attention", "softmax:2", "--record", "last"), ["Softmax", "record"]),
    ],
)
def test_a_layer_that_makes_no_sense_is_refused(options, words, hardmax: Command, here: Path):
    assert_refused(hardmax("simulate", "-", "--layers", "3", *options, stdin=SQUARE), *words)


def test_columns_are_chosen_by_name(hardmax: Command, here: Path):
    (here / "own.csv").write_text("id,x,y\n1,1,1\n2,1,-1\n3,-1,-1\n4,-1,1\n5,1/2,0\n")
    refused = hardmax("simulate", "own.csv", *THIRTY)
    way_out = "Use --columns x,y to leave it out, or --columns all to take it as a coordinate."
    assert_refused(refused, f"`own.csv`: column 'id' numbers the rows. {way_out}")
    chosen = hardmax("simulate", "own.csv", *THIRTY, "--columns", "x,y").out
    assert chosen == hardmax("simulate", "-", *THIRTY, stdin=SQUARE).out
