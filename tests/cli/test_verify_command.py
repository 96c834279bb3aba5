"""`hardmax verify`: accepted (0), refused with the reason (1), or one line why it cannot be read (2)."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import Command, Outcome

from hardmax import Dynamics, clouds, limit
from hardmax.cli.limit_files import certificate_bytes
from hardmax.limits.certifying import digest

CERTIFICATE: dict[str, Any] = limit(clouds.nonleader_clusters(), Dynamics("1/2")).certificate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_unreadable(outcome: Outcome, *, naming: list[str]) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    for words in naming:
        assert words in outcome.err


def signed(**changes: Any) -> bytes:
    """The certificate with changes, and a digest to match."""
    changed = {key: value for key, value in (CERTIFICATE | changes).items() if key != "sha256"}
    return json.dumps(changed | {"sha256": digest(changed)}).encode()


def test_a_certificate_in_a_file_is_accepted(hardmax: Command, folder: Path):
    (folder / "proof.json").write_bytes(certificate_bytes(CERTIFICATE))
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


UNREADABLE = {
    "truncated": (certificate_bytes(CERTIFICATE)[:-100], ["breaks off", "line "]),
    "truncated in a text": (b'{"format": "hardmax-li', ["breaks off", "line 1"]),
    "not JSON": (b"x,y\n1,2\n", ["not JSON", "line 1, column 1"]),
    "empty": (b" \n", ["empty"]),
    "not text": (b"\x93NUMPY\xff\xfe", ["not JSON"]),
    "a list": (b"[1, 2]", ["no certificate"]),
    "of another kind": (b'{"tokens": [[1, 2]]}', ["no certificate"]),
    "of another version": (signed(version=2), ["version 2", "hardmax-limit-certificate"]),
    "of another format": (signed(format="receipt"), ["'receipt'"]),
    "nested too deeply": (b"[" * 10**6, ["nested too deeply"]),
    "of endless digits": (b'{"format": ' + b"1" * 10_000 + b"}", ["not JSON"]),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_certificate_gets_one_line(hardmax: Command, folder: Path, case: str):
    data, naming = UNREADABLE[case]
    (folder / "proof.json").write_bytes(data)
    assert_unreadable(hardmax("verify", "proof.json"), naming=["`proof.json`", *naming])
    assert_unreadable(hardmax("verify", "-", stdin=data), naming=["standard input", *naming])


def test_a_file_of_a_gigabyte_is_not_read_to_its_end(hardmax: Command, folder: Path):
    with (folder / "proof.json").open("wb") as stream:
        stream.truncate(2**30)  # zeros that take no room on the disk
    assert_unreadable(hardmax("verify", "proof.json"), naming=["`proof.json`", "larger than 256 MiB"])


def test_a_missing_file_is_named(hardmax: Command, folder: Path):
    assert_unreadable(hardmax("verify", "nowhere.json"), naming=["`nowhere.json`", "does not exist"])
    assert_unreadable(hardmax("verify", folder), naming=[str(folder), "folder"])


def test_an_interruption_ends_quietly_with_130(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hardmax.certificate.verify", interrupted)
    outcome = hardmax("verify", "-", stdin=signed())
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")
