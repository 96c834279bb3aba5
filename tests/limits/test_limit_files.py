"""Limits, their tables and their proofs as files."""

import csv
import json

import numpy as np
import pytest

import hardmax as hm

HALF = hm.Dynamics("1/2", [[2, 1], [1, 1]])
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]


def test_a_limit_that_was_saved_is_known_again(tmp_path):
    lim = hm.limit(SQUARE, HALF)
    lim.save(tmp_path / "limit.npz")
    again = hm.Limit.load(tmp_path / "limit.npz")
    assert again.to_dict() == lim.to_dict()
    assert again.certificate == lim.certificate
    assert again.layers_to("1e-9") == lim.layers_to("1e-9")


def test_limits_of_a_batch_that_were_saved_are_known_again(tmp_path):
    limits = hm.limit(np.random.default_rng(0).standard_normal((4, 6, 2)), HALF)
    limits.save(tmp_path / "limits.npz")
    again = hm.Limits.load(tmp_path / "limits.npz")
    assert np.array_equal(again.points, limits.points)
    assert [lim.to_dict() for lim in again] == [lim.to_dict() for lim in limits]


def test_a_limit_is_a_table():
    lim = hm.limit(SQUARE, HALF)
    table = lim.to_pandas()
    assert list(table.columns) == ["token", "z0", "z1", "cluster", "kind", "leader_since"]
    assert np.array_equal(table[["z0", "z1"]].to_numpy(), lim.points)
    leaders = table[table.leader_since.notna()]
    assert leaders.token.tolist() == lim.leaders.tolist()
    assert leaders.leader_since.tolist() == lim.leader_layers.tolist()
    many = hm.limit([SQUARE, SQUARE[:2]], HALF).to_pandas()
    assert many.cloud.tolist() == [0] * 5 + [1] * 2


def test_a_csv_has_the_rows_of_the_table(tmp_path):
    lim = hm.limit(SQUARE, HALF)
    lim.save(tmp_path / "limit.csv")
    rows = list(csv.DictReader((tmp_path / "limit.csv").read_text().splitlines()))
    assert [[float(row["z0"]), float(row["z1"])] for row in rows] == lim.points.tolist()
    assert [row["kind"] for row in rows] == lim.to_pandas().kind.tolist()


def test_a_certificate_is_written_by_itself(tmp_path):
    proof = hm.limit(SQUARE, HALF).certificate
    assert repr(proof).startswith("Certificate(5 points, settled at layer ")
    proof.save(tmp_path / "proof.json")
    read = json.loads((tmp_path / "proof.json").read_text())
    assert read == proof
    assert hm.verify(read)
    for name in ("proof.npz", "proof"):
        with pytest.raises(hm.InputError, match=r"expected .json"):
            proof.save(tmp_path / name)
