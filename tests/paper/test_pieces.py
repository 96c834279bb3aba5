"""Every piece is computed into plain, small, repeatable numbers, and drawn from these alone."""

import importlib
import json
import re
from collections.abc import Callable

import pytest
from matplotlib.text import Text

from hardmax.figures.style import figure_bytes
from hardmax.paper.piece import Numbers, Piece, Setting

FIGURES = [f"figures.fig{number}" for number in range(1, 6)]
BEYOND = [f"beyond.{name}" for name in ("basins", "faces", "floats", "leaders", "settling", "temperature")]
RESULTS = [f"results.{name}" for name in ("histogram", "orders", "reviews", "table1")]
LARGEST = 200_000
NumbersOf = Callable[[str], Numbers]


def piece(place: str) -> Piece:
    return importlib.import_module(f"hardmax.paper.{place}").PIECE


@pytest.fixture(params=FIGURES + BEYOND + RESULTS)
def place(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_piece_is_called_as_its_file(place: str):
    assert piece(place).name == place.split(".")[1]


def test_numbers_are_small(place: str, numbers_of: NumbersOf):
    assert len(json.dumps(numbers_of(place))) < LARGEST


@pytest.mark.parametrize("place", [*FIGURES, "beyond.floats", "beyond.basins"])
def test_the_same_seed_gives_the_same_numbers(place: str, numbers_of: NumbersOf):
    assert json.loads(json.dumps(piece(place).compute(Setting()))) == numbers_of(place)


@pytest.mark.parametrize("place", ["figures.fig1", "figures.fig5", "beyond.floats"])
def test_the_same_numbers_give_the_same_bytes(place: str, numbers_of: NumbersOf):
    first, again = (figure_bytes(piece(place).draw(numbers_of(place))[""], "x.svg") for _ in range(2))
    assert first == again


def test_figures_have_real_text_and_nothing_in_them_is_left_unformatted(place: str, numbers_of: NumbersOf):
    for suffix, figure in piece(place).draw(numbers_of(place)).items():
        assert b"<text" in figure_bytes(figure, f"x{suffix}.svg")
        texts = [text.get_text() for text in figure.findobj(Text)]
        assert any(texts)
        assert not any(re.search(r"nan|None|\{[a-z]", text) for text in texts)


def test_tables_have_as_many_cells_in_every_row(place: str, numbers_of: NumbersOf):
    table = piece(place).table
    if table is not None:
        columns, *rows = table(numbers_of(place))
        assert rows
        assert {len(row) for row in rows} == {len(columns)}


def test_remarks_and_captions_are_sentences(place: str, numbers_of: NumbersOf):
    remark = piece(place).remark
    assert remark is not None
    for text in (remark(numbers_of(place)), piece(place).caption):
        assert text.endswith(".")
        assert not re.search(r"nan|None|  |\{|\}", text)
