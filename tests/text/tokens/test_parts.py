"""Texts are read a few megabytes at a time; where the parts begin changes nothing."""

from itertools import pairwise

import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax.text.tokens import encoding
from hardmax.text.tokens.encoding import encode


@pytest.mark.parametrize("size", [1, 60, 700])
def test_texts_read_in_parts_are_analysed_as_in_one(monkeypatch, size):
    model, texts = small_model(extra=[0.3, -1.5]), random_texts(50)
    whole = model.analyse(texts)
    monkeypatch.setattr(encoding, "_BYTES_AT_ONCE", size)
    parts = model.analyse(texts)
    assert len(parts) == len(texts)
    alone = [model.read(text).encoded.ids.tolist() for text in texts]
    assert [parts.ids[a:b].tolist() for a, b in pairwise(parts.offsets)] == alone
    for name, value in vars(whole).items():
        assert np.array_equal(getattr(parts, name), value), name


@pytest.mark.parametrize("size", [1, 60, 700])
def test_texts_read_in_parts_are_encoded_as_in_one(monkeypatch, size):
    model, texts = small_model(), random_texts(50)
    whole = encode(texts, model.vocabulary, model.tokeniser)
    monkeypatch.setattr(encoding, "_BYTES_AT_ONCE", size)
    parts = encode(texts, model.vocabulary, model.tokeniser)
    for name, value in vars(whole).items():
        assert np.array_equal(getattr(parts, name), value), name
