"""`hardmax demo`: the difference that arithmetic makes, the limit, its proof, and a forged one."""

import json
from pathlib import Path

import pytest
from command import Command, Outcome

from hardmax import verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


@pytest.fixture(scope="module")
def shown_once() -> list[Outcome]:
    return []


@pytest.fixture
def outcome(shown_once: list[Outcome], hardmax: Command, folder: Path) -> Outcome:
    """The demo, run for the first test that asks."""
    shown_once[:] = shown_once or [hardmax("demo", "--output", folder)]
    return shown_once[0]


def test_the_demo_tells_the_difference_and_draws_it(outcome: Outcome, folder: Path):
    assert outcome.code == 0
    assert "floats, ==: token 4 ends at a vertex, 1.00 from where it belongs." in outcome.out
    assert "certified: token 4 ends on the edge, where it belongs" in outcome.out
    assert (folder / "arithmetics.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_says_where_every_token_ends(outcome: Outcome):
    assert "4\t0.6\t0.8\tface 0, 3\t1\t0.1\t4\n" in outcome.out
    assert "0\t-0.2\t1.4\tvertex 0\t2\t0.2\t0 9\n" in outcome.out


def test_the_demo_writes_a_proof_that_is_accepted(outcome: Outcome, folder: Path):
    assert verify(json.loads((folder / "certificate.json").read_text()))
    assert "without the engines: accepted (" in outcome.out


def test_the_demo_has_a_forged_proof_refused(outcome: Outcome):
    assert "token 4 sent to a vertex, as floats did: refused (limits" in outcome.out


def test_the_demo_says_what_it_wrote(outcome: Outcome, folder: Path):
    names = ["arithmetics.png", "certificate.json", "limit.png", "review-good.html", "review-bad.html"]
    assert outcome.err.splitlines() == [f"wrote {folder / name}" for name in names]
    assert {path.name for path in folder.iterdir()} == set(names)
    assert (folder / "limit.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_explains_two_reviews(outcome: Outcome, folder: Path):
    for side, page in (("positive", "review-good.html"), ("negative", "review-bad.html")):
        assert f"\n{side} " in outcome.out
        assert '<mark class="c' in (folder / page).read_text()


def test_the_demo_reads_the_first_two_texts_of_a_file(hardmax: Command, tmp_path: Path):
    rows = ["text,label", "An awful bore.,neg", "A wonderful film!,pos", "Never read.,neg"]
    (tmp_path / "reviews.csv").write_text("\n".join(rows))
    outcome = hardmax("demo", "--output", tmp_path / "demo", "--reviews", tmp_path / "reviews.csv")
    assert outcome.code == 0
    assert "An awful bore." in outcome.out
    assert "Never read." not in outcome.out
    assert (tmp_path / "demo" / "review-2.html").exists()


def test_a_file_that_is_not_there_is_told_before_the_demo(hardmax: Command, tmp_path: Path):
    outcome = hardmax("demo", "--output", tmp_path / "demo", "--reviews", tmp_path / "nowhere.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "nowhere.csv" in outcome.err


def test_a_file_is_no_folder_for_the_demo(hardmax: Command, tmp_path: Path):
    (tmp_path / "taken").write_text("mine")
    outcome = hardmax("demo", "--output", tmp_path / "taken")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: `--output` ")
    assert outcome.err.count("\n") == 1
    assert (tmp_path / "taken").read_text() == "mine"
