"""What each character is to the tokeniser: the tables that its definition and its kernels share.

Outside ASCII everything is part of a word, except for the punctuation listed here: so every
language passes, and the definition does not change with the Unicode tables of a Python version.
Characters of scripts without spaces, and emoji, are words of their own: of Chinese and Japanese
each character, but loan words in katakana are runs of letters; of Thai, Lao, Khmer and Burmese a
consonant with its vowels and tones; Tibetan marks its syllables itself. Digits are runs everywhere.
Lower-casing is character by character, for the Latin, Greek, Cyrillic and Armenian letters: it
never changes how many characters a text has. Of a letter that is stretched, as in "sooo", two
stay."""

import re
from functools import lru_cache

import numpy as np

from hardmax.text._kernels_pieces import (
    APOSTROPHE,
    CLAUSE_END,
    FLAG,
    JOINER,
    LEAD,
    LETTER,
    MARK,
    MOUTHS,
    SEPARATOR,
    SIGN,
    SOLO,
    TAG_START,
    Characters,
)

REPLACEMENT = "\ufffd"
APOSTROPHES, MARKS = "'\u2019", ".,-"
# Eyes and a mouth, which may be repeated, with or without a nose; or a heart.
EMOTICON = f"(?:[:;=][-']?(?=[{re.escape(bytes(MOUTHS).decode())}])|<(?=3))(?P<mouth>.)(?P=mouth)*"
_ENDS = '!?;:()[]{}"\u2026\u037e\u061b\u061f\u06d4\u0964\u0965\u3002\uff01\uff0e\uff1a\uff1b\uff1f'
# Commas, dashes and brackets end a clause.
_ENDS += "\xab\xbb\u2013\u2014\u201c\u201d\u201e\u060c\u3001"
_ENDS += "\uff0c\uff08\uff09\u300a\u300b\u300c\u300d\u3010\u3011"

# Ranges of characters, in hexadecimal, and what they are; a later table wins over an earlier one.
_PUNCTUATION = """
80-A9 AB-B1 B4 B6-B8 BB BF D7 F7      controls, no-break space, Latin punctuation such as ¡ « ¿ ×
37E 387 55A-55F 5BE                   Greek, Armenian, the Hebrew hyphen
60C 61B 61F 66A-66D 6D4 964-965       Arabic, Devanagari
2000-200B 200E-206F 20A0-20CF         spaces, – — “ ” ‘ …, directions, currencies; not joiners
2190-25FF 2E00-2E7F                   arrows, mathematics, boxes
3000-3003 3008-301F 30FB              Chinese, Japanese, Korean
D800-DFFF                             surrogates on their own
FE10-FE1F FE30-FE6F FEFF
FF01-FF0F FF1A-FF20 FF3B-FF40 FF5B-FF65  full width
FFF9-FFFF                             the replacement character among them
"""
_SOLO = """
E01-E2F E46                           Thai
E81-EAF EBD EC6 EDC-EDF               Lao
1000-102A 103F 104C-1055 105A-108F 109A-109F A9E0-A9EF A9FA-A9FF AA60-AA7A AA7E-AA7F  Burmese
1780-17B3 17D7 17DC                   Khmer
2600-27BF 2B00-2BFF 1F000-1FAFF       emoji
22EF                                  ⋯, which stands for a word that was taken out
2E80-2FDF 3005-3007 3021-3029 3031-3035 3038-303C  Chinese characters
3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD
3041-3096 309D-309F 1B001-1B11F       hiragana
3105-312F 31A0-31BF                   bopomofo
A000-A4CF 17000-18D7F 1B170-1B2FF     Yi, Tangut, Khitan, Nüshu
"""
_SIGN = """
300-36F 20D0-20F0 FE00-FE0F           accents, frames as in 1️⃣, variants
E30-E3A E45 E47-E4E                   Thai
EB0-EBC EC8-ECE                       Lao
102B-103E 1056-1059 105E-1060 1062-1064 1067-106D  Burmese
1071-1074 1082-108D 108F 109A-109D A9E5 AA7B-AA7D
17B4-17D3 17DD                        Khmer
200C                                  the non-joiner
302A-302F 3099-309C 30FC              tones of Chinese, voice in hiragana, ー
1F3FB-1F3FF E0020-E007F E0100-E01EF   skin tones, regions in flags, variants
"""
_TABLES = (
    (SEPARATOR, _PUNCTUATION),
    (SOLO, _SOLO),
    (SIGN, _SIGN),
    (JOINER, "200D 1039 17D2"),
    (LEAD, "E40-E44 EC0-EC4 vowels that are written before their consonant"),
    (FLAG, "1F1E6-1F1FF 🇩🇪 is two of them"),
    (SEPARATOR, "E3F E4F E5A-E5B F01-F0C F3A-F3D 104A 17D9-17DB Thai, Tibetan, Burmese, Khmer"),
    (CLAUSE_END, "F0D-F12 F14 104B 17D4-17D6 17D8 Tibetan, Burmese, Khmer"),
)
# Numbers are never stretched: 1000.
_DIGITS = """
30-39 660-669 6F0-6F9 966-96F 9E6-9EF A66-A6F AE6-AEF B66-B6F BE6-BEF C66-C6F CE6-CEF D66-D6F
E50-E59 ED0-ED9 F20-F29 1040-1049 17E0-17E9 FF10-FF19
"""


