"""A vocabulary in the arrays that kernels read: a dictionary of words, and a tree of phrases above it."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hardmax.text.tokens.characters import CHARACTERS
from hardmax.text.tokens.kernels.counting import fill_pairs
from hardmax.text.tokens.kernels.dictionary import Words, fill_table
from hardmax.text.tokens.kernels.encoding import Phrases
from hardmax.text.tokens.kernels.scanning import Pieces, find_pieces
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.tokens.kernels.merging import table_size


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Nodes are the words of a vocabulary and of its phrases, and after them the beginnings of phrases, and phrases."""

    words: Words
    phrases: Phrases

    @property
    def tokens(self) -> int:
        """How many there are."""
        return self.phrases.tokens

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Lexicon":
        """The arrays for a vocabulary."""
        words: dict[str, int] = {}
        for surface in vocabulary.surfaces:
            for word in surface.split(" "):
                words.setdefault(word, len(words))
        nodes: dict[int, int] = {}
        token_of_node: dict[int, int] = {}
        for token, surface in enumerate(vocabulary.surfaces):
            node, *rest = (words[word] for word in surface.split(" "))
            for word in rest:
                node = len(words) + nodes.setdefault(node << 32 | word, len(nodes))
            token_of_node[node] = token
        keys = np.fromiter(nodes, dtype=np.int64, count=len(nodes))
        slots = np.empty(table_size(len(keys)), dtype=np.int32)
        fill_pairs(slots, keys, len(keys))
        tokens = np.full(len(words) + len(keys), -1, dtype=np.int32)
        tokens[list(token_of_node)] = list(token_of_node.values())
        return cls(_dictionary(list(words)), Phrases(slots, keys, tokens, len(vocabulary)))


@lru_cache(maxsize=4)
def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The arrays for a vocabulary, made once: texts often come in many batches."""
    return Lexicon.of(vocabulary)


def _dictionary(words: list[str]) -> Words:
    """The words cut by the kernel itself, so that their hashes are those it will find in texts."""
    data = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    room = len(data)
    found = Pieces(np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64))
    pieces = find_pieces(data, 0, room, CHARACTERS, found)
    starts = np.concatenate([[0], found.ends[:pieces]])
    slots = np.empty(table_size(pieces), dtype=np.int32)
    fill_table(slots, found.keys[:pieces], pieces)
    return Words(slots, found.keys[:pieces].copy(), found.letters[: starts[-1]].copy(), starts)
