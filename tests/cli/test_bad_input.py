"""Whatever is wrong with the input: one line that names it, exit code 2, nothing on stdout, never a traceback."""

from pathlib import Path

import numpy as np
import pytest
from command import Command, Outcome

SQUARE = "1,1\n1,-1\n-1,-1\n-1,1\n"
THIRTY = ("--alpha", "1/2", "--layers", "30")

# What is in the file points.csv, the options, and what the line must say.
BAD_TOKENS = {
    "nan": ("1,2\nnan,3\n", ["line 2", "nan", "finite"]),
    "infinity": ("x,y\n1,2\n3,4\n5,-inf\n", ["line 4", "column 2", "-inf", "finite"]),
    "a row too long": ("1,2\n3,4\n\n5,6,7\n", ["line 4", "3 columns", "expected 2"]),
    "a row too short": ("1,2\n3\n", ["line 2", "1 column:", "expected 2"]),
    "text": ("1,2\n3,four\n", ["line 2", "column 2", "'four'", "number"]),
    "a missing value": ("1,2\n3,\n", ["line 2", "column 2", "not ''"]),
    "a decimal comma": ("1,5;2,5\n", ["line 1", "'1,5'", "such as 0.5"]),
    "row numbers": (",x,y\n0,1,2\n", ["line 1", "column 1", "not ''"]),
    "no tokens": ("x,y\n", ["points.csv", "no tokens"]),
    "an empty file": ("", ["points.csv", "no tokens"]),
    "more digits than memory": ("1e999999999,1\n", ["line 1", "1e999999999", "1.8e308"]),
}

BAD_OPTIONS = {
    "no such search": ([*THIRTY, "--search", "tree"], ["search", "'shells'", "'tree'"]),
    "no threads": ([*THIRTY, "--threads", "0"], ["threads", "from 1 to", "0"]),
    "threads of a graphics card": ([*THIRTY, "--gpu", "--threads", "1"], ["--gpu", "--threads", "neither"]),
    "alpha zero": (["--alpha", "0", "--layers", "3"], ["--alpha", "positive", "0"]),
    "alpha negative": (["--alpha", "-1/2", "--layers", "3"], ["--alpha", "positive", "-1/2"]),
    "alpha nonsense": (["--alpha", "half", "--layers", "3"], ["--alpha", "half"]),
    "alpha infinite": (["--alpha", "inf", "--layers", "3"], ["--alpha", "inf"]),
    "alpha missing": (["--layers", "3"], ["--alpha"]),
    "metric not square": ([*THIRTY, "--metric", "2,1"], ["--metric", "square", "1 by 2"]),
    "metric with ragged rows": ([*THIRTY, "--metric", "2,1;1"], ["--metric", "rows of different lengths"]),
    "metric of another dimension": ([*THIRTY, "--metric", "1,0,0;0,1,0;0,0,1"], ["--metric", "3 by 3", "2"]),
    "metric with a nan": ([*THIRTY, "--metric", "1,0;0,nan"], ["--metric", "row 1, column 1", "finite"]),
    "metric of words": ([*THIRTY, "--metric", "identity"], ["--metric", "identity", "finite number"]),
    "layers negative": (["--alpha", "1", "--layers", "-3"], ["--layers", "-3"]),
    "layers a word": (["--alpha", "1", "--layers", "many"], ["--layers", "int"]),
    "layers and until settled": ([*THIRTY, "--until-settled"], ["--layers", "--until-settled", "both"]),
    "neither layers nor until settled": (["--alpha", "1"], ["--layers", "--until-settled", "neither"]),
    "ten thousand gigabytes": (
        ["--alpha", "1", "--layers", "156250000000"],
        ["10,000.0 GB", "--record last", "--record "],
    ),
    "record nonsense": ([*THIRTY, "--record", "some"], ["--record", "some", "last"]),
    "record zero": ([*THIRTY, "--record", "0"], ["--record", "0"]),
    "arithmetic unknown": ([*THIRTY, "--arithmetic", "fuzzy"], ["--arithmetic", "fuzzy", "certified"]),
    "output of unknown suffix": ([*THIRTY, "-o", "out.xlsx"], ["--output", "out.xlsx", ".npz", ".csv"]),
    "output in no folder": ([*THIRTY, "-o", "nowhere/out.npz"], ["--output", "nowhere/out.npz", "folder"]),
    "option unknown": ([*THIRTY, "--layer", "3"], ["--layer", "--help"]),
}


