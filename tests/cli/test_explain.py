"""`hardmax explain` and `hardmax flip` as people use them: a text, a file, a pipe; page and
JSON."""

import json

import pytest
from planted_files import make_model
from running import assert_refused

TEXT = "A superb film, <b>superb</b>, with one awful plot."
EXPLAIN, FLIP = "explain --model model", "flip --model model"
MODEL = make_model()

pytestmark = pytest.mark.usefixtures("with_model")


@pytest.mark.parametrize("command", [EXPLAIN, FLIP])
def test_a_text_comes_as_an_argument_from_a_file_or_through_a_pipe(command, hardmax, here):
    (here / "review.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    printed = hardmax(command, TEXT)
    assert (printed.code, printed.err) == (0, "")
    assert hardmax(command, "-f", "review.txt") == printed
    assert hardmax(command, "-", stdin=TEXT.encode()) == printed


def test_what_is_printed_and_json_are_what_python_returns(hardmax):
    assert hardmax(EXPLAIN, TEXT).out == f"{MODEL.explain(TEXT)}\n"
    for text in (TEXT, "not superb"):
        told = json.loads(json.dumps(MODEL.explain(text).to_dict()))
        expected = told | {"model": "model"}
        assert json.loads(hardmax(EXPLAIN, text, "--json").out) == expected
        told = json.loads(json.dumps(MODEL.flip(text).to_dict()))
        expected = MODEL._made_by | told | {"model": "model"}
        assert json.loads(hardmax(FLIP, text, "--json").out) == expected


def test_a_page_has_the_tokens_marked_and_the_model_only_if_asked(hardmax, here):
    assert hardmax(EXPLAIN, TEXT, "--html", "plain.html").err == "wrote plain.html\n"
    page = (here / "plain.html").read_text()
    assert "superb</mark>" in page
    assert "<b>" not in page
    assert "<script" not in page
    outcome = hardmax(EXPLAIN, TEXT, "--html", "page.html", "--try")
    assert outcome.err.startswith("page.html contains the whole model: ")
    assert '<script type="application/json" id="hm-data">' in (here / "page.html").read_text()


def test_a_model_that_cannot_be_used_is_refused(hardmax, here):
    with (here / "model" / "vocabulary.txt").open("a") as stream:
        stream.write("zzz\t1\t1\n")
    assert_refused(hardmax(EXPLAIN, TEXT), "vocabulary.txt", "hash")


def test_the_words_to_remove_or_replace_are_named(hardmax):
    assert hardmax(FLIP, TEXT).out == f"{MODEL.flip(TEXT)}\n"
    outcome = hardmax(FLIP, TEXT, "--replace", "awful", "--replace", "plot")
    assert outcome.out == f"{MODEL.flip(TEXT, replacements=['awful', 'plot'])}\n"


def test_the_exit_code_tells_that_nothing_was_found(hardmax):
    for typed in (
        ["superb", "--replace", "superb"],
        ["xyzzy"],
        ["superb", "--protected", "superb"],
    ):
        outcome = hardmax(FLIP, *typed)
        assert (outcome.code, outcome.err) == (1, "")
