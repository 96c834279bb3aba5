"""`hardmax simulate` and `hardmax clouds` as people use them: piped, on terminals, into files, one
cloud and many."""

import csv
import json
import re

import numpy as np
import pytest
from running import assert_refused, on_a_terminal

from hardmax import Dynamics, Softmax, clouds, limit, simulate
from hardmax.clouds import MAKERS
from hardmax.io import read_cloud

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
THIRTY = "--alpha 1/2 --layers 30"


def table(text: str) -> list[dict[str, str]]:
    return list(
        csv.DictReader((line for line in text.splitlines() if line[0] != "#"), delimiter="\t")
    )


def test_a_pipe_gets_the_facts_as_comments_and_every_token(hardmax):
    outcome = hardmax(f"simulate - {THIRTY}", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    for fact in ("# n: 5", "# leaders: 0 1 2 3", "# settled at: 0", "# arithmetic: exact"):
        assert fact in outcome.out
    rows = table(outcome.out)
    assert [row["attends to"] for row in rows] == ["0", "1", "2", "3", "0 1"]
    assert [row["leader since"] for row in rows] == ["0", "0", "0", "0", ""]
    assert (rows[4]["z0"], rows[4]["z1"]) == (f"{1 - (2 / 3) ** 30 / 2:.6g}", "0")
    many = hardmax("clouds gaussian --n 144 --d 2").out
    assert len(table(hardmax(f"simulate - {THIRTY}", stdin=many.encode()).out)) == 144


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax):
    written = hardmax("clouds emerging-leader --json").out
    document = json.loads(hardmax(f"simulate - {THIRTY} --json", stdin=written.encode()).out)
    run = simulate(clouds.emerging_leader(), Dynamics("1/2"), layers=30)
    assert document["alpha"] == "1/2"
    assert document["tokens"] == run.at(30).tolist()
    assert document["attended"] == run.attended(30).tolist()
    assert (document["leaders"], document["leader_layers"]) == ([0, 1, 2], [0, 1, 0])
    assert (document["settled_at"], document["stop_reason"]) == (1, run.stop_reason)
    assert document["certified"] is True
    assert document["margins"] == run.details.decisions.margins.tolist()


def test_one_token_has_no_margin(hardmax):
    document = json.loads(
        hardmax(f"simulate - {THIRTY} --json --arithmetic float", stdin=b"3,4\n").out
    )
    assert document["smallest_margin"] is document["error"] is None
    assert document["tokens"] == [[3.0, 4.0]]
    assert "margin" not in hardmax("simulate - --alpha 1 --until-settled", stdin=b"3,4\n").out


def test_until_settled_stops_when_nothing_changes_any_more(hardmax):
    written = hardmax("clouds emerging-leader").out
    shown = hardmax("simulate - --alpha 1/2 --until-settled", stdin=written.encode()).out
    assert "# layers: 1\n" in shown


def test_the_metric_decides_which_tokens_are_attended_to(hardmax, here):
    (here / "metric.csv").write_text("1,0\n0,100\n")
    metrics = {"": "0 1 0", "--metric '1,0;0,100'": "0 2 2", "--metric metric.csv": "0 2 2"}
    for option, attended in metrics.items():
        rows = table(hardmax(f"simulate - {THIRTY} {option}", stdin=b"3,0\n0,1\n1,1\n").out)
        assert [row["attends to"] for row in rows] == attended.split()


def test_many_clouds_get_a_line_each(hardmax):
    rows = table(hardmax(f"simulate - {THIRTY}", stdin=BATCH).out)
    found = [(row["cloud"], row["tokens"], row["leaders"]) for row in rows]
    assert found == [("0", "2", "1"), ("1", "3", "1")]
    documents = json.loads(hardmax(f"simulate - {THIRTY} --json", stdin=BATCH).out)["clouds"]
    assert [document["n"] for document in documents] == [2, 3]


# ---------------------------------------------------------------- files


