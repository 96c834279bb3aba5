"""The glass-box text classifier: words attend to the words that modify them, and each has a vote.

No torch here: training is in `hardmax.train`, the scikit-learn estimator in `hardmax.sklearn`.

>>> from hardmax.text import Tokeniser, make_synthetic_corpus
>>> [token.surface for token in Tokeniser(longest_phrase=1).tokens("Don't miss it!")]
["don't", 'miss', 'it']
"""

from hardmax._common.lazy import attach_stub

# The stub beside this file says where each name is defined; it is imported when first used.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
