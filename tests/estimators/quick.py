"""A classifier that is trained in a moment, and texts whose planted words it learns."""

# pyright: reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
import pytest

pytest.importorskip("sklearn", reason="the extra `train` is not installed")
pytest.importorskip("torch", reason="the extra `train` is not installed")

from hardmax.estimators import HardmaxClassifier
from hardmax.text.data.planted import plant
from hardmax.train import Recipe

QUICK = Recipe(
    layers=4,
    max_words=100,
    max_phrases=0,
    longest_phrase=1,
    max_tokens=12,
    epochs=4,
    bag_of_words_epochs=1,
    alpha_warmup_epochs=1,
    batch_size=16,
    learning_rate=0.1,
    validation_fraction=0.0,
)
TWO = plant(80, words=6, length=8, disturbed=0.1, seed=1)
THREE = plant(90, classes=("sport", "music", "food"), length=8, disturbed=0.1, seed=2)
UNSEEN = plant(20, words=6, length=8, disturbed=0.1, seed=3)


def quick(**parameters) -> HardmaxClassifier:
    return HardmaxClassifier(**({"recipe": QUICK} | parameters))
