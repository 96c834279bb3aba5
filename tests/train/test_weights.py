"""How much each text counts."""

# pyright: reportMissingImports=false
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from field_checks import FROZEN

from hardmax.train import fit

# What the words say is not agreed upon; the heavier texts decide.
TEXTS = ["loud film", "dull film"] * 40
LABELS = np.array([1, 0, 1, 0, 0, 1, 0, 1] * 10)


@pytest.mark.parametrize("heavy", [0, 1])
def test_the_heavier_texts_decide_what_a_word_says(heavy):
    weights = np.where((np.arange(80) // 4) % 2 == heavy, 3.0, 1.0)
    model = fit(TEXTS, LABELS, replace(FROZEN, learning_rate=0.1, epochs=6), sample_weight=weights)
    assert model.predict(["loud film", "dull film"]).tolist() == ([1, 0] if heavy == 0 else [0, 1])


def test_weights_are_shares_twice_all_of_them_is_the_same():
    weights = np.arange(1.0, 81.0)
    once, twice = (
        fit(TEXTS, LABELS, replace(FROZEN, learning_rate=0.1), sample_weight=size * weights) for size in (1.0, 2.0)
    )
    assert once.embeddings.tobytes() == twice.embeddings.tobytes()
