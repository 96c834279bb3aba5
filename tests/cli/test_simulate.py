"""`hardmax simulate` as people use it: piped, into files, one and many."""

import csv
import json

import pytest
from running import assert_refused, facts, table

from hardmax import Dynamics, Softmax, clouds, simulate

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
THIRTY = "--alpha 1/2 --layers 30"
TOKENS = [line.split(",") for line in SQUARE.decode().splitlines()]


def test_a_pipe_gets_the_facts_as_comments_and_every_token(hardmax):
    outcome = hardmax(f"simulate - {THIRTY}", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    told = facts(outcome.out)
    expected = {"n": "5", "leaders": "0 1 2 3", "settled at": "0", "alpha": "1/2"}
    assert {name: told[name] for name in expected} == expected
    rows = table(outcome.out)
    assert [row["attends to"] for row in rows] == ["0", "1", "2", "3", "0 1"]
    assert [row["leader since"] for row in rows] == ["0", "0", "0", "0", ""]
    assert (rows[4]["z0"], rows[4]["z1"]) == (f"{1 - (2 / 3) ** 30 / 2:.6g}", "0")


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax):
    cloud = clouds.emerging_leader()
    written = json.dumps([[str(value) for value in row] for row in cloud.tolist()])
    document = json.loads(hardmax(f"simulate - {THIRTY} --json", stdin=written.encode()).out)
    run = simulate(cloud, Dynamics("1/2"), layers=30)
    assert document["tokens"] == run.at(30).tolist()
    assert document["attended"] == run.attended(30).tolist()
    assert (document["leaders"], document["leader_layers"]) == ([0, 1, 2], [0, 1, 0])
    assert (document["settled_at"], document["certified"]) == (1, True)


def test_one_token_has_no_margin_and_its_error_is_no_number(hardmax):
    line = f"simulate - {THIRTY} --json --arithmetic float"
    document = json.loads(hardmax(line, stdin=b"3,4\n").out)
    assert document["tokens"] == [[3.0, 4.0]]
    assert document["error"] is None


@pytest.mark.parametrize(
    ("option", "attended"),
    [("", "0 1 0"), ("--metric '1,0;0,100'", "0 2 2"), ("--metric metric.csv", "0 2 2")],
)
def test_the_metric_decides_which_tokens_are_attended_to(option, attended, hardmax, here):
    (here / "metric.csv").write_text("1,0\n0,100\n")
    rows = table(hardmax(f"simulate - {THIRTY} {option}", stdin=b"3,0\n0,1\n1,1\n").out)
    assert [row["attends to"] for row in rows] == attended.split()


def test_many_clouds_get_a_line_each(hardmax):
    rows = table(hardmax(f"simulate - {THIRTY}", stdin=BATCH).out)
    assert [(row["n"], row["leaders"]) for row in rows] == [("2", "0"), ("3", "0")]
    documents = json.loads(hardmax(f"simulate - {THIRTY} --json", stdin=BATCH).out)["clouds"]
    assert [document["n"] for document in documents] == [2, 3]


def test_a_run_is_written_as_a_table_a_page_and_a_film(hardmax, here):
    image = pytest.importorskip("PIL.Image")
    (here / "points.csv").write_text("2,1\n-1,2\n1/2,0\n")
    for name in ("run.csv", "run.html", "run.gif"):
        outcome = hardmax("simulate points.csv --alpha 1/2 --layers 2 -o", name)
        assert (outcome.out, outcome.err) == ("", f"wrote {name}\n")
    rows = list(csv.DictReader((here / "run.csv").read_text().splitlines()))
    assert [int(row["layer"]) for row in rows[::3]] == [0, 1, 2]
    assert "[0.5, 0.0]" in (here / "run.html").read_text(encoding="utf-8")
    with image.open(here / "run.gif") as film:
        assert film.n_frames == 3


def test_a_table_of_many_clouds_numbers_them(hardmax, here):
    hardmax("simulate - --alpha 1/2 --layers 0 -o runs.csv", stdin=BATCH)
    rows = csv.DictReader((here / "runs.csv").read_text().splitlines())
    assert [row["cloud"] for row in rows] == ["0", "0", "1", "1", "1"]


def test_without_a_gpu_the_way_out_is_named(hardmax, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert_refused(hardmax(f"simulate - {THIRTY} --gpu", stdin=SQUARE), "cannot be used")


def test_other_layers_are_those_of_the_package(hardmax):
    parts = {"mask": "causal", "value": "1,0;0,1/2", "attention": "topk:2"}
    options = " ".join(f"--{name} '{word}'" for name, word in parts.items())
    line = f"simulate - {options} --alpha 2,1,1/2 --layers 7"
    document = json.loads(hardmax(line, "--json", stdin=SQUARE).out)
    run = simulate(TOKENS, Dynamics(["2", "1", "1/2"], **parts), layers=7)
    assert document["tokens"] == run.at(7).tolist()
    assert document["attention"] == {"kind": "TopK", "k": 2}
    told = facts(hardmax(line, stdin=SQUARE).out)
    assert (told["alpha"], told["mask"]) == ("2 1 1/2", "causal")


def test_a_mask_is_a_file_of_0_and_1(hardmax, here):
    (here / "mask.csv").write_text("1,0,0,0,0\n1,1,0,0,0\n1,1,1,0,0\n1,1,1,1,0\n1,1,1,1,1\n")
    line = f"simulate - {THIRTY} --json --mask"
    by_word, by_file = (
        json.loads(hardmax(line, mask, stdin=SQUARE).out) for mask in ("causal", "mask.csv")
    )
    assert by_word["attended"] == by_file["attended"]
    assert by_word["tokens"] == by_file["tokens"]


def test_softmax_is_enclosed(hardmax):
    softmax = "simulate - --alpha 1/2 --attention softmax:10 --layers 3"
    document = json.loads(hardmax(softmax, "--json", stdin=SQUARE).out)
    run = simulate(TOKENS, Dynamics("1/2", attention=Softmax(10)), layers=3)
    assert (document["tokens"], document["error"]) == (run.at(3).tolist(), run.error)
    rows = table(hardmax(softmax, stdin=SQUARE).out)
    assert rows[4]["z0"] == f"{run.at(3)[4, 0]:.6g}"
    many = table(hardmax(softmax, stdin=BATCH).out)
    assert [(row["n"], row["layers"]) for row in many] == [("2", "3"), ("3", "3")]


def test_columns_are_chosen_by_name(hardmax, here):
    (here / "own.csv").write_text("id,x,y\n1,1,1\n2,1,-1\n3,-1,-1\n4,-1,1\n5,1/2,0\n")
    chosen = hardmax(f"simulate own.csv {THIRTY} --columns x,y").out
    assert chosen == hardmax(f"simulate - {THIRTY}", stdin=SQUARE).out
