"""A classifier that is trained in a moment, and texts whose planted words it learns."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import pytest

pytest.importorskip("sklearn", reason="the extra `sklearn` is not installed")

from hardmax.sklearn import HardmaxClassifier
from hardmax.text import make_synthetic_corpus

TWO = make_synthetic_corpus(80, words=6, length=8, disturbed=0.1, seed=1)
THREE = make_synthetic_corpus(
    90, classes=("sport", "music", "food"), length=8, disturbed=0.1, seed=2
)
UNSEEN = make_synthetic_corpus(20, words=6, length=8, disturbed=0.1, seed=3)


def quick(**parameters) -> HardmaxClassifier:
    return HardmaxClassifier(**({"ngram_range": (1, 1), "C": 1.0, "vectors": None} | parameters))
