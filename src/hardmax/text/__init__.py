"""The glass-box text classifier: words become tokens, the layers gather them round a few leaders, and those decide.

No torch here: training is in `hardmax.train`, the scikit-learn estimator in `hardmax.sklearn`.

>>> from hardmax.text import Tokeniser, plant
>>> [token.surface for token in Tokeniser(longest_phrase=1).tokens("Don't miss it!")]
["don't", 'miss', 'it']
"""

import importlib
from typing import TYPE_CHECKING, Any

# Names are resolved when first used (PEP 562): a tokeniser should not wait for the kernels.
_HOMES = {
    "Analysis": "hardmax.text.model.analysis",
    "Corpus": "hardmax.text.corpora",
    "Encoded": "hardmax.text.tokens.encoding",
    "Explanation": "hardmax.text.explain",
    "TextModel": "hardmax.text.text_model",
    "Tokeniser": "hardmax.text.tokens.tokeniser",
    "Vocabulary": "hardmax.text.tokens.vocabulary",
    "build_vocabulary": "hardmax.text.tokens.building",
    "calibrate": "hardmax.text.evaluation.calibration",
    "encode": "hardmax.text.tokens.encoding",
    "evaluate": "hardmax.text.evaluation.metrics",
    "load": "hardmax.text.shipped",
    "plant": "hardmax.text.corpora",
    "read_corpus": "hardmax.text.corpora",
}

if TYPE_CHECKING:
    from hardmax.text.corpora import Corpus as Corpus
    from hardmax.text.corpora import plant as plant
    from hardmax.text.corpora import read_corpus as read_corpus
    from hardmax.text.evaluation.calibration import calibrate as calibrate
    from hardmax.text.evaluation.metrics import evaluate as evaluate
    from hardmax.text.explain import Explanation as Explanation
    from hardmax.text.model.analysis import Analysis as Analysis
    from hardmax.text.shipped import load as load
    from hardmax.text.text_model import TextModel as TextModel
    from hardmax.text.tokens.building import build_vocabulary as build_vocabulary
    from hardmax.text.tokens.encoding import Encoded as Encoded
    from hardmax.text.tokens.encoding import encode as encode
    from hardmax.text.tokens.tokeniser import Tokeniser as Tokeniser
    from hardmax.text.tokens.vocabulary import Vocabulary as Vocabulary


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'hardmax.text' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES]
