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

import hardmax as hm
from hardmax._common.format import escape_html, escape_json, sanitize_line, sanitize_text
from hardmax._common.validation import InputError
from hardmax.text import describe

# A title for the window, a cleared screen, colour by a single C1 byte, text that runs backwards, an
# unseen tag.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\U000e0041[bold red]"
MARKUP = "<img src=x onerror=alert(1)>"
BAD, GOOD = f"bad{EVIL}{MARKUP}", f"good\n{EVIL}{MARKUP}"
DIRECTED = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
UNSEEN = "\u200e\u200f\u061c\u200b\ufeff\U000e0041"
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
    replace(make_model(), classes=(BAD, GOOD)).save(here / "model")
    (here / "points.csv").write_text("1,1\n-1,1\n")
    (here / "texts.csv").write_text("text,label\nsuperb,a\nawful,b\n")
    (here / "columns.csv").write_text(f"x{EVIL},y\na,b\n")
    (here / "labels.csv").write_text(f"text,label\nsuperb,{EVIL}\n")
    (here / "cell.csv").write_text(f"1,2\n3,{EVIL}\n")
    arrays: dict[str, Any] = {EVIL: np.eye(2), "b": np.eye(2)}
    np.savez(here / "arrays.npz", **arrays)


def test_every_control_and_every_mark_of_direction_is_escaped_and_letters_stay():
    planes = (range(0x3000), range(0xD800, 0x10000), range(0xE0000, 0xE1000))
    everything = " ".join(chr(code) for plane in planes for code in plane)
    assert len(harmful(everything)) > 2000
    for escape in (sanitize_line, sanitize_text, escape_html, escape_json):
        assert harmful(escape(everything)) == []
    assert "\n" not in sanitize_line(everything)
    assert json.loads(escape_json(everything)) == everything
    assert harmful(str(InputError(EVIL))) == []
    spelt = "Привет, 世界! שלום, नमस्ते, می\u200cخواهم, 👩\u200d🔬 naïve “–”\n\tand so on"
    assert sanitize_text(spelt) == spelt
    assert json.loads(escape_json(spelt, encoding="ascii")) == spelt


@pytest.mark.parametrize(
    "typed",
    [
        ("simulate", f"{EVIL}.csv", *HALF, "--layers", "3"),
        ("simulate", "points.csv", *HALF, "--layers", "3", "-o", f"{EVIL}.exe"),
        ("simulate", "points.csv", *HALF, "--layers", EVIL),
        ("explain", "text", "--model", EVIL),
        ("train", "texts.csv", "-o", "out", "--text", EVIL),
        ("limit", "points.csv", "--alpha", EVIL),
        ("limit", "arrays.npz", *HALF),
        ("limit", "cell.csv", *HALF),
        ("evaluate", "model", "columns.csv"),
        ("evaluate", "model", "labels.csv"),
        ("limit", "points.csv", *HALF, f"--{EVIL}"),
        ("", EVIL),
    ],
)
def test_names_and_values_are_quoted_harmlessly(typed, hardmax):
    outcome = hardmax(*typed)
    assert_harmless(outcome)
    assert_refused(outcome, "\\x1b")


@pytest.mark.parametrize("terminal", [True, False])
def test_texts_and_labels_are_printed_harmlessly(hardmax, terminal):
    flip = ("flip", f"superb {EVIL}", "--replace", f"awful{EVIL}")
    for typed in (("explain", f"superb {EVIL}"), flip):
        outcome = hardmax(*typed, "--model", "model", terminal=terminal)
        assert_harmless(outcome)
        assert outcome.out.startswith("good\\n\\x1b]0;owned\\x07")


def test_json_has_exactly_what_came(hardmax):
    text = f"superb {EVIL}\u2028\udcff"
    outcome = hardmax("explain", text, "--model", "model", "--json")
    assert_harmless(outcome)
    document = json.loads(outcome.out)
    assert (document["text"], document["label"]) == (text, GOOD)


def test_a_label_cannot_make_rows_or_columns(hardmax, here):
    rows = [{"text": "superb", "label": GOOD}, {"text": "awful", "label": BAD}, {"text": 7}]
    (here / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = hardmax("evaluate model texts.jsonl")
    assert_harmless(outcome)
    starts = ("true", "bad", "good")
    lines = [line for line in outcome.out.splitlines() if line.startswith(starts)]
    assert [line.count("\t") for line in lines] == [3, 3, 3]


@pytest.mark.parametrize("suffix", ["html", "txt", "json"])
def test_what_is_saved_is_harmless(suffix, here):
    text = f"superb {EVIL} {MARKUP}\nawful\x00\udcff"
    hm.load_model(here / "model").explain(text).save(here / f"why.{suffix}")
    saved = (here / f"why.{suffix}").read_text(encoding="utf-8")
    assert harmful(saved) == []
    assert "<img" not in saved or suffix != "html"
    assert suffix != "json" or json.loads(saved)["text"] == text


def test_a_card_is_neither_markup_nor_another_cell():
    classes = (f"a|b{EVIL}{MARKUP}", "[x](javascript:alert(1))`c`\n# d")
    metrics = {f"m|{EVIL}": f"{MARKUP}|\n", "edited_after_measuring": {f"|{MARKUP}": EVIL}}
    metrics |= {f"#{EVIL}\n{MARKUP}": [{f"|{MARKUP}": {EVIL: [MARKUP]}, "b": 1}]}
    card = describe(replace(make_model(), classes=classes, metrics=metrics))
    assert harmful(card) == []
    assert "<img" not in card
    assert not re.search(r"(?<!\\)\[x", card)
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
    assert "# d" not in card.splitlines()
