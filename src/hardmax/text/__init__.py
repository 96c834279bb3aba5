"""The glass-box text classifier: words become tokens, the layers gather them round a few leaders, and those decide.

No torch here: training is in `hardmax.train`, the scikit-learn estimator in `hardmax.estimators` (and here by name).

>>> from hardmax.text import Tokeniser, plant
>>> [token.surface for token in Tokeniser(longest_phrase=1).tokens("Don't miss it!")]
["don't", 'miss', 'it']
"""

import importlib
from typing import TYPE_CHECKING, Any

# Names are resolved when first used (PEP 562): a tokeniser should not wait for the kernels.
_HOMES = {
    "Analysis": "hardmax.text.analysis",
    "Corpus": "hardmax.text.corpora",
    "Encoded": "hardmax.text.encoding",
    "Explanation": "hardmax.text.explanation",
    "HardmaxClassifier": "hardmax.estimators",  # above this room, so by name only; needs the extra `train`
    "TextModel": "hardmax.text.model",
    "Tokeniser": "hardmax.text.tokeniser",
    "Vocabulary": "hardmax.text.vocabulary",
    "build_vocabulary": "hardmax.text.building",
    "calibrate": "hardmax.text.calibration",
    "encode": "hardmax.text.encoding",
    "evaluate": "hardmax.text.metrics",
    "load": "hardmax.text.shipped",
    "plant": "hardmax.text.planted",
    "read_corpus": "hardmax.text.corpora",
}

if TYPE_CHECKING:
    from hardmax.text.analysis import Analysis as Analysis
    from hardmax.text.building import build_vocabulary as build_vocabulary
    from hardmax.text.calibration import calibrate as calibrate
    from hardmax.text.corpora import Corpus as Corpus
    from hardmax.text.corpora import read_corpus as read_corpus
    from hardmax.text.encoding import Encoded as Encoded
    from hardmax.text.encoding import encode as encode
    from hardmax.text.explanation import Explanation as Explanation
    from hardmax.text.metrics import evaluate as evaluate
    from hardmax.text.model import TextModel as TextModel
    from hardmax.text.planted import plant as plant
    from hardmax.text.shipped import load as load
    from hardmax.text.tokeniser import Tokeniser as Tokeniser
    from hardmax.text.vocabulary import Vocabulary as Vocabulary


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'hardmax.text' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES]