def _ranges(table: str) -> list[tuple[int, int]]:
    ranges = []
    for line in table.splitlines():
        for cell in line.split():
            first, _, last = cell.partition("-")
            try:
                ranges.append((int(first, 16), int(last or first, 16)))
            except ValueError:  # from here on the line is a remark
                break
    return ranges


def _make_classes() -> np.ndarray:
    classes = np.full(0x110000, LETTER, dtype=np.uint8)
    classes[:0x80] = [LETTER if chr(code).isalnum() else SEPARATOR for code in range(0x80)]
    for kind, table in _TABLES:
        for first, last in _ranges(table):
            classes[first : last + 1] = kind
    members = {CLAUSE_END: _ENDS, APOSTROPHE: APOSTROPHES, MARK: MARKS, TAG_START: "<"}
    for kind, characters in members.items():
        classes[list(map(ord, characters))] = kind
    return classes


def _make_lowered() -> np.ndarray:
    lowered = np.arange(0x2000, dtype=np.uint32)
    for code in (*range(0x41, 0x5B), *range(0x80, 0x590), *range(0x1E00, 0x2000)):
        lower = chr(code).lower()
        if len(lower) == 1:
            lowered[code] = ord(lower)
    return lowered


def _make_stretching(classes: np.ndarray) -> np.ndarray:
    stretching = classes == LETTER
    for first, last in _ranges(_DIGITS):
        stretching[first : last + 1] = False
    return stretching


_CLASSES = _make_classes()
CHARACTERS = Characters(_CLASSES, _make_lowered(), _make_stretching(_CLASSES))
_RUN, _EMOTICON = re.compile(r"(.)\1\1+"), re.compile(EMOTICON)
_FOLDED: dict[int, int | str] = {0x2019: "'"}
_FOLDED |= {code: low for code, low in enumerate(CHARACTERS.lowered.tolist()) if code != low}


@lru_cache(4096)
def fold(word: str) -> str:
    """A word as models know it: in lower case, with plain apostrophes; a letter that stands more
    than twice in a row stands twice, or three times if there is no other; an emoticon has no nose
    and one mouth.

    >>> [fold(word) for word in ("Don’t", "SOOOO", "wwww", "1000", ":-)))")]
    ["don't", 'soo', 'www', '1000', ':)']
    """
    folded = word.translate(_FOLDED)
    if _EMOTICON.fullmatch(folded):
        return folded[0] + folded[-1]
    return _RUN.sub(_shorten, folded)


def _shorten(run: re.Match[str]) -> str:
    letter, is_all = run[1], run[0] == run.string
    return letter * (2 + is_all) if CHARACTERS.stretching[ord(letter)] else run[0]