def assert_refused(outcome: Outcome, *, naming: list[str]) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.endswith("\n")
    assert len(outcome.err.splitlines()) == 1
    assert "Traceback" not in outcome.err
    for words in naming:
        assert words in outcome.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_tokens_that_are_no_cloud_are_refused_by_line(hardmax: Command, folder: Path, case: str):
    text, naming = BAD_TOKENS[case]
    (folder / "points.csv").write_text(text)
    assert_refused(hardmax("simulate", "points.csv", *THIRTY), naming=naming)


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_the_same_holds_for_standard_input(hardmax: Command, case: str):
    text, naming = BAD_TOKENS[case]
    renamed = [words.replace("points.csv", "standard input") for words in naming]
    assert_refused(hardmax("simulate", "-", *THIRTY, stdin=text.encode()), naming=renamed)


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_make_no_sense_are_refused_by_name(hardmax: Command, folder: Path, case: str):
    options, naming = BAD_OPTIONS[case]
    (folder / "points.csv").write_text(SQUARE)
    assert_refused(hardmax("simulate", "points.csv", *options), naming=naming)


def test_a_missing_file_is_named(hardmax: Command):
    assert_refused(hardmax("simulate", "nowhere.csv", *THIRTY), naming=["nowhere.csv", "does not exist"])


def test_a_folder_is_no_file(hardmax: Command, folder: Path):
    assert_refused(hardmax("simulate", folder, *THIRTY), naming=[str(folder), "folder"])


def test_a_file_of_unknown_suffix_is_told_what_is_read(hardmax: Command, folder: Path):
    (folder / "points.xlsx").write_bytes(b"PK")
    assert_refused(hardmax("simulate", "points.xlsx", *THIRTY), naming=["points.xlsx", ".csv", ".json", ".npz"])


def test_a_bad_cloud_of_a_batch_is_named(hardmax: Command):
    batch = b"[[[1, 2]], [[3, 4], [5, NaN]]]"
    naming = ["standard input (cloud 1)", "token 1", "[5.0, nan]", "finite"]
    assert_refused(hardmax("simulate", "-", *THIRTY, stdin=batch), naming=naming)


def test_clouds_of_different_dimensions_make_no_batch(hardmax: Command):
    batch = b"[[[1, 2]], [[3, 4, 5]]]"
    assert_refused(hardmax("simulate", "-", *THIRTY, stdin=batch), naming=["cloud 0", "cloud 1", "2", "3"])


def test_offsets_that_cut_no_clouds_are_named(hardmax: Command, folder: Path):
    np.savez(folder / "reviews.npz", tokens=np.eye(3), offsets=np.array([0, 2, 5]))
    assert_refused(hardmax("simulate", "reviews.npz", *THIRTY), naming=["offsets", "3"])


def test_an_unknown_cloud_is_told_which_there_are(hardmax: Command):
    assert_refused(hardmax("clouds", "circle"), naming=["circle", "square", "gaussian"])


def test_a_cloud_of_minus_three_tokens_is_refused(hardmax: Command):
    assert_refused(hardmax("clouds", "gaussian", "--n", "-3", "--d", "2"), naming=["--n", "-3"])


def test_a_cloud_without_its_size_is_refused(hardmax: Command):
    assert_refused(hardmax("clouds", "gaussian"), naming=["gaussian", "n"])


def test_fractions_do_not_fit_into_npy(hardmax: Command, folder: Path):
    naming = ["--output", "fifths.npy", ".csv"]
    assert_refused(hardmax("clouds", "square", "--turn", "-o", "fifths.npy"), naming=naming)
    assert list(folder.iterdir()) == []


def test_an_unknown_command_is_refused(hardmax: Command):
    assert_refused(hardmax("simulat"), naming=["simulat", "Try `hardmax --help`"])


def test_an_option_is_told_by_its_name_and_a_file_by_its_own(
    hardmax: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert_refused(hardmax("clouds", "gaussian", "--n", "3", "--d", "2", "--seed", "-1"), naming=["`--seed` must be"])
    assert_refused(hardmax("simulate", "seed", *THIRTY), naming=["`seed` does not exist"])


OTHERS = {
    "a cloud that takes none of it": (("clouds", "square", "--n", "5"), ["`--inside`", "`--n`"]),
    "a cloud that needs more": (("clouds", "gaussian", "--d", "2"), ["`--n` is missing"]),
    "no such cloud": (("clouds", "foo"), ["emerging-leader", "'foo'"]),
    "no such class": (("flip", "Awful.", "--to", "foo"), ["`--to` must be one of 'negative', 'positive', not 'foo'"]),
}


@pytest.mark.parametrize(("typed", "naming"), OTHERS.values(), ids=OTHERS)
def test_other_commands_name_what_they_take_as_it_is_typed(hardmax: Command, typed: tuple[str, ...], naming: list[str]):
    assert_refused(hardmax(*typed), naming=naming)


def test_where_there_is_no_gpu_the_option_is_named(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    refused = hardmax("simulate", "-", *THIRTY, "--gpu", stdin=SQUARE.encode())
    assert_refused(refused, naming=["`--gpu` cannot be used", "Leave `--gpu` out"])
