"""What each character is to the tokeniser: the definition that people's Python and the byte kernel share.

Outside ASCII everything is part of a word, except for the punctuation listed here: so every language passes, and the
definition does not change with the Unicode tables of a Python version. Where scripts are split, characters of scripts
without spaces and emoji are words of their own (`hardmax.text.tokens.scripts`). Lower-casing is character by
character, for the Latin, Greek, Cyrillic and Armenian letters; it never changes how many characters a text has.
"""

import numpy as np

from hardmax.text.tokens.kernels.kinds import APOSTROPHE, LETTER, MARK, SENTENCE_END, SEPARATOR, TAG_START
from hardmax.text.tokens.scripts import WITHOUT_SPACES

REPLACEMENT = "\ufffd"
MARKS = "!?"
OTHER_MARKS = {"\uff01": "!", "\uff1f": "?", "\u061f": "?"}  # in full width, and the Arabic one: the same to us
APOSTROPHES = "'\u2019"
ENDS = ".!?;:\u2026\u037e\u061b\u061f\u06d4\u0964\u0965\u3002\uff01\uff0e\uff1a\uff1b\uff1f"

# First and last character of each range; ASCII is told apart by `str.isalnum`.
_PUNCTUATION = (
    (0x80, 0xA9),  # controls, no-break space, ¡ ¢ £ … ©
    (0xAB, 0xB1),  # « ¬ ­ ® ¯ ° ±
    (0xB4, 0xB4),  # ´
    (0xB6, 0xB8),  # ¶ · ¸
    (0xBB, 0xBB),  # »
    (0xBF, 0xBF),  # ¿
    (0xD7, 0xD7),  # ×
    (0xF7, 0xF7),  # ÷
    (0x37E, 0x37E),  # the Greek question mark
    (0x387, 0x387),
    (0x55A, 0x55F),  # Armenian
    (0x5BE, 0x5BE),  # the Hebrew hyphen
    (0x60C, 0x60C),  # Arabic
    (0x61B, 0x61B),
    (0x61F, 0x61F),
    (0x66A, 0x66D),
    (0x6D4, 0x6D4),
    (0x964, 0x965),  # Devanagari
    (0x2000, 0x200B),  # spaces; the joiners after them stand inside Persian and Indic words
    (0x200E, 0x206F),  # – — “ ” ‘ … and marks of direction
    (0x20A0, 0x20CF),  # currencies
    (0x2190, 0x25FF),  # arrows, mathematics, boxes
    (0x2E00, 0x2E7F),
    (0x3000, 0x3003),  # Chinese, Japanese, Korean
    (0x3008, 0x301F),
    (0x30FB, 0x30FB),
    (0xD800, 0xDFFF),  # surrogates that stand alone
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE6F),
    (0xFEFF, 0xFEFF),
    (0xFF01, 0xFF0F),  # the same in full width
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF65),
    (0xFFF9, 0xFFFF),  # the replacement character among them
)
_LOWERED = (range(0x41, 0x5B), range(0x80, 0x590), range(0x1E00, 0x2000))


def _make_classes() -> np.ndarray:
    classes = np.full(0x10000, LETTER, dtype=np.uint8)
    for code in range(0x80):
        classes[code] = LETTER if chr(code).isalnum() else SEPARATOR
    for first, last in _PUNCTUATION:
        classes[first : last + 1] = SEPARATOR
    for characters, kind in (
        (ENDS, SENTENCE_END),
        ((*MARKS, *OTHER_MARKS), MARK),
        (APOSTROPHES, APOSTROPHE),
        ("<", TAG_START),
    ):
        classes[[ord(character) for character in characters]] = kind
    return classes


def split_classes() -> np.ndarray:
    """The classes of every character, where scripts without spaces are split."""
    classes = np.full(0x110000, LETTER, dtype=np.uint8)
    classes[: len(CLASSES)] = CLASSES
    for kind, blocks in WITHOUT_SPACES.items():
        for first, last in blocks:
            classes[first : last + 1] = kind
    return classes


def _make_lowered() -> np.ndarray:
    lowered = np.arange(0x2000, dtype=np.uint32)
    for code in (code for block in _LOWERED for code in block):
        lower = chr(code).lower()
        if len(lower) == 1:
            lowered[code] = ord(lower)
    return lowered


CLASSES = _make_classes()  # of every character below 0x10000; all beyond are letters
LOWERED = _make_lowered()  # of every character below 0x2000; all beyond stay as they are

_PLAINER = {ord(mark): plain for mark, plain in OTHER_MARKS.items()} | {0x2019: "'"}
_TRANSLATION = {code: low for code, low in enumerate(LOWERED.tolist()) if code != low} | _PLAINER


def fold(text: str) -> str:
    """The text in lower case, with plain apostrophes and marks, character for character.

    >>> fold("Don’t MISS Ödön’s film")
    "don't miss ödön's film"
    """
    return text.translate(_TRANSLATION)


def codes_of(text: str) -> np.ndarray:
    """The number of each character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def are_folded(text: str) -> bool:
    """Whether `fold` would change nothing: sooner found out than done."""
    return not _UNFOLDED[np.minimum(codes_of(text), len(_UNFOLDED) - 1)].any()


_UNFOLDED = np.zeros(0x10000, dtype=bool)  # the last of these is no character, and stands for all beyond
_UNFOLDED[list(_TRANSLATION)] = True
