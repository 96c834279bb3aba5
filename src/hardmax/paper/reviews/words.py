"""The words of a cleaned review, as NLTK's word tokenizer gives them where no punctuation is left.

Of its rules (those of the Penn Treebank) all but six need an apostrophe, a quote or another sign. What is left cuts
these six words in two, in capitals or not.
"""

import re

_TWO_WORDS = re.compile(
    r"\b(?:can(?=not\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|wan(?=na\s))", re.IGNORECASE
)


def split_words(text: str) -> list[str]:
    """The words of a review without punctuation.

    >>> split_words("I cannot wait Gonna see it")
    ['I', 'can', 'not', 'wait', 'Gon', 'na', 'see', 'it']
    """
    return _TWO_WORDS.sub(r"\g<0> ", text + " ").split()
