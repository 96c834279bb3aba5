"""A vocabulary in the arrays that kernels read: a dictionary of words, and a tree of phrases above it."""

from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from hardmax._tokens.points import table_size
from hardmax.text.tokens.alphabets import Alphabet
from hardmax.text.tokens.kernels.counting import fill_pairs
from hardmax.text.tokens.kernels.dictionary import Words, fill_table
from hardmax.text.tokens.kernels.finding import Phrases, make_hints
from hardmax.text.tokens.kernels.scanning import Characters, Pieces, find_pieces
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

_SLOTS_A_HINT = 16  # four bits a slot, so that at most one pair in eight is looked up for nothing


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Nodes are the words of a vocabulary and of its phrases, and after them the beginnings of phrases, and phrases."""

    characters: Characters
    words: Words
    phrases: Phrases

    @property
    def tokens(self) -> int:
        """How many there are."""
        return self.phrases.tokens

    @classmethod
    def of(cls, vocabulary: Vocabulary, alphabet: Alphabet) -> "Lexicon":
        """The arrays for a vocabulary. Tokens that stand in no text have no node."""
        cut = [alphabet.cut(surface) for surface in vocabulary.surfaces]
        words: dict[str, int] = {}
        for word in chain.from_iterable(cut):
            words.setdefault(word, len(words))
        nodes: dict[int, int] = {}
        token_of_node: dict[int, int] = {}
        for token, (first, *rest) in ((token, parts) for token, parts in enumerate(cut) if parts):
            node = words[first]
            for word in rest:
                node = len(words) + nodes.setdefault(node << 32 | words[word], len(nodes))
            token_of_node[node] = token
        keys = np.fromiter(nodes, dtype=np.int64, count=len(nodes))
        slots = np.empty(table_size(len(keys)), dtype=np.int32)
        fill_pairs(slots, keys, len(keys))
        tokens = np.full(len(words) + len(keys), -1, dtype=np.int32)
        tokens[list(token_of_node)] = list(token_of_node.values())
        hints = np.empty(max(1, len(slots) // _SLOTS_A_HINT), dtype=np.uint64)
        make_hints(keys, hints)
        phrases = Phrases(slots, keys, tokens, len(vocabulary), hints)
        return cls(alphabet.characters, _dictionary(list(words), alphabet.characters), phrases)


_made: WeakKeyDictionary[Vocabulary, dict[Alphabet, Lexicon]] = WeakKeyDictionary()


def lexicon_of(vocabulary: Vocabulary, tokeniser: Tokeniser) -> Lexicon:
    """The arrays for a vocabulary, made once and kept as long as it: texts often come in many batches."""
    made, alphabet = _made.setdefault(vocabulary, {}), tokeniser.alphabet
    if alphabet not in made:
        made[alphabet] = Lexicon.of(vocabulary, alphabet)
    return made[alphabet]


def _dictionary(words: list[str], characters: Characters) -> Words:
    """The words cut by the kernel itself, so that their hashes are those it will find in texts."""
    data = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    room = len(data)
    found = Pieces(np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64))
    pieces = find_pieces(data, 0, room, characters, found)
    starts = np.concatenate([[0], found.ends[:pieces]])
    slots = np.empty(table_size(pieces), dtype=np.int32)
    fill_table(slots, found.keys[:pieces], pieces)
    return Words(slots, found.keys[:pieces].copy(), found.letters[: starts[-1]].copy(), starts)
