"""Markdown can be read in an editor: lines of at most 120 columns."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
# Cards of models are written by `model.save`.
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob(".github/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *ROOT.glob("docs/*.md"),
]


def long_lines(page: Path) -> list[str]:
    """What is too long, but for rows of tables, outputs, and words that nobody can break."""
    lines, printed = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            printed = line == "```text"
        breakable = " " in line[:WIDTH].strip()
        if len(line) > WIDTH and breakable and not printed and not line.lstrip().startswith("|"):
            lines.append(line)
    return lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_a_page_are_short(page):
    assert long_lines(page) == []


def test_a_long_line_is_found(tmp_path):
    page = tmp_path / "page.md"
    long = "word " * 30
    page.write_text(f"{long}\n| {long} |\n```text\n{long}\n```\n{'x' * 200}\n{long}\n")
    assert long_lines(page) == [long, long]
