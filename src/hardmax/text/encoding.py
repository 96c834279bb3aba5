"""Texts as the tokens that a vocabulary knows: ragged, distinct, with multiplicities, and as
modifiers change them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from hardmax._common.validation import check_str
from hardmax._kernels.compiling import interpreted
from hardmax._tokens.points import table_size
from hardmax.text._characters import CHARACTERS
from hardmax.text._kernels_pieces import Words, fill_table, find_pieces, make_pieces
from hardmax.text._kernels_tokens import (
    LAST_BIT,
    Found,
    Modifiers,
    Phrases,
    encode_texts,
    fill_pairs,
)
from hardmax.text._texts import TextBytes, encode_text, read_texts
from hardmax.text.reading import ANY, Reader
from hardmax.text.tokeniser import (
    Tokeniser,
    Word,
    cut_surface,
    cut_words,
    keep_segments,
    token_of,
)
from hardmax.text.vocabulary import Vocabulary

SHORT = 20_000  # characters: up to this length the definition is faster than loading kernels
NOT_READ = Reader()
_BYTES_AT_ONCE = 1 << 22  # so that what texts may need at most is little beside what they are


@dataclass(frozen=True, eq=False)
class Encoded:
    """Text t has the distinct tokens `ids[offsets[t]:offsets[t + 1]]`, each as often as `counts`
    says; its vote is multiplied by `factors`, and moved by `shifts`, means over its places.
    `attended` has a bit for each modifier that it attends to."""

    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    factors: np.ndarray  # float64
    shifts: np.ndarray  # float64
    offsets: np.ndarray  # int64
    attended: np.ndarray = field(default_factory=lambda: _NO_BITS)  # uint64

    def __len__(self) -> int:
        return len(self.offsets) - 1


_NONE = np.empty(0, np.int32)
_NO_BITS = np.empty(0, np.uint64)
_NOTHING = Encoded(_NONE, _NONE, np.empty(0), np.empty(0), np.zeros(1, np.int64))


def join_parts(parts: Sequence[Any]) -> Any:
    """The texts of all parts, at least one, one part after the other; they are all `Encoded`, or
    `Analysis`."""
    if len(parts) == 1:
        return parts[0]
    joined = {}
    for name in (part.name for part in fields(parts[0])):
        joined[name] = np.concatenate([getattr(part, name) for part in parts])
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    joined["offsets"] = np.append(0, np.cumsum(sizes))
    return type(parts[0])(**joined)


class Read(NamedTuple):
    """The known tokens of one text, and for each of them where it is, and what it attends to
    there."""

    encoded: Encoded
    places: list[np.ndarray]
    """Rows (start, end) of `text[start:end]`."""
    attended: list[np.ndarray]
    """Rows (start, end, number) of the modifier that it attends to, -1 where it attends to
    itself."""


def encode(
    texts: Any, vocabulary: Vocabulary, tokeniser: Tokeniser, reader: Reader = NOT_READ
) -> Encoded:
    """The known tokens of each text, in order of first appearance.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = encode(["Not good, not GOOD film.", "", "A film"], known, Tokeniser())
    >>> found.ids.tolist(), found.counts.tolist(), found.offsets.tolist()
    ([0, 2, 1, 1], [2, 2, 1, 1], [0, 3, 3, 4])
    """
    return join_parts(list(encode_parts(read_texts(texts), vocabulary, tokeniser, reader)))


def encode_parts(
    texts: TextBytes,
    vocabulary: Vocabulary,
    tokeniser: Tokeniser,
    reader: Reader,
    *,
    few: bool = False,
) -> Iterator[Encoded]:
    """`encode` in parts of a few megabytes.

    With `few`, texts that are not long are read without waiting for numba, by the definition.
    """
    with interpreted(encode_texts, if_small=few and len(texts.data) <= SHORT) as in_python:
        strings = texts.strings() if in_python else []
        read = [read_one(text, vocabulary, tokeniser, reader).encoded for text in strings]
    if in_python:
        yield join_parts([_NOTHING, *read])
        return
    lexicon, first = lexicon_of(vocabulary, reader), 0
    while first < len(texts) or not first:
        limit = texts.offsets[first] + _BYTES_AT_ONCE
        last = max(first + 1, int(np.searchsorted(texts.offsets, limit, side="right")) - 1)
        yield _encode_part(texts.part(first, last), lexicon, tokeniser)
        first = last


def find_known(
    text: str, vocabulary: Vocabulary, tokeniser: Tokeniser
) -> tuple[list[Word], list[tuple[int, int, int]]]:
    """The words of a text, and its known tokens that count: the number, first and last word of
    each."""
    words, known = cut_words(encode_text(text).decode()), []
    for first, last in tokeniser._places(words):
        number = vocabulary.index.get(token_of(words, first, last).surface)
        if number is not None:
            known.append((number, first, last))
    return words, known if tokeniser.overlapping else keep_segments(known)


def read_one(
    text: str, vocabulary: Vocabulary, tokeniser: Tokeniser, reader: Reader = NOT_READ
) -> Read:
    """The known tokens of one text, as `encode` finds them: the definition, without arrays for
    kernels and without compiling.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = read_one("Not good, not GOOD film.", known, Tokeniser())
    >>> found.encoded.ids.tolist(), found.places[1].tolist()
    ([0, 2, 1], [[0, 8], [10, 18]])
    """
    words, known = find_known(check_str(text, "`text`"), vocabulary, tokeniser)
    modifiers, attended = reader.attend(words)
    places: dict[int, list[tuple[int, int]]] = {}
    seen: dict[int, list[tuple[int, int, int]]] = {}
    for token, first, last in known:
        place = (-1, -1, -1)
        if attended[first] >= 0 and max(modifiers[first : last + 1]) < 0:
            modifier = words[attended[first]]
            place = modifier.start, modifier.end, modifiers[attended[first]]
        places.setdefault(token, []).append((words[first].start, words[last].end))
        seen.setdefault(token, []).append(place)
    changes = [(modifier.factor, modifier.shift) for modifier in reader.modifiers]
    changes.append((1.0, 0.0))  # that of -1
    sums, attending = np.zeros((len(seen), 2)), np.zeros(len(seen), np.uint64)
    for token, rows in enumerate(seen.values()):
        for _, _, number in rows:
            sums[token] += changes[number]
            if number >= 0:
                attending[token] |= np.uint64(1 << min(number, LAST_BIT))
    counts = np.array([len(rows) for rows in places.values()], dtype=np.int32)
    ids, bounds = np.array(list(places), dtype=np.int32), np.array([0, len(places)])
    factors, shifts = (sums / counts[:, None]).T.copy()
    encoded = Encoded(ids, counts, factors, shifts, bounds, attending)
    arrays = [list(map(np.array, rows.values())) for rows in (places, seen)]
    return Read(encoded, *arrays)


def cut_tokens(vocabulary: Vocabulary) -> tuple[list[str], np.ndarray]:
    """The words of all tokens, one token after the other, and how many words each token has."""
    spaced = [s if s.isascii() else " ".join(cut_surface(s)) for s in vocabulary.surfaces]
    words = " ".join(spaced).split(" ") if spaced else []
    return words, np.array([surface.count(" ") + 1 for surface in spaced], dtype=int)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """A vocabulary in the arrays that kernels read: a dictionary of words, and a tree of phrases
    above it.

    Nodes are the words of the vocabulary and of its phrases, and after them the beginnings of
    phrases, and phrases."""

    words: Words
    phrases: Phrases
    modifiers: Modifiers

    @classmethod
    def of(cls, vocabulary: Vocabulary, reader: Reader) -> "Lexicon":
        cut, sizes = cut_tokens(vocabulary)
        known = chain(cut, (m.word for m in reader.modifiers if not m.is_form))
        words = {word: number for number, word in enumerate(dict.fromkeys(known))}
        numbers = np.fromiter(map(words.__getitem__, cut), dtype=int, count=len(cut))
        starts = np.cumsum(sizes) - sizes
        nodes, count, levels = numbers[starts], len(words), [np.empty(0, dtype=int)]
        for length in range(1, int(sizes.max(initial=0))):
            (longer,) = np.nonzero(sizes > length)
            pairs = nodes[longer] << 32 | numbers[starts[longer] + length]
            level, places = np.unique(pairs, return_inverse=True)
            nodes[longer] = count + places
            count += len(level)
            levels.append(level)
        keys = np.concatenate(levels)
        slots = np.empty(table_size(len(keys)), dtype=np.int32)
        fill_pairs(slots, keys, len(keys))
        tokens = np.full(count, -1, dtype=np.int32)
        tokens[nodes] = np.arange(len(sizes))
        phrases = Phrases(slots, keys, tokens, len(vocabulary))
        return cls(_dictionary(words), phrases, modifier_arrays(reader, words))


_made: WeakKeyDictionary[Vocabulary, tuple[Reader, Lexicon]] = WeakKeyDictionary()


def lexicon_of(vocabulary: Vocabulary, reader: Reader = NOT_READ) -> Lexicon:
    """The arrays for a vocabulary, made once and kept as long as it: texts often come in many
    batches."""
    made = _made.get(vocabulary)
    if made is None or made[0] != reader:
        made = _made[vocabulary] = reader, Lexicon.of(vocabulary, reader)
    return made[1]


def modifier_arrays(reader: Reader, words: Iterable[str] = ()) -> Modifiers:
    """The modifiers of a reader as kernels read them, for a dictionary of these words."""
    modifiers = reader.modifiers
    forms = [number for number, modifier in enumerate(modifiers) if modifier.is_form]
    patterns = [modifiers[number].word for number in forms]
    spellings = [pattern.replace(ANY, "") for pattern in patterns]
    letters = "".join(spellings).encode("utf-32-le")
    return Modifiers(
        factors=np.array([modifier.factor for modifier in modifiers], dtype=float),
        shifts=np.array([modifier.shift for modifier in modifiers], dtype=float),
        strengths=np.array([modifier.strength for modifier in modifiers], dtype=float),
        of_word=np.array(reader.numbers_of(words), dtype=np.int32),
        letters=np.frombuffer(letters, dtype="<u4").astype(np.uint32),
        bounds=np.cumsum([0, *map(len, spellings)], dtype=int),
        is_ending=np.array([pattern.startswith(ANY) for pattern in patterns], dtype=bool),
        of_form=np.array(forms, dtype=np.int32),
        scope=reader.scope,
    )


def _dictionary(words: Iterable[str]) -> Words:
    """The words cut by the kernel itself, so that their hashes are those it will find in texts."""
    data = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    found = make_pieces.python(len(data))
    pieces = find_pieces(data, 0, len(data), CHARACTERS, found)
    starts = np.append(0, found.ends[:pieces])
    slots = np.empty(table_size(pieces), dtype=np.int32)
    fill_table(slots, found.keys[:pieces], pieces)
    return Words(slots, found.keys[:pieces].copy(), found.letters[: starts[-1]].copy(), starts)


def _encode_part(texts: TextBytes, lexicon: Lexicon, tokeniser: Tokeniser) -> Encoded:
    lengths = np.diff(texts.offsets)
    # A word takes two bytes, with what divides it from the next.
    most = (lengths + 1) // 2 * (tokeniser.longest_phrase if tokeniser.overlapping else 1)
    bases = np.append(0, np.cumsum(np.minimum(most, lexicon.phrases.tokens)))
    ids, counts = np.empty((2, bases[-1]), dtype=np.int32)
    factors, shifts = np.empty((2, bases[-1]))
    attended, sizes = np.empty(bases[-1], np.uint64), np.empty(len(texts), dtype=int)
    found = Found(bases, ids, counts, factors, shifts, attended, sizes)
    longest = int(lengths.max(initial=0))
    parts = CHARACTERS, lexicon.words, lexicon.phrases, lexicon.modifiers
    how = tokeniser.longest_phrase, tokeniser.overlapping
    encode_texts(texts.data, texts.offsets, longest, *parts, *how, found)
    offsets = np.concatenate([[0], np.cumsum(found.sizes)])
    # Without the room that was left between texts.
    used = np.repeat(bases[:-1] - offsets[:-1], found.sizes) + np.arange(offsets[-1])
    columns = ids[used], counts[used], factors[used], shifts[used]
    return Encoded(*columns, offsets, attended[used])
