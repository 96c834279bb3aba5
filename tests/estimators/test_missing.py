"""Without the extra `sklearn` there are no estimators, and the error says so."""

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
