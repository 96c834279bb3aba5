"""Names for the rows of the authors' embedding. Their list of words was not published.

A model reads a text in lower case, word by word. A row is given a name that can be found in a text only where that is
the same word to the authors: one that is in their list just as the tokeniser yields it. All other rows are named such
that no text has them, since with `longest_phrase=1` a name of several words is never found:

    row 17          a row whose word is not known
    row 4 the       "The", which is not "the": the authors' words keep their capitals, and stop words in lower case are
                    left out before
    row 0 pad       what fills a review up to its length: not a word
"""

from collections.abc import Sequence
from pathlib import Path

from hardmax._files import decode, read_bytes, shown_name
from hardmax._validation import InputError, check_path, shorten
from hardmax.text.tokeniser import Tokeniser

PAD = 0
TOKENISER = Tokeniser(longest_phrase=1)
LARGEST_LIST = 64 * 2**20  # bytes
WISH = "expected one word a line, in the order of the rows, PAD first"


def read_words(path: str | Path, rows: int) -> list[str]:
    """The word of each row from a file: a line each, the first for PAD, an empty one where the word is not known."""
    name = shown_name(path)
    text = decode(read_bytes(check_path(path, "`words`"), WISH, at_most=LARGEST_LIST), name, WISH)
    words = [line.strip() for line in text.removesuffix("\n").split("\n")]
    if len(words) != rows:
        raise InputError(f"{name} has {len(words):,} lines, and the embedding {rows:,} rows: {WISH}.")
    first: dict[str, int] = {}
    for line, word in enumerate(words, 1):
        if word and first.setdefault(word, line) != line:
            raise InputError(f"{name} has {shorten(word)} in lines {first[word]} and {line}: expected each word once.")
    return words


def name_rows(rows: int, words: Sequence[str] | None = None) -> list[str]:
    """The token of each row.

    >>> name_rows(3)
    ['row 0 pad', 'row 1', 'row 2']
    >>> name_rows(5, ["PAD", "I", "movie", "", "The"])
    ['row 0 pad', 'row 1 i', 'movie', 'row 3', 'row 4 the']
    """
    named = [""] * rows if words is None else words
    return [f"row {PAD} pad", *(_token(row, named[row]) for row in range(1, rows))]


def is_word(token: str) -> bool:
    """Whether a token can be found in a text."""
    return " " not in token


def _token(row: int, word: str) -> str:
    found = [token.surface for token in TOKENISER.tokens(word)]
    if found == [word]:
        return word
    # What is no single word to the tokeniser has no spelling that a token may have.
    return f"row {row} {found[0]}" if len(found) == 1 else f"row {row}"
