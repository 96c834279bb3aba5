"""`hardmax verify`: accepted (0), refused with the reason (1), one line why it cannot be read (2), undecided (3)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hostile_certificates import HOSTILE
from hostile_certificates import signed as with_digest
from running import Command, assert_refused

from hardmax import Certificate, Dynamics, clouds, limit

# In integers, for which nothing has to be compiled while tests are collected.
CERTIFICATE: Certificate = limit(clouds.nonleader_clusters(), Dynamics("1/2"), arithmetic="exact").certificate


def signed(**changes: Any) -> bytes:
    """The certificate with changes, and a digest to match."""
    return with_digest({key: value for key, value in (CERTIFICATE | changes).items() if key != "sha256"})


def test_a_certificate_in_a_file_is_accepted(hardmax: Command, here: Path):
    (here / "proof.json").write_bytes(CERTIFICATE.to_json().encode())
    outcome = hardmax("verify", "proof.json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("accepted: ")
    assert outcome.out.count("\n") == 1


def test_a_certificate_on_standard_input_is_accepted(hardmax: Command):
    outcome = hardmax("verify", "-", stdin=json.dumps(CERTIFICATE).encode())
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"settled_at": 1}, "settled"),
        ({"leaders": CERTIFICATE["leaders"][1:]}, "leaders"),
        ({"limits": [{"vertex": 1}, *CERTIFICATE["limits"][1:]]}, "limits"),
        ({"attended": [{"from": 0, "sets": [[0]] * 10}]}, "layer 0: point 1 attends to [1], not to [0]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_false_statement_is_refused_by_name(hardmax: Command, changes: dict[str, Any], named: str):
    outcome = hardmax("verify", "-", stdin=signed(**changes))
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("refused: ")
    assert named in outcome.out


def test_a_change_without_a_new_digest_is_refused(hardmax: Command):
    outcome = hardmax("verify", "-", stdin=json.dumps(CERTIFICATE | {"alpha": "3"}).encode())
    assert outcome.code == 1
    assert outcome.out.startswith("refused: sha256")


def test_json_says_the_same(hardmax: Command):
    good = hardmax("verify", "-", "--json", stdin=signed())
    bad = hardmax("verify", "-", "--json", stdin=signed(settled_at=3))
    assert (good.code, json.loads(good.out)["accepted"]) == (0, True)
    assert (bad.code, json.loads(bad.out)["accepted"]) == (1, False)


def test_what_costs_more_than_the_effort_allows_is_undecided(hardmax: Command):
    outcome = hardmax("verify", "-", "--effort", "1e-6", stdin=signed())
    assert (outcome.code, outcome.err) == (3, "")
    assert outcome.out.startswith("undecided: budget: ")
    assert "--effort" in outcome.out
    told = json.loads(hardmax("verify", "-", "--effort", "1e-6", "--json", stdin=signed()).out)
    assert (told["accepted"], told["decided"]) == (False, False)
    for effort in ("1", "2.5", "inf"):
        told = json.loads(hardmax("verify", "-", "--effort", effort, "--json", stdin=signed()).out)
        assert (told["accepted"], told["decided"]) == (True, True)


@pytest.mark.parametrize("effort", ["0", "-1", "nan"])
def test_an_effort_is_above_zero(hardmax: Command, effort: str):
    outcome = hardmax("verify", "-", f"--effort={effort}", stdin=signed())
    assert_refused(outcome, "`--effort` must be above 0")


@pytest.mark.parametrize("name", [name for name in HOSTILE if "repeated" in name])
def test_a_key_that_appears_twice_is_named(hardmax: Command, name: str):
    _, make = HOSTILE[name]
    assert_refused(hardmax("verify", "-", stdin=make()), "standard input", "a key appears twice")


@pytest.mark.parametrize("name", ["long points", "indices of one hash", "a key with a lone surrogate"])
def test_hostile_files_get_one_line(hardmax: Command, name: str):
    verdict, make = HOSTILE[name]
    outcome = hardmax("verify", "-", stdin=make())
    assert (outcome.code, outcome.err) == ({"refused": 1, "undecided": 3}[verdict], "")
    assert outcome.out.startswith(f"{verdict}: ")
    assert outcome.out.count("\n") == 1


UNREADABLE = {
    "truncated": (CERTIFICATE.to_json().encode()[:-100], ["not JSON", "line "]),
    "truncated in a text": (b'{"format": "hardmax-li', ["not JSON", "line 1"]),
    "not JSON": (b"x,y\n1,2\n", ["not JSON", "line 1 column 1"]),
    "empty": (b" \n", ["not JSON", "hardmax limit --certificate"]),
    "not text": (b"\x93NUMPY\xff\xfe", ["not JSON"]),
    "a list": (b"[1, 2]", ["no certificate"]),
    "of another kind": (b'{"tokens": [[1, 2]]}', ["no certificate"]),
    "of another version": (signed(version=2), ["version 2", "hardmax-limit-certificate"]),
    "of another format": (signed(format="receipt"), ["'receipt'"]),
    "of a format that is long": (signed(format="\ud800" * 10**5), ["'\\ud800\\ud800"]),
    "nested too deeply": (b"[" * 10**6, ["nested too deeply"]),
    "of endless digits": (b'{"format": ' + b"1" * 10_000 + b"}", ["not JSON"]),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_certificate_gets_one_line(hardmax: Command, here: Path, case: str):
    data, naming = UNREADABLE[case]
    (here / "proof.json").write_bytes(data)
    assert_refused(hardmax("verify", "proof.json"), "`proof.json`", *naming)
    assert_refused(hardmax("verify", "-", stdin=data), "standard input", *naming)


def test_a_file_of_a_gigabyte_is_not_read_to_its_end(hardmax: Command, here: Path):
    with (here / "proof.json").open("wb") as stream:
        stream.truncate(2**30)  # zeros that take no room on the disk
    assert_refused(hardmax("verify", "proof.json"), "`proof.json`", "larger than 4 MiB", "--effort")
    assert_refused(hardmax("verify", "proof.json", "--effort", "2"), "larger than 8 MiB")


def test_a_missing_file_is_named(hardmax: Command, here: Path):
    assert_refused(hardmax("verify", "nowhere.json"), "`nowhere.json`", "does not exist")
    assert_refused(hardmax("verify", here), str(here), "folder")
