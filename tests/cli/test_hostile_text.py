"""Whatever a text, a label, a file or a column is called: no terminal and no page obeys it."""

import json
import logging
import re
import unicodedata
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command, Outcome
from terminal import on_a_terminal_here
from test_evaluate import make_model

from hardmax._format import escape_html, escape_json, sanitize_line, sanitize_text
from hardmax._validation import InputError
from hardmax.cli import output
from hardmax.cli.starting import hush_libraries
from hardmax.text.text_model import TextModel

# A title for the window, a cleared screen, colour by a single C1 byte, text that runs backwards, an unseen tag.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\U000e0041[bold red]"
MARKUP = "<img src=x onerror=alert(1)>"
LAYOUT = "\n\t"


def harmful(text: str) -> list[str]:
    """The characters that a terminal would obey, or show as something else."""
    directed = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [
        mark
        for mark in text
        if mark not in LAYOUT
        and (
            unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(mark) in directed
            or mark in "\u200e\u200f\u061c\u200b\ufeff\U000e0041"
        )
    ]


def is_harmless(outcome: Outcome) -> None:
    assert harmful(outcome.out + outcome.err) == []


def is_refused(outcome: Outcome) -> None:
    is_harmless(outcome)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert "\\x1b]0;owned\\x07" in outcome.err  # it is told what came


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    model = make_model()
    replace(model, classes=(f"bad{EVIL}{MARKUP}", f"good\n{EVIL}{MARKUP}")).save(tmp_path / "model")
    return tmp_path


# ---------------------------------------------------------------- the functions


def test_every_control_and_every_mark_of_direction_is_escaped():
    planes = (range(0x3000), range(0xD800, 0x10000), range(0xE0000, 0xE1000))
    everything = " ".join(chr(code) for plane in planes for code in plane)
    assert len(harmful(everything)) > 2000
    for made_harmless in (sanitize_line, sanitize_text, escape_html):
        assert harmful(made_harmless(everything)) == []
    assert "\n" not in sanitize_line(everything)
    assert harmful(escape_json(everything)) == []
    assert json.loads(escape_json(everything)) == everything


def test_letters_of_all_scripts_stay_as_they_are():
    spelt = "Привет, 世界! שלום, नमस्ते, می\u200cخواهم, 👩\u200d🔬 naïve “–”\n\tand so on"
    assert sanitize_text(spelt) == spelt
    assert json.loads(escape_json(spelt, encoding="ascii")) == spelt


def test_what_is_harmless_stays_so():
    once = sanitize_line(EVIL)
    assert sanitize_line(once) == once


def test_an_error_is_harmless_wherever_it_is_shown():
    assert harmful(str(InputError(EVIL)) + str(InputError(EVIL).args)) == []
    assert "\n" not in str(InputError("a\nb"))


# ---------------------------------------------------------------- names


