"""One text, read as the definition says: no dictionary in arrays has to be made for it, and nothing compiled."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardmax.text.tokens.characters import MARKS
from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.segments import Known, keep_segments
from hardmax.text.tokens.spots import Spots
from hardmax.text.tokens.texts import encode_text
from hardmax.text.tokens.tokeniser import Token, Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

SHORT = 20_000  # characters; longer texts are read sooner by the kernels


@dataclass(frozen=True, eq=False)
class Read:
    """The known tokens of a text, and where tokens stand in it."""

    encoded: Encoded
    spots: Spots

    @cached_property
    def places(self) -> list[np.ndarray]:
        """For each of the known tokens where it stands: rows (start, end) of `text[start:end]`."""
        return self.spots.places(len(self.encoded.ids))


def read_one(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser, has_extra: bool) -> Read:
    """The known tokens of one text, as `encode` finds them; the extra token comes last, and stands nowhere.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = read_one("Not good, not GOOD film.", known, Tokeniser(), has_extra=False)
    >>> found.encoded.ids.tolist(), found.places[1].tolist()
    ([0, 2, 1], [[0, 8], [10, 18]])
    """
    index, rows = vocabulary.index, {}
    tokens = tokeniser.tokens(encode_text(text).decode())
    known = [(index[token.surface], token) for token in tokens if token.surface in index]
    kept = set(known if tokeniser.overlapping else keep_segments(known))
    counts: list[int] = []
    for number, _ in (each for each in known if each in kept):
        if rows.setdefault(number, len(rows)) == len(counts):
            counts.append(0)
        counts[rows[number]] += 1
    spots = _spots(tokens, known, [rows[each[0]] if each in kept else -1 for each in known])
    ids = list(rows)
    if has_extra:
        ids, counts = [*ids, len(vocabulary)], [*counts, 1]
    offsets = np.array([0, len(ids)], dtype=np.int64)
    return Read(Encoded(np.array(ids, dtype=np.int32), np.array(counts, dtype=np.int32), offsets), spots)


def _spots(tokens: list[Token], known: list[Known], rows: list[int]) -> Spots:
    """Where the known ones stand among the pieces, which are single words and marks."""
    pieces: list[Token] = []
    for token in tokens:  # of those that end together the word itself comes first
        if not pieces or token.end != pieces[-1].end:
            pieces.append(token)
    at_start = {token.start: piece for piece, token in enumerate(pieces)}
    at_end = {token.end: piece for piece, token in enumerate(pieces)}
    firsts = [at_start[token.start] + (token.surface in MARKS) for _, token in known]
    lasts = [at_end[token.end] for _, token in known]
    taken = {pieces[p].surface for first, last in zip(firsts, lasts, strict=True) for p in range(first, last + 1)}
    numbers: dict[str, int] = {}
    words = [
        numbers.setdefault(token.surface, len(numbers)) if token.surface in taken - set(MARKS) else -1
        for token in pieces
    ]
    return Spots(
        tokens=np.array([number for number, _ in known], dtype=np.int32),
        firsts=np.array(firsts, dtype=np.int32),
        lasts=np.array(lasts, dtype=np.int32),
        rows=np.array(rows, dtype=np.int32),
        begins=np.array([token.start for token in pieces], dtype=np.int64),
        ends=np.array([token.end for token in pieces], dtype=np.int64),
        words=np.array(words, dtype=np.int32),
    )
