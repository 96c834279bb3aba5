"""`hardmax explain` and `hardmax flip` as people use them: a text, a file, a pipe; page and
JSON."""

import json

import pytest
from planted_files import make_model
from running import Command, Outcome, assert_refused

import hardmax as hm

TEXT = "A superb film, <b>superb</b>, with one awful plot."

pytestmark = pytest.mark.usefixtures("with_model")


def explain(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("explain --model model", *arguments, **stdin)


def flip(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("flip --model model", *arguments, **stdin)


def test_the_explanation_is_printed(hardmax):
    outcome = explain(hardmax, TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{make_model().explain(TEXT)}\n"
    assert outcome.out.startswith("positive")


@pytest.mark.parametrize("command", [explain, flip])
def test_a_text_comes_as_an_argument_from_a_file_or_through_a_pipe(command, hardmax, here):
    (here / "review.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    printed = command(hardmax, TEXT).out
    assert command(hardmax, "-f", "review.txt").out == printed
    assert command(hardmax, "-", stdin=TEXT.encode()).out == printed


def test_json_is_what_python_returns(hardmax):
    model, version = make_model(), {"hardmax": hm.__version__}
    for text in (TEXT, "not superb"):
        document = json.loads(explain(hardmax, text, "--json").out)
        told = json.loads(json.dumps(model.explain(text).to_dict()))
        assert document == version | told | {"model": "model"}
        document = json.loads(flip(hardmax, text, "--json").out)
        assert document == version | json.loads(json.dumps(model.flip(text).to_dict()))


def test_a_page_has_the_tokens_marked_and_the_model_only_if_asked(hardmax, here):
    outcome = explain(hardmax, TEXT, "--html", "plain.html")
    assert outcome.err == "wrote plain.html\n"
    page = (here / "plain.html").read_text()
    assert "superb</mark>" in page
    assert "<b>" not in page
    assert "<script" not in page
    outcome = explain(hardmax, TEXT, "--html", "page.html", "--try")
    assert outcome.err.startswith("page.html contains the whole model: ")
    assert '<script type="application/json" id="hm-data">' in (here / "page.html").read_text()


def test_a_model_that_cannot_be_used_is_refused(hardmax, here):
    with (here / "model" / "vocabulary.txt").open("a") as stream:
        stream.write("zzz\t1\t1\n")
    assert_refused(explain(hardmax, TEXT), "vocabulary.txt", "hash")


def test_the_words_to_remove_or_replace_are_named(hardmax):
    outcome = flip(hardmax, TEXT)
    assert outcome == Outcome(0, f"{make_model().flip(TEXT)}\n", "")
    outcome = flip(hardmax, TEXT, "--replace", "awful", "--replace", "plot")
    assert outcome.out == f"{make_model().flip(TEXT, replacements=['awful', 'plot'])}\n"


def test_the_exit_code_tells_that_nothing_was_found(hardmax):
    outcome = flip(hardmax, "superb", "--replace", "superb")
    assert (outcome.code, outcome.err) == (1, "")
    assert flip(hardmax, "xyzzy").code == 1
    assert flip(hardmax, "superb", "--protected", "superb").code == 1
