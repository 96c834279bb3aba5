"""Pieces are computed once for all tests."""

import importlib
import json
from collections.abc import Callable
from functools import cache

import pytest

from hardmax.paper.piece import Numbers, Setting


@pytest.fixture(scope="session")
def numbers_of() -> Callable[[str], Numbers]:
    """The numbers of the piece at a place such as `beyond.floats`, as a file of JSON would give them back."""

    @cache
    def computed(place: str) -> str:
        piece = importlib.import_module(f"hardmax.paper.{place}").PIECE
        return json.dumps(piece.compute(Setting()), allow_nan=False)  # NaN and infinity are no numbers of JSON

    return lambda place: json.loads(computed(place))
