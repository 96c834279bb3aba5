"""`hardmax explain` as people use it: a text, a file, a pipe; for the eye, as a page, as a document."""

import json
import re
from pathlib import Path

import pytest
from command import Command, Outcome
from terminal import on_a_terminal_here
from test_evaluate import make_model

from hardmax.text.view import sentence

TEXT = "A superb film, <b>superb</b>, with one awful plot."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_model().save(tmp_path / "model")
    return tmp_path


def explain(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("explain", *arguments, "--model", "model", **stdin)


def is_refused(outcome: Outcome, *words: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1, outcome.err
    for word in words:
        assert word in outcome.err


def test_the_leaders_and_how_they_add_up_are_printed(hardmax: Command, here: Path):
    outcome = explain(hardmax, TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{make_model().explain(TEXT)}\n"
    assert outcome.out.startswith("positive")
    assert "superb" in outcome.out


def test_a_text_comes_as_an_argument_from_a_file_or_through_a_pipe(hardmax: Command, here: Path):
    (here / "review.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    told = explain(hardmax, TEXT).out
    assert explain(hardmax, "-f", "review.txt").out == told
    assert explain(hardmax, "-", stdin=TEXT.encode()).out == told
    assert explain(hardmax, "-f", "-", stdin=TEXT.encode()).out == told


def test_json_adds_up_to_the_logit(hardmax: Command, here: Path):
    document = json.loads(explain(hardmax, TEXT, "--json").out)
    assert document["label"] == "positive"
    assert document["logit"] == pytest.approx(document["bias"] + sum(one["contribution"] for one in document["ledger"]))
    start, end = document["leaders"][0]["spans"][0]
    assert TEXT[start:end] == document["leaders"][0]["word"] == "superb"


def test_a_page_has_the_leaders_marked_and_nothing_unescaped(hardmax: Command, here: Path):
    outcome = explain(hardmax, TEXT, "--html", "page.html")
    assert outcome.err == "wrote page.html\n"
    page = (here / "page.html").read_text()
    assert "superb</mark>" in page
    assert "<b>" not in page


def test_on_a_terminal_the_text_comes_first(here: Path):
    screen = on_a_terminal_here("explain", TEXT, "--model", "model", columns=80)
    assert screen.index("A superb film") < screen.index("active tokens")


def test_a_terminal_has_the_words_in_the_colours_of_their_classes_and_a_sentence(here: Path):
    screen = on_a_terminal_here("explain", TEXT, "--model", "model", columns=120, colors=True)
    looks = {word: set(re.findall(rf"\x1b\[([0-9;]*)m{word}\x1b", screen)) for word in ("superb", "awful", "film")}
    assert looks["superb"] != looks["awful"]
    assert all("1" in look.split(";") and "4" in look.split(";") for look in looks["superb"] | looks["awful"])
    told = "".join(bit.text for bit in sentence(make_model().explain(TEXT)))
    assert told in re.sub(r"\x1b\[[0-9;]*m", "", screen)


def test_no_colour_reaches_a_pipe(hardmax: Command, here: Path):
    assert "\x1b" not in explain(hardmax, TEXT).out


def test_the_layers_are_written_as_a_film(hardmax: Command, here: Path):
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    outcome = explain(hardmax, TEXT, "--gif", "film.gif")
    assert (outcome.code, outcome.err) == (0, "wrote film.gif\n")
    assert (here / "film.gif").read_bytes().startswith(b"GIF8")


def test_nothing_is_known_of_an_empty_text(hardmax: Command, here: Path):
    for text in ("", "xyzzy"):
        outcome = explain(hardmax, text)
        assert outcome.code == 0
        assert "knows no word" in outcome.out


def test_a_model_that_does_not_ship_is_refused(hardmax: Command, here: Path):
    is_refused(hardmax("explain", TEXT, "--model", "imdb-200d"), "`imdb-200d`", "shipped are")


def test_a_model_with_a_wrong_hash_is_refused(hardmax: Command, here: Path):
    with (here / "model" / "vocabulary.txt").open("a") as stream:
        stream.write("zzz\t1\t1\n")
    is_refused(explain(hardmax, TEXT), "vocabulary.txt", "hash")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("--file", "neither")),
        (("text", "-f", "review.txt"), ("--file", "both")),
        (("-f", "nowhere.txt"), ("`nowhere.txt` does not exist", "a text")),
        (("-f", "."), ("`.` is a folder",)),
        (("text", "--html", "page.png"), ("--html", ".html")),
        (("text", "--gif", "film.png"), ("--gif", ".gif")),
        (("text", "--gif", "nowhere/film.gif"), ("--gif", "folder does not exist")),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(arguments: tuple, words: tuple, hardmax: Command, here: Path):
    is_refused(explain(hardmax, *arguments), *words)


def test_bytes_that_are_no_text_are_refused(hardmax: Command, here: Path):
    (here / "picture.png").write_bytes(b"\x89PNG\xff")
    is_refused(explain(hardmax, "-f", "picture.png"), "picture.png", "UTF-8", "byte 0")
    is_refused(explain(hardmax, "-", stdin=b"good \xff"), "standard input", "byte 5")


def test_a_text_of_ten_megabytes_passes(hardmax: Command, here: Path):
    (here / "long.txt").write_bytes(b"superb film " * 850_000)
    assert explain(hardmax, "-f", "long.txt").out.startswith("positive")
    screen = on_a_terminal_here("explain", "-f", "long.txt", "--model", "model", "--html", "page.html", columns=80)
    assert "characters left out" in screen
    assert len(screen) < 40_000
    assert (here / "page.html").stat().st_size < 40_000
