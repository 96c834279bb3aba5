"""`hardmax verify`: accepted (0), refused with the reason (1), one line why it cannot be read (2),
undecided (3)."""

import json
from typing import Any

import pytest
from hostile_certificates import signed as with_digest
from running import assert_refused

from hardmax import Dynamics, clouds, limit
from hardmax.results import Certificate

# In integers, for which nothing has to be compiled while tests are collected.
CERTIFICATE: Certificate = limit(
    clouds.nonleader_clusters(), Dynamics("1/2"), arithmetic="exact"
).prove()


def signed(**changes: Any) -> bytes:
    """The certificate with changes, and a digest to match."""
    changed = CERTIFICATE | changes
    return with_digest({key: value for key, value in changed.items() if key != "sha256"})


def test_a_certificate_is_accepted(hardmax, here):
    (here / "proof.json").write_bytes(CERTIFICATE.to_json().encode())
    outcome = hardmax("verify proof.json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("accepted: ")
    assert "10 tokens in 2 dimensions" in outcome.out
    assert hardmax("verify -", stdin=json.dumps(CERTIFICATE).encode()) == outcome


def test_a_certificate_of_another_cloud_or_layer_is_refused(hardmax, here):
    (here / "proof.json").write_bytes(CERTIFICATE.to_json().encode())
    rows = [",".join(map(str, row)) for row in clouds.nonleader_clusters().tolist()]
    (here / "own.csv").write_text("\n".join(rows))
    (here / "other.csv").write_text("1,1\n-1,0\n")
    for line, code in (("own.csv --alpha 1/2", 0), ("own.csv --alpha 1", 1), ("other.csv", 1)):
        assert hardmax(f"verify proof.json --of {line}").code == code


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"settled_at": 1}, "settled"), ({"leaders": CERTIFICATE["leaders"][1:]}, "leaders")],
)
def test_a_false_statement_is_refused_by_name(hardmax, changes, named):
    outcome = hardmax("verify -", stdin=signed(**changes))
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("refused: ")
    assert named in outcome.out
    unsigned = hardmax("verify - --json", stdin=json.dumps(CERTIFICATE | changes).encode())
    assert unsigned.code == 1
    assert json.loads(unsigned.out)["reason"].startswith("sha256")


def test_what_costs_more_than_the_effort_allows_is_undecided(hardmax):
    outcome = hardmax("verify - --effort 1e-6", stdin=signed())
    assert (outcome.code, outcome.err) == (3, "")
    assert outcome.out.startswith("undecided: budget: ")
    found = json.loads(hardmax("verify - --effort inf --json", stdin=signed()).out)
    assert found["accepted"] is found["decided"] is True
    refused = hardmax("verify - --effort nan", stdin=signed())
    assert_refused(refused, "`--effort` must be above 0")


UNREADABLE = {
    "truncated": (CERTIFICATE.to_json().encode()[:-100], ["not JSON", "line "]),
    "empty": (b" \n", ["not JSON", "hardmax limit --certificate"]),
    "not text": (b"\x93NUMPY\xff\xfe", ["not JSON"]),
    "a key twice": (b'{"format": 1, "format": 1}', ["a key appears twice"]),
    "of another kind": (b'{"tokens": [[1, 2]]}', ["no certificate"]),
    "of another version": (signed(version=1), ["has a version"]),
    "of a format that is long": (signed(format="\ud800" * 10**5), ["has a version"]),
    "nested too deeply": (b"[" * 10**6, ["nested too deeply"]),
    "of endless digits": (b'{"format": ' + b"1" * 10_000 + b"}", ["not JSON"]),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_certificate_gets_one_line(hardmax, here, case):
    data, words = UNREADABLE[case]
    assert_refused(hardmax("verify -", stdin=data), "standard input", *words)


def test_a_file_that_is_too_large_is_named(hardmax, here):
    with (here / "proof.json").open("wb") as stream:
        stream.truncate(2**30)  # zeros that take no room on the disk, and are not read to their end
    assert_refused(hardmax("verify proof.json"), "`proof.json`", "larger than 16 MiB", "--effort")
    assert_refused(hardmax("verify proof.json --effort 2"), "larger than 32 MiB")
