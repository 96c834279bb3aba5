"""Whatever a text, a label, a file or a column is called: no terminal and no page obeys it."""

import json
import re
import unicodedata
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from planted_files import make_model
from running import Outcome, assert_refused

from hardmax._common.format import (
    escape_html,
    escape_json,
    sanitize_line,
    sanitize_text,
)
from hardmax._common.validation import InputError
from hardmax.text.text_model import TextModel

# A title for the window, a cleared screen, colour by a single C1 byte, text that runs backwards, an
# unseen tag.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\U000e0041[bold red]"
MARKUP = "<img src=x onerror=alert(1)>"
DIRECTED = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
UNSEEN = "\u200e\u200f\u061c\u200b\ufeff\U000e0041"
FILE = f"{EVIL}.csv"
HALF = ("--alpha", "1/2")


def harmful(text: str) -> list[str]:
    """The characters that a terminal would obey, or show as something else."""

    def is_harmful(mark: str) -> bool:
        control = unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp")
        return control or unicodedata.bidirectional(mark) in DIRECTED or mark in UNSEEN

    return [mark for mark in text if mark not in "\n\t" and is_harmful(mark)]


def assert_harmless(outcome: Outcome) -> None:
    assert harmful(outcome.out + outcome.err) == []


@pytest.fixture(autouse=True)
def hostile(here):
    replace(make_model(), classes=(f"bad{EVIL}{MARKUP}", f"good\n{EVIL}{MARKUP}")).save(
        here / "model"
    )
    (here / "points.csv").write_text("1,1\n-1,1\n")
    (here / "texts.csv").write_text("text,label\nsuperb,a\nawful,b\n")
    (here / "columns.csv").write_text(f"x{EVIL},y\na,b\n")
    (here / "labels.csv").write_text(f"text,label\nsuperb,{EVIL}\n")
    (here / "cell.csv").write_text(f"1,2\n3,{EVIL}\n")
    arrays: dict[str, Any] = {EVIL: np.eye(2), "b": np.eye(2)}
    np.savez(here / "arrays.npz", **arrays)


def test_every_control_and_every_mark_of_direction_is_escaped():
    planes = (range(0x3000), range(0xD800, 0x10000), range(0xE0000, 0xE1000))
    everything = " ".join(chr(code) for plane in planes for code in plane)
    assert len(harmful(everything)) > 2000
    for escape in (sanitize_line, sanitize_text, escape_html, escape_json):
        assert harmful(escape(everything)) == []
    assert "\n" not in sanitize_line(everything)
    assert json.loads(escape_json(everything)) == everything
    assert harmful(str(InputError(EVIL)) + str(InputError(EVIL).args)) == []


def test_letters_of_all_scripts_stay_as_they_are():
    spelt = "Привет, 世界! שלום, नमस्ते, می\u200cخواهم, 👩\u200d🔬 naïve “–”\n\tand so on"
    assert sanitize_text(spelt) == spelt
    assert json.loads(escape_json(spelt, encoding="ascii")) == spelt


NAMED = {
    "a file": ("simulate", FILE, *HALF, "--layers", "3"),
    "a target": ("simulate", "points.csv", *HALF, "--layers", "3", "-o", f"{EVIL}.exe"),
    "a number": ("simulate", "points.csv", *HALF, "--layers", EVIL),
    "a model": ("explain", "text", "--model", EVIL),
    "a column": ("train", "texts.csv", "-o", "out", "--text", EVIL),
    "alpha": ("limit", "points.csv", "--alpha", EVIL),
    "an array": ("limit", "arrays.npz", *HALF),
    "a cell": ("limit", "cell.csv", *HALF),
    "columns": ("evaluate", "model", "columns.csv"),
    "a label": ("evaluate", "model", "labels.csv"),
    "an option": ("limit", "points.csv", *HALF, f"--{EVIL}"),
    "a command": ("", EVIL),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_and_values_are_quoted_harmlessly(name, hardmax):
    outcome = hardmax(*NAMED[name])
    assert_harmless(outcome)
    assert_refused(outcome, "\\x1b")


def test_texts_and_labels_are_printed_harmlessly(hardmax):
    for typed in (
        ("explain", f"superb {EVIL}"),
        ("flip", f"superb {EVIL}", "--replace", f"awful{EVIL}"),
    ):
        outcome = hardmax(*typed, "--model", "model")
        assert_harmless(outcome)
        assert outcome.out.startswith("good\\n\\x1b]0;owned\\x07")
        assert_harmless(hardmax(*typed, "--model", "model", terminal=True))


def test_json_has_exactly_what_came(hardmax):
    text = f"superb {EVIL}\u2028\udcff"
    outcome = hardmax("explain", text, "--model", "model", "--json")
    assert_harmless(outcome)
    document = json.loads(outcome.out)
    assert (document["text"], document["label"]) == (text, f"good\n{EVIL}{MARKUP}")


def test_a_label_cannot_make_rows_or_columns(hardmax, here):
    bad, good = TextModel.load(here / "model").classes
    rows = [
        {"text": f"superb {EVIL}", "label": good},
        {"text": "awful", "label": bad},
        {"text": 7, "label": EVIL},
    ]
    (here / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = hardmax("evaluate model texts.jsonl")
    assert_harmless(outcome)
    lines = [
        line.split("\t")
        for line in outcome.out.splitlines()
        if line.startswith(("true", "bad", "good"))
    ]
    assert [len(cells) for cells in lines] == [4, 4, 4]


@pytest.mark.parametrize("suffix", ["html", "txt", "json"])
def test_what_is_saved_is_harmless(suffix, here):
    text = f"superb {EVIL} {MARKUP}\nawful\x00\udcff"
    explanation = TextModel.load(here / "model").explain(text)
    explanation.save(here / f"why.{suffix}")
    saved = (here / f"why.{suffix}").read_text(encoding="utf-8")
    assert harmful(saved) == []
    if suffix == "html":
        assert "<img" not in saved
        assert harmful(explanation._repr_html_()) == []
    if suffix == "json":
        assert json.loads(saved)["text"] == text


def test_a_card_is_neither_markup_nor_another_cell(here):
    classes = (f"a|b{EVIL}{MARKUP}", "[x](javascript:alert(1))`c`\n# d")
    replace(make_model(), classes=classes, metrics={f"m|{EVIL}": f"{MARKUP}|\n"}).save(
        here / "other"
    )
    card = (here / "other" / "README.md").read_text()
    assert harmful(card) == []
    assert "<img" not in card
    assert not re.search(r"(?<!\\)\[x", card)
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
    assert "# d" not in card.splitlines()
