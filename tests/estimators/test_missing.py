"""Without the extras `sklearn` and `torch` there are no estimators and no layer, and the error says
so."""

# pyright: reportMissingImports=false
import importlib
import sys

import pytest

import hardmax.sklearn
from hardmax._common.validation import MissingExtra


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[sklearn\]"):
        importlib.reload(hardmax.sklearn)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "hardmax.torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"`hardmax.torch` needs .* hardmax\[torch\]"):
        importlib.import_module("hardmax.torch")
