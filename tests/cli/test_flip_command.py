"""`hardmax flip` as people use it: what changes the answer, shown in the text; and that nothing does."""

import json
import re
from pathlib import Path

import pytest
from command import Command, Outcome
from terminal import on_a_terminal, on_a_terminal_here
from test_evaluate import make_model

from hardmax.cli.reports.flip import bits_of

TEXT = "A superb film, <b>superb</b>, with one awful plot."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_model().save(tmp_path / "model")
    return tmp_path


def flip(hardmax: Command, *arguments: object, **stdin: bytes) -> Outcome:
    return hardmax("flip", *arguments, "--model", "model", **stdin)


def test_the_words_to_take_out_are_marked_in_the_text(hardmax: Command, here: Path):
    outcome = flip(hardmax, TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    answers, words, tried, _, text = outcome.out.splitlines()
    assert re.fullmatch(r"positive  [0-9.]+ %  →  negative  [0-9.]+ %", answers)
    assert words == "removing 1 word: superb"
    assert tried.startswith("proved smallest (")
    assert text == "A [-superb-] film, <b>[-superb-]</b>, with one awful plot."


def test_what_comes_instead_stands_beside_what_goes(hardmax: Command, here: Path):
    outcome = flip(hardmax, TEXT, "--replace", "awful", "--replace", "plot")
    assert (
        outcome.out.splitlines()[-1] == "A [-superb-]{+awful+} film, <b>[-superb-]{+awful+}</b>, with one awful plot."
    )
    assert "replacing 1 word: superb → awful" in outcome.out


def test_a_text_comes_as_an_argument_from_a_file_or_through_a_pipe(hardmax: Command, here: Path):
    (here / "review.txt").write_text(TEXT)
    told = flip(hardmax, TEXT).out
    assert flip(hardmax, "-f", "review.txt").out == told == flip(hardmax, "-", stdin=TEXT.encode()).out


def test_json_is_what_python_says(hardmax: Command, here: Path):
    document = json.loads(flip(hardmax, TEXT, "--json").out)
    model = make_model()
    assert document == json.loads(json.dumps(model.flip(TEXT).to_dict()))
    assert document["probability_before"] == model.predict_proba([TEXT]).max()
    assert document["probability"] == model.predict_proba([document["text"]]).max()


def test_where_nothing_changes_the_answer_the_exit_code_says_so(hardmax: Command, here: Path):
    outcome = flip(hardmax, "superb", "--replace", "superb")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.splitlines()[0].startswith("positive")
    assert "no set of words changes it" in outcome.out
    assert json.loads(flip(hardmax, "superb", "--replace", "superb", "--json").out)["found"] is False


def test_where_not_all_could_be_tried_the_exit_code_says_that(hardmax: Command, here: Path):
    outcome = flip(hardmax, "superb film plot", "--replace", "superb", "--max-evaluations", "1")
    assert outcome.code == 3
    assert "nothing tried changes it" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "neither came"),
        (["text", "-f", "review.txt"], "both came"),
        (["text", "--to", "sideways"], "`--to` must be one of"),
        (["superb", "--to", "positive"], "`--to` is 'positive', which is the label now"),
        (["text", "--max-evaluations", "0"], "`--max-evaluations`"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(hardmax: Command, here: Path, arguments, words):
    outcome = flip(hardmax, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_terminal_strikes_out_what_goes(here: Path):
    screen = on_a_terminal_here("flip", TEXT, "--replace", "awful", "--model", "model", columns=120, colors=True)
    looks = {word: re.findall(rf"\x1b\[([0-9;]*)m{word}\x1b", screen) for word in ("superb", "awful")}
    assert ["9" in look.split(";") for look in looks["superb"]] == [True, True]
    assert ["4" in look.split(";") for look in looks["awful"]] == [True, True]
    assert "[-" not in screen


def test_a_terminal_that_can_strike_nothing_out_shows_signs(here: Path):
    screen = on_a_terminal("flip", TEXT, "--model", "model", columns=120, kind="dumb")
    assert "A [-superb-] film" in screen


def test_of_a_very_long_text_what_is_around_the_changes_is_shown():
    text = f"{'qzx ' * 10_000}superb, superb, awful {'superb ' * 10_000}"
    found = make_model().flip(text)
    bits = list(bits_of(text, found))
    assert sum(len(bit.text) for bit in bits) < 4_000
    assert [change.word for change in found.changes] == ["superb"]
    assert {bit.text for bit in bits if bit.kind == "goes"} == {"superb"}
    counted = sum(int(bit.text.split()[1].replace(",", "")) for bit in bits if bit.kind == "left out")
    assert counted + sum(len(bit.text) for bit in bits if bit.kind in ("stays", "goes")) == len(text)