def test_a_run_is_written_as_a_page_and_as_a_film(hardmax, here):
    image = pytest.importorskip("PIL.Image")
    (here / "points.csv").write_text("2,1\n-1,2\n1/2,0\n")
    run = "simulate points.csv --alpha 1/2 --layers 2 -o"
    assert hardmax(run, "run.html").code == 0
    assert "[0.5, 0.0]" in (here / "run.html").read_text(encoding="utf-8")
    assert hardmax(run, "run.gif").code == 0
    with image.open(here / "run.gif") as film:
        assert film.n_frames == 3


def test_a_csv_has_a_line_for_each_token_at_each_recorded_layer(hardmax, here):
    hardmax(f"simulate - {THIRTY} --record 10 -o run.csv", stdin=SQUARE)
    rows = list(csv.DictReader((here / "run.csv").read_text().splitlines()))
    assert [int(row["layer"]) for row in rows[::5]] == [0, 10, 20, 30]
    assert float(rows[-1]["z0"]) == 1 - (2 / 3) ** 30 / 2
    hardmax(f"simulate - {THIRTY} --record last -o runs.csv", stdin=BATCH)
    rows = list(csv.DictReader((here / "runs.csv").read_text().splitlines()))
    assert [row["cloud"] for row in rows] == ["0", "0", "1", "1", "1"]


# ---------------------------------------------------------------- named clouds


def test_a_named_cloud_is_the_very_cloud_of_the_package(hardmax, here):
    made = "clouds gaussian --n 9 --d 2 --seed 7"
    for name in ("cloud.csv", "cloud.json"):
        assert hardmax(made, "-o", name).out == ""
        cloud = read_cloud(name)
        assert isinstance(cloud, np.ndarray)
        assert cloud.tolist() == clouds.gaussian(9, 2, seed=7).tolist()
    assert hardmax(made).out == (here / "cloud.csv").read_text()


def test_options_of_a_named_cloud_reach_it(hardmax):
    assert hardmax("clouds square --inside 3/10,1/10").out.splitlines()[-1] == "3/10,1/10"
    assert hardmax("clouds polygon --sides 4").out.count("\n") == 5
    assert hardmax("clouds square --inside 1,0 --rotate").out.splitlines()[-1] == "3/5,4/5"
    assert json.loads(hardmax("clouds square --rotate --json").out)[0] == ["-1/5", "7/5"]


def test_the_list_of_clouds_names_each_with_its_options(hardmax):
    rows = {row["cloud"]: row["options"] for row in table(hardmax("clouds").out)}
    assert rows["gaussian"] == "--n --d --seed"
    assert set(rows) == {name.replace("_", "-") for name in MAKERS}
    assert [row["cloud"] for row in json.loads(hardmax("clouds --json").out)] == list(rows)


# ---------------------------------------------------------------- terminals


def test_a_terminal_shows_the_first_twenty_tokens(here):
    np.save("many.npy", clouds.gaussian(100, 2))
    shown = on_a_terminal(f"simulate many.npy {THIRTY}", columns=80)
    assert "... 80 more" in shown
    assert re.findall(r"^\s+(\d+) ", shown, re.MULTILINE) == [str(number) for number in range(20)]


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal_is_not_overrun(here, columns):
    np.save("wide.npy", clouds.gaussian(30, 12))
    np.save("batch.npy", clouds.gaussian(600, 2).reshape(100, 6, 2))
    wide = on_a_terminal(f"simulate wide.npy {THIRTY}", columns=columns)
    assert "… " in wide
    batch = on_a_terminal(f"simulate batch.npy {THIRTY}", columns=columns)
    assert re.search(r"^\s+19 .*certified", batch, re.MULTILINE)
    assert max(len(line) for line in (wide + batch).splitlines()) <= columns


# ---------------------------------------------------------------- bad input

