"""The words that the byte kernel finds, and those of the reference, in one form."""

from itertools import pairwise

import numpy as np

from hardmax.text.tokens.kernels.counting import EXCLAMATION, QUESTION, number_words
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser


def kernel_words(texts, tokeniser: Tokeniser) -> list[list[str]]:
    """For each text its words and marks, as the kernel spells them."""
    found = read_texts(texts)
    longest = int(np.diff(found.offsets).max(initial=0))
    stream, ends, spellings, starts = number_words(
        found.data, found.offsets, longest, tokeniser.alphabet.characters, tokeniser.across_sentences
    )
    words = ["".join(map(chr, spellings[a:b])) for a, b in pairwise(starts)]
    assert len(set(words)) == len(words)
    spell = dict(enumerate(words)) | ({EXCLAMATION: "!", QUESTION: "?"} if tokeniser.marks else {})
    return [[spell[number] for number in stream[a:b].tolist() if number in spell] for a, b in pairwise(ends)]


def reference_words(texts: list[str], tokeniser: Tokeniser) -> list[list[str]]:
    """The same from the definition."""
    single = Tokeniser(longest_phrase=1, marks=tokeniser.marks, split_scripts=tokeniser.split_scripts)
    return [[token.surface for token in single.tokens(text)] for text in texts]
