"""`hardmax limit` as people use it: on pipes and terminals, into files, with one cloud and many."""

import csv
import json
import re

import numpy as np
import pytest
from running import assert_refused, on_a_terminal
from test_simulate import table

from hardmax import Dynamics, check_theorem, clouds, limit, verify

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
BATCH = b"[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]"
ROUND = b"1,0\n-1/2,4/5\n-1/2,-4/5\n"
HALF = "--alpha 1/2"
TURN = f"{HALF} --metric '0,-1;1,0'"


def facts(text: str) -> dict[str, str]:
    return dict(
        line.removeprefix("# ").split(": ", 1)
        for line in text.splitlines()
        if line.startswith("# ")
    )


def test_a_pipe_gets_the_facts_as_comments_and_every_cluster(hardmax):
    outcome = hardmax(f"limit - {HALF}", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "")
    found = facts(outcome.out)
    assert float(found.pop("limit error")) < 1e-14
    assert found == {
        "n": "5",
        "d": "2",
        "alpha": "1/2",
        "leaders": "0 1 2 3",
        "settled at": "0",
        "layers to 1e-6": "33",
        "stop reason": "settled at layer 0: no attended set ever changes again",
        "theorem applies": "yes",
        "arithmetic": "exact",
    }
    rows = table(outcome.out)
    assert [row["kind"] for row in rows] == [
        "vertex 0",
        "vertex 1",
        "vertex 2",
        "vertex 3",
        "face 0, 1",
    ]
    assert rows[-1] == {
        "cluster": "4",
        "z0": "1",
        "z1": "0",
        "kind": "face 0, 1",
        "size": "1",
        "tokens": "4",
    }


def test_json_is_one_document_with_the_numbers_of_the_package(hardmax):
    written = hardmax("clouds nonleader-clusters --rotate --json").out
    document = json.loads(hardmax(f"limit - {HALF} --json", stdin=written.encode()).out)
    lim = limit(clouds.rotated(clouds.nonleader_clusters()), Dynamics("1/2"))
    assert document["limit_points"] == lim.limit_points.tolist()
    assert document["labels"] == lim.clusters.labels.tolist()
    assert document["leaders"] == lim.leaders.tolist()
    assert (document["settled_at"], document["layers_to_1e-6"]) == (0, lim.layers_to("1e-6"))
    assert document["theorem_applies"] is document["certified"] is True
    assert document["theorem_reason"] == ""
    assert document["period"] is None
    assert document["stop_reason"] == lim.stop_reason
    vertex = {"point": [-0.2, 1.4], "size": 1, "kind": "vertex", "leader": 0}
    assert document["clusters"][0] == vertex
    face = {
        "point": [0.6, 0.8],
        "size": 1,
        "kind": "face",
        "vertices": [0, 3],
        "weights": ["1/2", "1/2"],
    }
    assert document["clusters"][4] == face


def test_the_reason_why_the_theorem_does_not_apply_is_printed(hardmax):
    for tokens, reason in (
        (b"1,1\n0,0\n", "token 1 is zero"),
        (b"1,1\n1,1\n", "tokens are repeated"),
    ):
        found = facts(hardmax(f"limit - {HALF}", stdin=tokens).out)
        assert found["theorem applies"] == "no"
        assert found["theorem reason"].startswith(reason)


def test_what_does_not_settle_gets_the_reason_the_bound_and_the_cycle(hardmax):
    outcome = hardmax(f"limit - {TURN} --max-layers 20", stdin=ROUND)
    found = facts(outcome.out)
    assert outcome.code == 0
    assert found["stop reason"].startswith("gave up at layer 20: not settled yet")
    assert (found["theorem applies"], found["period"]) == ("no", "1")
    assert found.keys().isdisjoint({"settled at", "layers to 1e-6"})
    assert [row["kind"] for row in table(outcome.out)] == ["elsewhere"] * 3
    document = json.loads(hardmax(f"limit - {TURN} --max-layers 20 --json", stdin=ROUND).out)
    assert document["settled_at"] is document["layers_to_1e-6"] is None
    assert (document["certified"], document["period"]) == (False, 1)
    assert document["limit_error"] < 1


def test_softmax_gathers_all_tokens_in_a_cap(hardmax):
    softmax = f"limit - {HALF} --attention softmax:2"
    document = json.loads(hardmax(softmax, "--json", stdin=SQUARE).out)
    lim = limit(clouds.square(inside=[(0.5, 0)]), Dynamics("1/2", attention="softmax:2"))
    (cluster,) = document["clusters"]
    assert (document["certified"], document["settled_at"]) == (True, lim.settled_at)
    assert {"kind": "cap"} | vars(lim.clusters.kinds[0]) == {
        name: cluster[name] for name in ("kind", "radius", "contraction", "since")
    }
    shown = hardmax(softmax, stdin=SQUARE).out
    assert [row["kind"] for row in table(shown)] == [str(lim.clusters.kinds[0])]


def test_many_clouds_get_a_line_each(hardmax):
    rows = table(hardmax(f"limit - {HALF}", stdin=BATCH).out)
    found = [(row["cloud"], row["tokens"], row["clusters"], row["settled"]) for row in rows]
    assert found == [("0", "2", "1", "0"), ("1", "3", "1", "0")]
    documents = json.loads(hardmax(f"limit - {HALF} --json", stdin=BATCH).out)["clouds"]
    assert [document["limit_points"] for document in documents] == [[[1, 1]] * 2, [[3, 4]] * 3]


