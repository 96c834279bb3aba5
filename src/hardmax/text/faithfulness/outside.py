"""Attributions made elsewhere, from a file: JSON lines such as {"row": 0, "scores": {"awful": -1.5, "film": 0.1}}."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hardmax._validation import InputError, check_path, shorten
from hardmax.text._characters import fold
from hardmax.text.faithfulness.attributions import Attribution
from hardmax.text.spans import Units
from hardmax.text.text_model import TextModel

_WISH = 'a line such as {"row": 0, "scores": {"awful": -1.5}}, rows from 0 up'


def read_attributions(path: str | Path, texts: Sequence[str]) -> Attribution:
    """The scores of the words of each text, positive for the predicted class; words that are not named have 0."""
    path = check_path(path, "`path`")
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"`{path}` cannot be read as text: {error}.") from None
    scores: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            row, own = found["row"], {fold(word): float(score) for word, score in found["scores"].items()}
            scores[texts[row if isinstance(row, int) and row >= 0 else len(texts)]] = own
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            raise InputError(f"`{path}` line {number} is {shorten(line)}: expected {_WISH}.") from None
        if not np.isfinite(list(own.values())).all():
            raise InputError(f"`{path}` line {number} has a score that is no finite number.")
    missing = next((row for row, text in enumerate(texts) if text not in scores), None)
    if missing is not None:
        raise InputError(f"`{path}` has no line for row {missing}: expected one for each of {len(texts)} texts.")

    def attribute(model: TextModel, units: Units) -> np.ndarray:
        return np.array([scores[units.text].get(word, 0.0) for word in units.words])

    return attribute
