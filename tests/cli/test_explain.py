"""`hardmax explain` and `hardmax flip` as people use them: a text, a file, a pipe; on a terminal,
as page and JSON."""

import json
import re

import pytest
from planted_files import make_model
from running import Command, Outcome, assert_refused, on_a_terminal

import hardmax as hm

TEXT = "A superb film, <b>superb</b>, with one awful plot."

pytestmark = pytest.mark.usefixtures("with_model")


def explain(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("explain", *arguments, "--model", "model", **stdin)


def flip(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("flip", *arguments, "--model", "model", **stdin)


def test_the_explanation_is_printed(hardmax):
    outcome = explain(hardmax, TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{make_model().explain(TEXT)}\n"
    assert outcome.out.startswith("positive")
    assert "superb" in outcome.out
    assert "\x1b" not in outcome.out


@pytest.mark.parametrize("command", [explain, flip])
def test_a_text_comes_as_an_argument_from_a_file_or_through_a_pipe(command, hardmax, here):
    (here / "review.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    printed = command(hardmax, TEXT).out
    assert command(hardmax, "-f", "review.txt").out == printed
    assert command(hardmax, "-", stdin=TEXT.encode()).out == printed
    assert command(hardmax, "-f", "-", stdin=TEXT.encode()).out == printed


def test_json_adds_up_to_the_logit(hardmax):
    document = json.loads(explain(hardmax, TEXT, "--json").out)
    assert document["label"] == "positive"
    assert document["logit"] == pytest.approx(
        document["bias"] + sum(entry["vote"] for entry in document["ledger"])
    )
    start, end = document["ledger"][0]["spans"][0]
    assert TEXT[start:end] == document["ledger"][0]["word"] == document["leaders"][0] == "superb"
    denied = json.loads(explain(hardmax, "not superb", "--json").out)
    expected = {
        "word": "superb",
        "span": [4, 10],
        "modifier": "not",
        "modifier_span": [0, 3],
        "factor": -0.5,
    }
    assert denied["attention"] == [expected]


def test_a_page_has_the_tokens_marked_and_nothing_unescaped(hardmax, here):
    outcome = explain(hardmax, TEXT, "--html", "page.html")
    assert outcome.err == "wrote page.html\n"
    page = (here / "page.html").read_text()
    assert "superb</mark>" in page
    assert "<b>" not in page


def test_a_page_has_the_model_only_if_it_is_asked_for_and_the_command_says_so(hardmax, here):
    explain(hardmax, TEXT, "-o", "plain.html")
    assert "<script" not in (here / "plain.html").read_text()
    outcome = explain(hardmax, TEXT, "--html", "page.html", "--try")
    assert outcome.err.startswith("page.html contains the whole model: ")
    assert outcome.err.endswith("\nwrote page.html\n")
    assert '<script type="application/json" id="hm-data">' in (here / "page.html").read_text()


def test_a_terminal_has_the_text_first_in_the_colours_of_the_classes():
    screen = on_a_terminal("explain", TEXT, "--model", "model", columns=120, colors=True)
    styles = {
        word: set(re.findall(rf"\x1b\[([0-9;]*)m{word}\x1b", screen))
        for word in ("superb", "awful")
    }
    assert styles["superb"] != styles["awful"]
    assert all({"1", "4"} <= set(style.split(";")) for style in styles["superb"] | styles["awful"])
    plain = on_a_terminal("explain", TEXT, "--model", "model", columns=80)
    assert plain.index("A superb film") < plain.index("Strongest")


def test_a_model_that_cannot_be_used_is_refused(hardmax, here):
    with (here / "model" / "vocabulary.txt").open("a") as stream:
        stream.write("zzz\t1\t1\n")
    assert_refused(explain(hardmax, TEXT), "vocabulary.txt", "hash")


# ---------------------------------------------------------------- flip


def test_the_words_to_remove_are_marked_in_the_text(hardmax):
    outcome = flip(hardmax, TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    summary, _, text = outcome.out.splitlines()
    assert summary == str(make_model().flip(TEXT))
    assert summary.startswith("positive ")
    assert text == "A [-superb-] film, <b>[-superb-]</b>, with one awful plot."
    outcome = flip(hardmax, TEXT, "--replace", "awful", "--replace", "plot")
    text = outcome.out.splitlines()[-1]
    assert text == "A [-superb-]{+awful+} film, <b>[-superb-]{+awful+}</b>, with one awful plot."
    assert "superb → awful" in outcome.out


def test_json_is_what_python_returns(hardmax):
    document = json.loads(flip(hardmax, TEXT, "--json").out)
    assert document.pop("hardmax") == hm.__version__
    assert document == json.loads(json.dumps(make_model().flip(TEXT).to_dict()))


def test_the_exit_code_tells_that_nothing_was_found(hardmax):
    outcome = flip(hardmax, "superb", "--replace", "superb")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("positive")
    assert flip(hardmax, "xyzzy").code == 1
    given_up = flip(hardmax, "superb film plot", "--replace", "superb", "--max-evaluations", "1")
    assert given_up.code == 3


def test_a_terminal_strikes_out_what_is_removed():
    line = ("flip", TEXT, "--replace", "awful", "--model", "model")
    screen = on_a_terminal(*line, columns=120, colors=True)
    styles = {
        word: re.findall(rf"\x1b\[([0-9;]*)m{word}\x1b", screen) for word in ("superb", "awful")
    }
    assert ["9" in style.split(";") for style in styles["superb"]] == [True, True]
    assert ["4" in style.split(";") for style in styles["awful"]] == [True, True]
    assert "A [-superb-]{+awful+} film" in on_a_terminal(*line, columns=120, kind="dumb")
