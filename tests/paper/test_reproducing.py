"""Pieces in a folder: every file named after its piece, numbers kept, and a page about all of them."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from hardmax._validation import InputError
from hardmax.figures.style import Figure
from hardmax.paper.differences import DIFFERENCES
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.pieces import ROOMS, find_piece, names_of
from hardmax.paper.report import write_report
from hardmax.paper.reproducing import make

HOSTILE = "<script>alert(1)</script>"


def small(computed: list[Setting], numbers: Numbers | None = None) -> Piece:
    def compute(setting: Setting) -> Numbers:
        computed.append(setting)
        return numbers or {"points": [1.0, 2.5], "name": HOSTILE}

    def draw(found: Numbers) -> dict[str, Figure]:
        figure = Figure(figsize=(1, 1))
        figure.subplots().plot(found["points"])
        return {"": figure, "-twice": figure}

    def film(found: Numbers, path: Path) -> None:
        path.write_bytes(b"GIF")

    return Piece(
        name="small",
        title=f"A title {HOSTILE}",
        caption="What is seen.",
        compute=compute,
        draw=draw,
        table=lambda found: [["n", "point"], *enumerate(found["points"])],
        animate=film,
        remark=lambda found: f"They are {found['points'][0]} and more, {found['name']}.",
    )


def test_every_file_is_named_after_its_piece(tmp_path: Path):
    made = make(small([]), tmp_path, Setting())
    names = {"small.json", "small.csv", "small.gif", "small.png", "small.pdf", "small-twice.png", "small-twice.pdf"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert made.pictures == ("small.png", "small-twice.png")
    lines = (tmp_path / "small.csv").read_text().splitlines()
    assert list(csv.reader(lines)) == [["n", "point"], ["0", "1.0"], ["1", "2.5"]]
    assert json.loads((tmp_path / "small.json").read_bytes())["numbers"] == made.numbers


def test_what_is_there_is_only_drawn_and_another_setting_is_computed(tmp_path: Path):
    computed: list[Setting] = []
    piece = small(computed)
    assert not make(piece, tmp_path, Setting()).was_there
    (tmp_path / "small.png").unlink()
    again = make(piece, tmp_path, Setting())
    assert again.was_there
    assert (tmp_path / "small.png").exists()
    assert len(computed) == 1
    for other in (Setting(seed=1), Setting(full=True), Setting(data=tmp_path)):
        (tmp_path / "train.parquet").write_bytes(b"some bytes")
        assert not make(piece, tmp_path, other).was_there
    assert len(computed) == 4


def test_nothing_is_left_of_a_piece_that_failed(tmp_path: Path):
    def fail(setting: Setting) -> Numbers:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(replace(small([]), compute=fail), tmp_path, Setting())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"piece": "small"}', '{"piece": "x", "numbers": {}}', "[" * 100_000])
def test_a_file_that_is_something_else_is_not_written_over(tmp_path: Path, text: str):
    (tmp_path / "small.json").write_text(text)
    with pytest.raises(InputError, match="is not what `hardmax reproduce` keeps"):
        make(small([]), tmp_path, Setting())
    assert (tmp_path / "small.json").read_text() == text


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        make(small([], {"points": [float("nan")]}), tmp_path, Setting())


def test_the_page_tells_all_and_lets_nothing_through(tmp_path: Path):
    made = make(small([]), tmp_path, Setting())
    page = write_report([made], {"hardmax": "1", "data:": HOSTILE})
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 4
    for told in ("What is seen.", "They are 1.0", 'src="small-twice.png"', 'src="small.gif"', 'href="small.csv"'):
        assert told in page
    assert all(what in page for what, _ in DIFFERENCES)
    assert "default-src 'none'" in page


def test_long_tables_are_cut_on_the_page(tmp_path: Path):
    made = make(small([], {"points": list(range(100)), "name": ""}), tmp_path, Setting())
    assert "and 60 rows more in the file" in write_report([made], {})


def test_all_pieces_are_there_under_their_names():
    assert names_of("all") == list(ROOMS)
    for name in ROOMS:
        assert find_piece(name).name == name
    with pytest.raises(InputError, match=r"one of fig1, .*, all, not 'fig6'"):
        names_of("fig6")
