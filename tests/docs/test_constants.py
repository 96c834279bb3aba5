"""Numbers in docs/ that are constants of the package, or that a run shows."""

import math
from pathlib import Path

import hardmax as hm
from hardmax import certificate, page, theorem
from hardmax._float import kernels, search
from hardmax.text import encoding, tables

ROOT = Path(__file__).parents[2]


def words_of(name: str) -> str:
    return " ".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").split())


def test_pages_name_limits_as_they_are():
    most = f"up to {page.MOST_TOKENS:,} tokens of up to {page.MOST_DIMENSIONS} dimensions"
    assert most in words_of("page")
    assert f"takes at most {theorem.MOST_TOKENS:,} distinct tokens" in words_of("limitations")
    assert f"in parts of {tables.PART_ROWS:,} rows" in words_of("text")
    in_the_plane = math.isqrt(kernels._SMALL // 2)
    told = f"Texts of up to {encoding.SHORT:,} characters and clouds of up to {in_the_plane} tokens"
    assert told in words_of("speed")
    assert f"clouds of up to {math.isqrt(search._FEW_SCORES)} tokens." in words_of("speed")


def test_the_page_of_certificates_names_what_a_check_may_cost():
    told = words_of("certificate")
    assert certificate.WORK == 6 * 10**9
    assert "`WORK` = 6·10⁹ products" in told
    assert f"`ROOM` = {certificate.ROOM >> 20} MB" in told
    assert f"files of up to {certificate.FILE_SIZE >> 20} MB" in told


def test_what_the_limitations_say_is_not_read_is_not_read():
    text = "Boring it is not."
    assert text.removesuffix(".") in words_of("limitations")
    model = hm.load_model("sentiment-en")
    (boring,) = [entry for entry in model.explain(text).ledger if entry.word == "boring"]
    assert not boring.modifiers
    assert boring.vote < 0
    told = {4: "four"}[model.rule.scope]
    assert f"the modifiers up to {told} words before them" in words_of("limitations")
