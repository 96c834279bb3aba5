"""Where the words of one text stand: what `read_one` says of them, at the speed of the kernels."""

from itertools import pairwise

import numpy as np

from hardmax.text.tokens.encoding import encode_part
from hardmax.text.tokens.kernels.dictionary import find_words
from hardmax.text.tokens.kernels.encoding import find_segments
from hardmax.text.tokens.kernels.finding import room_to_stand
from hardmax.text.tokens.kernels.placing import place_tokens
from hardmax.text.tokens.kernels.scanning import Pieces, find_pieces
from hardmax.text.tokens.kernels.segments import room_to_sort
from hardmax.text.tokens.lexicon import Lexicon
from hardmax.text.tokens.one_text import Read
from hardmax.text.tokens.texts import encode_text, read_texts
from hardmax.text.tokens.tokeniser import Tokeniser


def read_long(text: str, lexicon: Lexicon, tokeniser: Tokeniser, has_extra: bool) -> Read:
    """What `read_one` says of a text, at the speed of the kernels."""
    extra = lexicon.tokens if has_extra else -1
    encoded = encode_part(read_texts([text]), lexicon, tokeniser, extra)
    return Read(encoded, find_places(text, lexicon, tokeniser, encoded.ids, encoded.counts))


def find_places(
    text: str, lexicon: Lexicon, tokeniser: Tokeniser, ids: np.ndarray, counts: np.ndarray
) -> list[np.ndarray]:
    """For each of the tokens `ids`, said as often as `counts`, where it stands: rows (start, end) of `text[start:end]`.

    The extra token, which stands nowhere, has no rows. `ids` are all the known tokens of the text.
    """
    data = np.frombuffer(encode_text(text), dtype=np.uint8)
    room = len(data)
    pieces = Pieces(np.empty(room, np.uint32), np.empty(room, np.int64), np.empty(room, np.uint64))
    numbers, begins = np.empty(room, np.int32), np.zeros(room, np.int64)
    count = find_pieces(data, 0, room, lexicon.characters, pieces, begins)
    find_words(pieces, count, lexicon.words, numbers)
    if len(text) < len(data):
        # Bytes become characters: each has one byte that does not continue another.
        begins[:count] = np.cumsum(data & 0xC0 != 0x80)[begins[:count]] - 1
    bounds = np.concatenate([[0], np.cumsum(np.where(ids < lexicon.tokens, counts, 0))])
    slots = np.full(lexicon.tokens + 1, -1, dtype=np.int64)
    slots[ids] = bounds[:-1]
    places = np.empty((bounds[-1], 2), dtype=np.int64)
    standing = room_to_stand(room, tokeniser.longest_phrase)
    count = find_segments(
        pieces, count, numbers, lexicon.phrases, tokeniser.cutting, standing, room_to_sort(standing, room)
    )
    place_tokens(standing, count, pieces.ends, begins, slots, places)
    return [places[first:last] for first, last in pairwise(bounds.tolist())]
