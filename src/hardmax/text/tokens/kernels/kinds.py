"""What the tokeniser's definition and its kernel agree on: the kinds of characters, and how long a tag may be.

Those from LETTER on make words. SIGN and JOINER belong to the word before them, and are letters where there is none;
SOLO is a word of its own, and so are LEAD with the SOLO after it, a pair of FLAGs, and what a JOINER joins.
"""

SEPARATOR, APOSTROPHE, SENTENCE_END, MARK, TAG_START, LETTER, SIGN, JOINER, SOLO, LEAD, FLAG = range(11)

LONGEST_TAG = 200  # characters between the first letter and `>`
