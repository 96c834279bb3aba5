"""A vocabulary in the arrays that kernels read: a dictionary of words, and a tree of phrases above it."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hardmax.text.tokens.characters import CLASSES, LOWERED
from hardmax.text.tokens.kernels.counting import fill_pairs
from hardmax.text.tokens.kernels.dictionary import fill_table
from hardmax.text.tokens.kernels.scanning import find_pieces
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.tokens.kernels.merging import table_size


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Nodes are the words of the vocabulary and of its phrases, and after them the beginnings of phrases and phrases.

    `token_of_node` is the token that a node stands for, or -1. The phrase node p leads from the node `keys[p] >> 32`
    through the word `keys[p] & 0xffffffff`; it comes after all words, at `words + p`.
    """

    table: np.ndarray  # words by hash
    word_keys: np.ndarray
    spellings: np.ndarray
    starts: np.ndarray
    token_of_node: np.ndarray
    phrases: np.ndarray  # phrase nodes by hash
    phrase_keys: np.ndarray
    tokens: int

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
        phrases = np.empty(table_size(len(keys)), dtype=np.int32)
        fill_pairs(phrases, keys, len(keys))
        tokens = np.full(len(words) + len(keys), -1, dtype=np.int32)
        tokens[list(token_of_node)] = list(token_of_node.values())
        return cls(*_dictionary(list(words)), tokens, phrases, keys, len(vocabulary))


@lru_cache(maxsize=4)
def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The arrays for a vocabulary, made once: texts often come in many batches."""
    return Lexicon.of(vocabulary)


def _dictionary(words: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The words cut by the kernel itself, so that their hashes are those it will find in texts."""
    data = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    letters, ends = np.empty(len(data), dtype=np.uint32), np.empty(len(data), dtype=np.int64)
    hashes = np.empty(len(data), dtype=np.uint64)
    pieces = find_pieces(data, 0, len(data), CLASSES, LOWERED, letters, ends, hashes)
    starts = np.concatenate([[0], ends[:pieces]])
    table = np.empty(table_size(pieces), dtype=np.int32)
    fill_table(table, hashes[:pieces], pieces)
    return table, hashes[:pieces].copy(), letters[: starts[-1]].copy(), starts
