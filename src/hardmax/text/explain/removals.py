"""Which words of a text matter most: words are taken out one at a time, and the rest of the text is read again."""

import numpy as np

from hardmax.text.spans import Units
from hardmax.text.text_model import TextModel

_MOST_CHARACTERS = 50_000_000  # of all texts that are read: a second or two


def rank_removals(model: TextModel, units: Units, label: int, against: int) -> list[tuple[int, float, float]]:
    """(word, worth, loss) of the words in known tokens, each time the one that is worth most of those left.

    `loss` is how far the logit of `label` less that of `against` falls without the word, `worth` a third of it and two
    thirds of what the word adds to an empty text. Once nothing is worth more than 0, or too much has been read, the
    rest follow in the order of what they are worth then.
    """

    def lead(texts: list[str]) -> np.ndarray:
        logits = model.decision_function(texts)
        return logits * (1 if label else -1) if logits.ndim == 1 else logits[:, label] - logits[:, against]

    known = [token for token in model.tokeniser.tokens(units.text) if token.surface in model.vocabulary.index]
    left = np.flatnonzero(units.touched_by([(token.start, token.end) for token in known]))
    alone = np.zeros(len(units))
    alone[left] = lead([units.words[word] for word in left]) - lead([""])
    before, read = lead([units.text])[0], 0
    gone: list[int] = []
    found: list[tuple[int, float, float]] = []
    while len(left):
        read += len(left) * len(units.text)
        if read > _MOST_CHARACTERS:
            losses = np.full(len(left), np.nan)
            worths = 2 / 3 * alone[left]
        else:
            losses = before - lead([units.without([*gone, word]) for word in left.tolist()])
            worths = losses / 3 + 2 / 3 * alone[left]
        best = int(worths.argmax())
        if worths[best] <= 0 or read > _MOST_CHARACTERS:
            order = np.argsort(-worths, kind="stable")
            return found + list(zip(left[order].tolist(), worths[order].tolist(), losses[order].tolist(), strict=True))
        found.append((int(left[best]), float(worths[best]), float(losses[best])))
        gone.append(int(left[best]))
        before -= losses[best]
        left = np.delete(left, best)
    return found
