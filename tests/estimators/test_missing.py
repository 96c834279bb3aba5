"""Without the extra `sklearn` there are no estimators, and the error says so; none needs torch."""

# pyright: reportMissingImports=false
import importlib
import subprocess
import sys

import pytest

import hardmax.sklearn
from hardmax._validation import MissingExtra


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[sklearn\]"):
        importlib.reload(hardmax.sklearn)


def test_estimators_need_no_torch():
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] == 'torch': raise ImportError('no torch here')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from hardmax.sklearn import HardmaxClassifier\n"
        "given = {'strength': 1.0, 'gate': 0.2, 'alpha': '0', 'neutral_weight': 1}\n"
        "print(HardmaxClassifier(**given).fit(['good', 'bad'] * 4, [1, 0] * 4).predict(['good']).tolist())\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "[1]\n", told.stderr
