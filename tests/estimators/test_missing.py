"""Without the extra `train` there are no estimators, and the error says so."""

# pyright: reportMissingImports=false
import importlib
import sys

import pytest
from estimators.quick import TWO, quick

import hardmax.estimators
from hardmax.errors import MissingExtra


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[train\]"):
        importlib.reload(hardmax.estimators)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[train\]"):
        quick().fit(TWO.texts, TWO.labels)
