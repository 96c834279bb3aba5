"""One text and where its tokens stand: what `read_one` says of it, at the speed of the kernels."""

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.kernels.reading import read_text
from hardmax.text.tokens.lexicon import Lexicon
from hardmax.text.tokens.one_text import Read
from hardmax.text.tokens.spots import Spots
from hardmax.text.tokens.texts import encode_text
from hardmax.text.tokens.tokeniser import Tokeniser


def read_long(text: str, lexicon: Lexicon, tokeniser: Tokeniser, has_extra: bool) -> Read:
    """What `read_one` says of a text, at the speed of the kernels."""
    data = np.frombuffer(encode_text(text), dtype=np.uint8)
    *found, ids, counts = read_text(
        data,
        lexicon.characters,
        lexicon.words,
        lexicon.phrases,
        tokeniser.cutting,
        lexicon.tokens if has_extra else -1,
    )
    return Read(Encoded(ids, counts, np.array([0, len(ids)])), Spots(*found))
