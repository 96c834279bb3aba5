"""`hardmax limit` as people use it: on pipes, into files, with one cloud and many."""

import csv
import json

from running import assert_refused, facts, table

from hardmax import Dynamics, check_theorem, clouds, limit, verify
from hardmax.theorem import FAILS, Statement, TheoremReport

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
ROUND = b"1,0\n-1/2,4/5\n-1/2,-4/5\n"
HALF = "--alpha 1/2"
TURN = f"{HALF} --metric '0,-1;1,0' --max-layers 20"


def test_a_pipe_gets_the_facts_as_comments_and_every_cluster(hardmax):
    outcome = hardmax(f"limit - {HALF}", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    told = facts(outcome.out)
    expected = {"n": "5", "alpha": "1/2", "leaders": "0 1 2 3", "settled at": "0"}
    expected |= {"theorem applies": "yes", "proved": "yes"}
    assert {name: told[name] for name in expected} == expected
    rows = table(outcome.out)
    kinds = ["vertex 0", "vertex 1", "vertex 2", "vertex 3", "face 0, 1"]
    assert [row["kind"] for row in rows] == kinds
    last = {"cluster": "4", "z0": "1", "z1": "0", "kind": "face 0, 1", "size": "1", "tokens": "4"}
    assert rows[-1] == last


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax):
    cloud = clouds.rotated(clouds.nonleader_clusters())
    written = json.dumps([[str(value) for value in row] for row in cloud.tolist()])
    document = json.loads(hardmax(f"limit - {HALF} --json", stdin=written.encode()).out)
    lim = limit(cloud, Dynamics("1/2"))
    assert document["limit_points"] == lim.limit_points.tolist()
    assert document["labels"] == lim.clusters.labels.tolist()
    assert document["leaders"] == lim.leaders.tolist()
    assert (document["settled_at"], document["stop_reason"]) == (0, lim.stop_reason)
    assert document["theorem_applies"] is document["certified"] is True
    assert document["clusters"][4] == {"point": [0.6, 0.8], "size": 1, "kind": "face 0, 3"}


def test_limits_are_printed_as_fractions_if_asked(hardmax):
    outcome = hardmax(f"limit - {HALF} --exact", stdin=b"1,1\n1,-1\n-1,-1/3\n1/3,0\n")
    found = [(row["z0"], row["z1"]) for row in table(outcome.out)]
    assert found == [("1", "1"), ("1", "-1"), ("-1", "-1/3"), ("1", "0")]
    document = json.loads(
        hardmax(f"limit - {HALF} --exact --json", stdin=b"1,1\n-1,-1/3\n1/3,0\n").out
    )
    assert document["limit_points"][1] == ["-1", "-1/3"]
    assert document["clusters"][1]["point"] == ["-1", "-1/3"]
    unsettled = hardmax("limit - --alpha 1 --metric '0,-1;1,0' --max-layers 2 --exact", stdin=ROUND)
    assert [row["z0"] for row in table(unsettled.out)] == ["-1/8", "-1/8", "1/4"]


def test_what_does_not_settle_gets_the_reason_and_the_bound(hardmax):
    outcome = hardmax(f"limit - {TURN}", stdin=ROUND)
    told = facts(outcome.out)
    assert outcome.code == 0
    assert told["stop reason"].startswith("gave up at layer 20: not settled yet")
    assert (told["theorem applies"], told["proved"]) == ("no", "no")
    assert "settled at" not in told
    assert [row["kind"] for row in table(outcome.out)] == ["elsewhere"] * 3
    document = json.loads(hardmax(f"limit - {TURN} --json", stdin=ROUND).out)
    assert (document["certified"], document["settled_at"]) == (False, None)
    assert document["limit_error"] < 1


def test_many_clouds_get_a_line_each(hardmax):
    rows = table(hardmax(f"limit - {HALF}", stdin=BATCH).out)
    assert [(row["n"], row["settled_at"]) for row in rows] == [("2", "0"), ("3", "0")]
    documents = json.loads(hardmax(f"limit - {HALF} --json", stdin=BATCH).out)["clouds"]
    assert [document["limit_points"] for document in documents] == [[[1, 1]] * 2, [[3, 4]] * 3]


def test_check_prints_every_statement_with_its_verdict(hardmax):
    report = check_theorem(limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2")))
    outcome = hardmax(f"limit - {HALF} --check", stdin=SQUARE)
    assert outcome.code == 0
    lines = [line.split("\t") for line in outcome.out.splitlines()[-len(report) :]]
    assert lines == [["0", one.claim, one.verdict, one.detail] for one in report]
    outcome = hardmax(f"limit - {TURN} --check --json", stdin=ROUND)
    assert {check["verdict"] for check in json.loads(outcome.out)["check"]} == {"does not apply"}


def test_a_statement_that_fails_is_exit_code_1(hardmax, monkeypatch):
    broken = TheoremReport((Statement("leaders exist", FAILS, "none"),))
    monkeypatch.setattr("hardmax.theorem.check_theorem", lambda _: broken)
    outcome = hardmax(f"limit - {HALF} --check", stdin=SQUARE)
    assert outcome.code == 1
    assert outcome.out.endswith("leaders exist\tfails\tnone\n")


def test_a_table_a_proof_and_a_picture_are_written(hardmax, here):
    line = f"limit - {HALF} --certificate proof.json --picture limit.svg -o limits.csv"
    outcome = hardmax(line, stdin=SQUARE)
    wrote = "wrote proof.json\nwrote limit.svg\nwrote limits.csv\n"
    assert (outcome.code, outcome.out, outcome.err) == (0, "", wrote)
    assert verify(json.loads((here / "proof.json").read_text()))
    assert (here / "limit.svg").read_bytes().startswith(b"<?xml")
    rows = list(csv.DictReader((here / "limits.csv").read_text().splitlines()))
    assert [row["leader_since"] for row in rows] == ["0", "0", "0", "0", ""]
    assert (rows[-1]["z0"], rows[-1]["kind"]) == ("1.0", "face 0, 1")


def test_without_a_proof_nothing_is_written(hardmax, here):
    line = f"limit - {TURN} -o limits.csv --picture limit.png --certificate no.json"
    assert_refused(hardmax(line, stdin=ROUND), "no proof", "gave up")
    assert list(here.iterdir()) == []
