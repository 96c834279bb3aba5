"""One text, read as the definition says: no dictionary in arrays has to be made for it, and nothing compiled."""

from dataclasses import dataclass

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.segments import keep_segments
from hardmax.text.tokens.texts import encode_text
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

SHORT = 20_000  # characters; longer texts are read sooner by the kernels


@dataclass(frozen=True, eq=False)
class Read:
    """The known tokens of a text, and for each of them where it stands: rows (start, end) of `text[start:end]`."""

    encoded: Encoded
    places: list[np.ndarray]


def read_one(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser, has_extra: bool) -> Read:
    """What `encode` and `find_places` find in one text; the extra token comes last, and stands nowhere.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = read_one("Not good, not GOOD film.", known, Tokeniser(), has_extra=False)
    >>> found.encoded.ids.tolist(), found.places[1].tolist()
    ([0, 2, 1], [[0, 8], [10, 18]])
    """
    index, stands = vocabulary.index, {}
    tokens = tokeniser.tokens(encode_text(text).decode())
    known = [(index[token.surface], token) for token in tokens if token.surface in index]
    for number, token in known if tokeniser.overlapping else keep_segments(known):
        stands.setdefault(number, []).append((token.start, token.end))
    ids, counts = list(stands), [len(places) for places in stands.values()]
    places = [np.array(several, dtype=np.int64) for several in stands.values()]
    if has_extra:
        ids, counts, places = [*ids, len(vocabulary)], [*counts, 1], [*places, np.empty((0, 2), dtype=np.int64)]
    offsets = np.array([0, len(ids)], dtype=np.int64)
    return Read(Encoded(np.array(ids, dtype=np.int32), np.array(counts, dtype=np.int32), offsets), places)
