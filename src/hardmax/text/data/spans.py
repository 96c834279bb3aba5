"""What people marked in a text: pairs of character positions, as files and callers give them."""

import json
from typing import Any

import numpy as np

from hardmax._validation import shorten
from hardmax.text.spans import Span

_LISTS = (list, tuple, np.ndarray)


def read_spans(cell: Any, length: int) -> tuple[list[Span], str]:
    """(spans, fault): the pairs [start, end) of a text of so many characters, those of no character left out; or why
    they cannot be read. A cell that is a text holds them as JSON, as in CSV files.

    >>> read_spans("[[0, 5], [7, 7]]", 12)
    ([(0, 5)], '')
    >>> read_spans([[9, 3]], 12)
    ([], 'the spans hold [9, 3]: expected pairs [start, end] of whole numbers from 0 to 12, start before end')
    """
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return [], "no spans"
    wish = f"expected pairs [start, end] of whole numbers from 0 to {length}, start before end"
    pairs = _from_json(cell) if isinstance(cell, str) else cell
    if not isinstance(pairs, _LISTS):
        return [], f"the spans are {shorten(cell)}: {wish}"
    for pair in pairs:
        if not _is_span(pair, length):
            return [], f"the spans hold {shorten(pair)}: {wish}"
    return [(int(start), int(end)) for start, end in pairs if start < end], ""


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_span(pair: Any, length: int) -> bool:
    if not isinstance(pair, _LISTS) or len(pair) != 2:
        return False
    start, end = pair
    whole = all(isinstance(at, int | np.integer) and not isinstance(at, bool) for at in (start, end))
    return whole and 0 <= start <= end <= length
