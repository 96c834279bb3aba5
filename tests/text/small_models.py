"""Models made up on the spot: real words with random vectors, of which some agree with what the words say."""

import numpy as np

from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

WORDS = ("great", "awful", "film", "plot", "the", "not good", "good", "a", "dull", "witty", "the worst", "very", "so")


def small_model(seed: int = 0, *, classes: int = 2, dimension: int = 2, **changes) -> TextModel:
    """A model that knows WORDS, its vectors drawn at random."""
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    parts = {
        "vocabulary": Vocabulary(WORDS, rng.integers(0, 50, size=(len(WORDS), classes))),
        "embeddings": rng.normal(size=(len(WORDS), dimension)),
        "decoder": rng.normal(size=(rows, dimension)),
        "bias": rng.normal(size=rows),
        "classes": ["negative", "positive"] if classes == 2 else [f"class {c}" for c in range(classes)],
        "layers": 8,
    }
    return TextModel(**(parts | changes))


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Texts of known and unknown words; some are empty."""
    rng = np.random.default_rng(seed)
    choices = [*WORDS, "unknown", "worst", "Not Good.", "<br />"]
    return [" ".join(rng.choice(choices, size=rng.integers(0, 30))) for _ in range(count)]
