"""From one text to its explanation."""

from hardmax.text.explain.explanation import Explanation
from hardmax.text.text_model import TextModel


def explain(model: TextModel, text: str) -> Explanation:
    """Why the model says what it says of a text; the numbers are those of `predict_proba`, to the bit."""
    read = model.read(text)
    found, ends = model.weigh_words(read.encoded)
    return Explanation(text=text, model=model, found=found, read=read, ends=ends)