# ---------------------------------------------------------------- --check


def test_check_prints_every_statement_with_its_verdict(hardmax):
    outcome = hardmax(f"limit - {HALF} --check", stdin=SQUARE)
    report = check_theorem(limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2")))
    assert outcome.code == 0
    lines = [line.split("\t") for line in outcome.out.splitlines()[-len(report) :]]
    assert lines == [[one.claim, one.verdict, one.detail] for one in report]
    many = hardmax(f"limit - {HALF} --check", stdin=BATCH).out
    n = len(report)
    assert [line.split("\t")[0] for line in many.splitlines()[-2 * n :]] == ["0"] * n + ["1"] * n
    outcome = hardmax(f"limit - {TURN} --max-layers 20 --check --json", stdin=ROUND)
    assert {check["verdict"] for check in json.loads(outcome.out)["check"]} == {"does not apply"}


def test_a_statement_that_fails_is_exit_code_1(hardmax, monkeypatch):
    from hardmax.theorem import FAILS, Statement, TheoremReport

    broken = TheoremReport((Statement("leaders exist", FAILS, "none"),))
    monkeypatch.setattr("hardmax.theorem.check_theorem", lambda _: broken)
    outcome = hardmax(f"limit - {HALF} --check", stdin=SQUARE)
    assert outcome.code == 1
    assert outcome.out.endswith("leaders exist\tfails\tnone\n")


# ---------------------------------------------------------------- files


def test_limits_in_a_csv_have_a_line_for_each_token(hardmax, here):
    outcome = hardmax(f"limit - {HALF} -o limits.csv", stdin=SQUARE)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote limits.csv\n")
    rows = list(csv.DictReader((here / "limits.csv").read_text().splitlines()))
    last = {
        "token": "4",
        "z0": "1.0",
        "z1": "0.0",
        "cluster": "4",
        "kind": "face 0, 1",
        "leader_since": "",
    }
    assert rows[-1] == last
    assert [row["leader_since"] for row in rows] == ["0", "0", "0", "0", ""]


def test_a_certificate_is_written_and_verifies(hardmax, here):
    outcome = hardmax(f"limit - {HALF} --certificate proof.json", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "wrote proof.json\n")
    assert facts(outcome.out)["settled at"] == "0"
    assert verify(json.loads((here / "proof.json").read_text()))


def test_a_picture_is_drawn(hardmax, here):
    outcome = hardmax(f"limit - {HALF} --picture limit.svg", stdin=SQUARE)
    assert (outcome.code, outcome.err) == (0, "wrote limit.svg\n")
    assert (here / "limit.svg").read_bytes().startswith(b"<?xml")


# ---------------------------------------------------------------- bad input


# ---------------------------------------------------------------- terminals


@pytest.mark.parametrize(("columns", "d"), [(60, 2), (60, 12), (100, 12)])
def test_a_narrow_terminal_is_not_overrun(here, columns, d):
    np.save("cloud.npy", clouds.gaussian(100, d))
    np.save("batch.npy", clouds.gaussian(30, 2).reshape(5, 6, 2))
    shown = on_a_terminal(f"limit cloud.npy {HALF} --check", columns=columns)
    assert "vertex" in shown
    assert "holds" in shown
    batch = on_a_terminal(f"limit batch.npy {HALF}", columns=columns)
    assert len(re.findall(r"^\s+\d .*certified", batch, re.MULTILINE)) == 5
    assert max(len(line) for line in (shown + batch).splitlines()) <= columns


def test_a_folder_of_parquet_files_is_one_cloud(hardmax, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "points").mkdir()
    tokens = np.random.default_rng(0).normal(size=(60, 2)).round(2)
    for number, part in enumerate(np.split(tokens, 3)):
        parquet.write_table(
            pa.table({"x": part[:, 0], "y": part[:, 1]}), tmp_path / "points" / f"{number}.parquet"
        )
    lim, folder = limit(tokens, Dynamics("1/2")), str(tmp_path / "points")
    document = json.loads(hardmax(f"limit {folder} {HALF} --json").out)
    assert (document["n"], document["settled_at"]) == (60, lim.settled_at)
    assert document["leaders"] == lim.leaders.tolist()
    assert [one["size"] for one in document["clusters"]] == lim.clusters.sizes.tolist()
    shown = hardmax(f"limit '{folder}/*.parquet' {HALF} -o {tmp_path / 'limits'}")
    assert [row["kind"] for row in table(shown.out)] == list(map(str, lim.clusters.kinds))
    assert (
        parquet.read_table(tmp_path / "limits")["cluster"].to_pylist()
        == lim.clusters.labels.tolist()
    )
    assert_refused(
        hardmax(f"limit {folder} {HALF} --check"),
        "takes --columns, --metric, --max-layers, --output and --json only",
    )
    monkeypatch.setattr("hardmax.cli.limit._LARGE", 0)
    assert json.loads(hardmax(f"limit {folder}/0.parquet {HALF} --json").out)["n_in_memory"] == 20