# What is in the file points.csv, and what the error must say.
BAD_TOKENS = {
    "infinity": ("x,y\n1,2\n3,4\n5,-inf\n", ["line 4", "column 2", "-inf", "finite"]),
    "an empty file": ("", ["points.csv", "no tokens"]),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_tokens_that_are_no_cloud_are_refused_by_line(hardmax, here, case):
    text, words = BAD_TOKENS[case]
    (here / "points.csv").write_text(text)
    assert_refused(hardmax(f"simulate points.csv {THIRTY}"), *words)
    piped = [word.replace("points.csv", "standard input") for word in words]
    assert_refused(hardmax(f"simulate - {THIRTY}", stdin=text.encode()), *piped)


def test_without_a_gpu_the_option_is_named(hardmax, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    refused = hardmax(f"simulate - {THIRTY} --gpu", stdin=SQUARE)
    assert_refused(refused, "`--gpu` cannot be used", "Leave `--gpu` out")


LAYER = {"mask": "causal", "value": "1,0;0,1/2", "attention": "topk:2"}


@pytest.mark.parametrize("command", ["simulate", "limit"])
def test_other_layers_are_those_of_the_package(command, hardmax):
    parts = (f"--{name} '{word}'" for name, word in LAYER.items())
    more = "--layers 7" if command == "simulate" else ""
    line = f"{command} - {' '.join(parts)} --steps 2,1,1/2 {more}"
    document = json.loads(hardmax(line, "--json", stdin=SQUARE).out)
    tokens = read_square()
    dynamics = Dynamics(["2", "1", "1/2"], **LAYER)
    assert document["attention"] == {"kind": "TopK", "k": 2}
    assert (document["alpha"], document["mask"]) == (["2", "1", "1/2"], "causal")
    if command == "simulate":
        assert document["tokens"] == simulate(tokens, dynamics, layers=7).at(7).tolist()
    else:
        lim = limit(tokens, dynamics)
        assert document["limit_points"] == lim.limit_points.tolist()
    shown = hardmax(line, stdin=SQUARE)
    for fact in ("alpha: 2 1 1/2", "mask: causal", "value: 1,0;0,1/2", "attention: topk:2"):
        assert f"# {fact}\n" in shown.out


def read_square() -> list[list[str]]:
    return [line.split(",") for line in SQUARE.decode().splitlines()]


def test_a_mask_is_a_file_of_0_and_1(hardmax, here):
    (here / "mask.csv").write_text("1,0,0,0,0\n1,1,0,0,0\n1,1,1,0,0\n1,1,1,1,0\n1,1,1,1,1\n")
    ways = [
        json.loads(hardmax(f"simulate - {THIRTY} --mask", mask, "--json", stdin=SQUARE).out)
        for mask in ("causal", "mask.csv")
    ]
    assert ways[0]["attended"] == ways[1]["attended"]
    assert ways[0]["tokens"] == ways[1]["tokens"]


def test_softmax_is_enclosed(hardmax):
    softmax = "simulate - --alpha 1/2 --attention softmax:10 --layers 3"
    document = json.loads(hardmax(softmax, "--json", stdin=SQUARE).out)
    run = simulate(read_square(), Dynamics("1/2", attention=Softmax(10)), layers=3)
    assert (document["tokens"], document["error"]) == (run.at(3).tolist(), run.error)
    shown = hardmax(softmax, stdin=SQUARE).out
    assert "# attention: softmax:10\n" in shown
    assert table(shown)[4]["z0"] == f"{run.at(3)[4, 0]:.6g}"
    many = table(hardmax(softmax, stdin=BATCH).out)
    assert [(row["tokens"], row["layers"]) for row in many] == [("2", "3"), ("3", "3")]


def test_columns_are_chosen_by_name(hardmax, here):
    (here / "own.csv").write_text("id,x,y\n1,1,1\n2,1,-1\n3,-1,-1\n4,-1,1\n5,1/2,0\n")
    chosen = hardmax(f"simulate own.csv {THIRTY} --columns x,y").out
    assert chosen == hardmax(f"simulate - {THIRTY}", stdin=SQUARE).out
