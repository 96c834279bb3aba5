"""Each place of a text counts once: a text is cut into segments, the definition."""

from hardmax.text.tokens.characters import MARKS
from hardmax.text.tokens.tokeniser import Token

Known = tuple[int, Token]  # its number in the vocabulary, and where it stands


def keep_segments(found: list[Known]) -> list[Known]:
    """Those of the known tokens of a text that are its segments, in their order.

    Tokens are taken in the order of the vocabulary, each from left to right, if none of their words is taken yet.
    Marks are words of their own: a phrase that reaches across one does not take it.

    >>> found = enumerate([Token("worst film", 7, 17), Token("the", 3, 6), Token("the worst", 3, 12)])
    >>> [token.surface for _, token in keep_segments(list(found))]
    ['worst film', 'the']
    """
    taken = bytearray(max((token.end for _, token in found), default=0))
    kept = []
    for place, (number, token) in sorted(enumerate(found), key=lambda known: (known[1][0], known[0])):
        if token.surface not in MARKS:
            # Phrases are consecutive words: they share a character exactly if they share a word.
            if taken.find(1, token.start, token.end) >= 0:
                continue
            taken[token.start : token.end] = b"\1" * (token.end - token.start)
        kept.append((place, (number, token)))
    return [known for _, known in sorted(kept)]