FILE = f"{EVIL}.csv"
HALF = ("--alpha", "1/2")
NAMED = {
    "simulate": ("simulate", FILE, *HALF, "--layers", "3"),
    "a suffix": ("simulate", f"x.{EVIL}", *HALF, "--layers", "3"),
    "a target": ("simulate", "points.csv", *HALF, "--layers", "3", "-o", f"{EVIL}.exe"),
    "a folder": ("simulate", "points.csv", *HALF, "--layers", "3", "-o", f"{EVIL}/x.npz"),
    "limit": ("limit", FILE, *HALF),
    "a picture": ("limit", "points.csv", *HALF, "--picture", EVIL),
    "verify": ("verify", FILE),
    "explain": ("explain", "-f", FILE),
    "a model": ("explain", "text", "--model", EVIL),
    "import": ("import", FILE, "-o", "out"),
    "train": ("train", FILE, "-o", "out"),
    "a step": ("train", "texts.csv", "-o", "out", "--alpha", EVIL),
    "a column": ("train", "texts.csv", "-o", "out", "--text", EVIL),
    "evaluate": ("evaluate", "model", FILE),
    "clouds": ("clouds", EVIL),
    "a cloud's file": ("clouds", "square", "-o", EVIL),
    "alpha": ("limit", "points.csv", "--alpha", EVIL),
    "arithmetic": ("limit", "points.csv", *HALF, "--arithmetic", EVIL),
    "search": ("limit", "points.csv", *HALF, "--search", EVIL),
    "record": ("simulate", "points.csv", *HALF, "--layers", "3", "--record", EVIL),
    "a number": ("simulate", "points.csv", *HALF, "--layers", EVIL),
    "bad rows": ("evaluate", "model", "texts.csv", "--on-bad-rows", EVIL),
    "an option": ("limit", "points.csv", f"--{EVIL}"),
    "a command": (EVIL,),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_and_values_are_quoted_harmlessly(name: str, hardmax: Command, here: Path):
    (here / "points.csv").write_text("1,1\n-1,1\n")
    (here / "texts.csv").write_text("text,label\nsuperb,a\nawful,b\n")
    is_refused(hardmax(*NAMED[name]))


CONTENTS = {
    "a cell": ("points.csv", f"1,2\n3,{EVIL}\n".encode()),
    "a cell of JSON": ("points.json", json.dumps([[1, EVIL]]).encode()),
}


@pytest.mark.parametrize("case", CONTENTS)
def test_what_stands_in_a_file_is_quoted_harmlessly(case: str, hardmax: Command, here: Path):
    name, data = CONTENTS[case]
    (here / name).write_bytes(data)
    outcome = hardmax("limit", name, *HALF)
    is_harmless(outcome)
    assert outcome.code == 2
    assert "\\u202e" in outcome.err


def test_names_of_arrays_and_columns_are_quoted_harmlessly(hardmax: Command, here: Path):
    arrays: dict[str, Any] = {EVIL: np.eye(2), "b": np.eye(2)}
    np.savez(here / "points.npz", **arrays)
    is_refused(hardmax("limit", "points.npz", *HALF))
    (here / "texts.csv").write_text(f"x{EVIL},y\na,b\n")
    is_refused(hardmax("evaluate", "model", "texts.csv"))


def test_a_file_is_written_under_the_name_that_was_asked_for(hardmax: Command, here: Path):
    (here / FILE).write_text("1,1\n-1,1\n")
    outcome = hardmax("simulate", FILE, *HALF, "--layers", "3", "-o", f"out{FILE}")
    is_harmless(outcome)
    assert outcome.code == 0
    assert outcome.err.startswith("wrote out\\x1b")
    assert (here / f"out{FILE}").exists()


# ---------------------------------------------------------------- texts and labels


def test_a_text_and_its_label_are_printed_harmlessly(hardmax: Command, here: Path):
    outcome = hardmax("explain", f"superb {EVIL}", "--model", "model")
    is_harmless(outcome)
    assert outcome.out.startswith("good\\n\\x1b]0;owned\\x07")


def test_a_flip_is_printed_harmlessly(hardmax: Command, here: Path):
    outcome = hardmax("flip", f"superb {EVIL}", "--model", "model", "--replace", f"awful{EVIL}")
    is_harmless(outcome)
    words = ("flip", f"superb {EVIL} superb", "--replace", "awful", "--model", "model")
    screen = on_a_terminal_here(*words, columns=200)
    assert harmful(screen) == []


def test_a_terminal_shows_what_came_and_obeys_nothing(here: Path):
    screen = on_a_terminal_here("explain", f"superb {EVIL} awful", "--model", "model", columns=200)
    assert harmful(screen) == []
    assert screen.count("\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202eevil\\U000e0041[bold red]") >= 2


def test_json_says_exactly_what_came(hardmax: Command, here: Path):
    text = f"superb {EVIL}\u2028\udcff"
    outcome = hardmax("explain", text, "--model", "model", "--json")
    is_harmless(outcome)
    document = json.loads(outcome.out)
    assert document["text"] == text
    assert document["label"] == f"good\n{EVIL}{MARKUP}"


def test_labels_are_measured_and_printed_harmlessly(hardmax: Command, here: Path):
    label = TextModel.load(here / "model").classes
    rows = [{"text": f"superb {EVIL}", "label": label[1]}, {"text": "awful", "label": label[0]}]
    bad = {"text": 7, "label": EVIL}
    (here / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, bad]))
    outcome = hardmax("evaluate", "model", "texts.jsonl")
    is_harmless(outcome)
    assert outcome.code == 0
    lines = [line.split("\t") for line in outcome.out.splitlines() if line.startswith(("true", "bad", "good"))]
    assert [len(cells) for cells in lines] == [3, 3, 3]  # a label cannot make rows or columns
    (here / "texts.csv").write_text(f"text,label\nsuperb,{EVIL}\n")
    is_refused(hardmax("evaluate", "model", "texts.csv"))


def test_tables_on_a_terminal_are_harmless_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "300")
    output.print_table([EVIL, "b"], [[EVIL, f"x\n{EVIL}"]], right=[EVIL])
    output.print_facts([(EVIL, EVIL)])
    printed = capsys.readouterr().out
    assert harmful(printed) == []
    assert printed.count("evil\\U000e0041[bold red]") == 5


def test_a_figure_takes_labels_for_what_they_say():
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from matplotlib.figure import Figure

    from hardmax.figures.style import figure_bytes

    figure = Figure()
    replace(make_model(), classes=(f"$x^{EVIL}", "$\\frac$ and $")).plot(ax=figure.add_subplot())
    assert harmful(figure_bytes(figure, "words.svg").decode()) == []


def test_what_libraries_warn_of_is_one_harmless_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    hush_libraries()
    warnings.showwarning(UserWarning(f"Glyph 27\n{EVIL}"), UserWarning, "x.py", 1)
    logging.getLogger("matplotlib").warning("created a temporary cache directory %s", EVIL)
    assert capsys.readouterr().err == f"warning: Glyph 27 {sanitize_line(EVIL)}\n"


@pytest.mark.parametrize("suffix", ["html", "txt", "json"])
def test_what_is_saved_is_harmless(suffix: str, here: Path):
    text = f"superb {EVIL} {MARKUP}\nawful\x00\udcff"
    told = TextModel.load(here / "model").explain(text)
    told.save(here / f"why.{suffix}")
    saved = (here / f"why.{suffix}").read_text(encoding="utf-8")
    assert harmful(saved) == []
    if suffix == "html":
        assert "<img" not in saved
        assert harmful(told._repr_html_()) == []
    if suffix == "json":
        assert json.loads(saved)["text"] == text


def test_a_card_is_neither_markup_nor_another_cell(here: Path):
    classes = (f"a|b{EVIL}{MARKUP}", "[x](javascript:alert(1))`c`\n# d")
    replace(make_model(), classes=classes, metrics={f"m|{EVIL}": f"{MARKUP}|\n"}).save(here / "other")
    card = (here / "other" / "README.md").read_text()
    assert harmful(card) == []
    assert "<img" not in card
    assert not re.search(r"(?<!\\)\[x", card)
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
    assert "# d" not in card.splitlines()


def test_a_trace_of_our_own_fault_is_harmless(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    def broken(_: str) -> None:
        raise RuntimeError(EVIL)

    monkeypatch.setattr("hardmax.io.read_cloud", broken)
    for trace in ("", "1"):
        monkeypatch.setenv("HARDMAX_TRACEBACK", trace)
        outcome = hardmax("limit", "-", *HALF)
        is_harmless(outcome)
        assert ("Traceback" in outcome.err) == bool(trace)
