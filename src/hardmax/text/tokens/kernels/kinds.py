"""What the tokeniser's definition and its kernel agree on: the kinds of characters, and how long a tag may be."""

SEPARATOR, LETTER, APOSTROPHE, SENTENCE_END, MARK, TAG_START = range(6)

LONGEST_TAG = 200  # characters between the first letter and `>`
