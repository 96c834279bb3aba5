"""Without the extra `sklearn` there are no estimators, without `train` no training, and the error says so."""

# pyright: reportMissingImports=false
import importlib
import subprocess
import sys

import pytest
from estimators.quick import TWO, quick

import hardmax.estimators
from hardmax._validation import MissingExtra


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[sklearn\]"):
        importlib.reload(hardmax.estimators)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[train\]"):
        quick().fit(TWO.texts, TWO.labels)


def test_clustering_needs_no_torch():
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] == 'torch': raise ImportError('no torch here')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from hardmax.estimators import HardmaxClustering\n"
        "print(HardmaxClustering(alpha=0.5).fit_predict([[3.0], [-1.0], [2.0]]).tolist())\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "[0, 1, 0]\n", told.stderr
