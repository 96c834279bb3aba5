"""What stands in a table is what `explain` says of each text, to the bit."""

import pyarrow as pa
import pytest
from text.small_models import random_texts, small_model

from hardmax.text.scoring.answers import Answerer
from hardmax.text.text_model import TextModel

MODELS = {
    "two classes": small_model(),
    "four classes": small_model(classes=4, dimension=3),
    "an extra token": small_model(extra=[0.3, 0.4]),
    "a neutral leader": small_model(extra=[0.0, 2.0], decoder=[[1.0, 0.0]]),
    "presence": small_model(binary=True, layers=1),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_answers_are_those_of_explanations(model: TextModel):
    texts = random_texts(60)
    for text, row in zip(texts, Answerer.of(model).answer(texts).to_pylist(), strict=True):
        told = model.explain(text)
        others = [p for label, p in told.probabilities.items() if label != told.label]
        assert row == {
            "label": told.label,
            "decided": told.decided,
            "probability": told.probability,
            "margin": told.probability - max(others),
            "leaders": [share.word for share in told.leaders],
            "counting": [vote.word for vote in told.active],
            "votes": [vote.vote for vote in told.active],
        }


@pytest.mark.parametrize(
    ("classes", "kind"),
    [(("no", "yes"), pa.string()), ((0, 1), pa.int64()), ((False, True), pa.bool_()), (("1", 1), pa.string())],
)
def test_labels_are_of_their_own_kind(classes: tuple, kind: pa.DataType):
    found = Answerer.of(_renamed(classes)).answer(["great film"])
    assert found.schema.field("label").type == kind


def _renamed(classes: tuple) -> TextModel:
    model = small_model()
    fields = ("vocabulary", "embeddings", "decoder", "bias", "layers", "tokeniser")
    return TextModel(classes=classes, **{name: getattr(model, name) for name in fields})
