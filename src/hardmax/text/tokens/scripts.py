"""Scripts that are written without spaces, and emoji: what stands for itself, and what belongs to the one before.

Of Chinese and Japanese each character is a word, but loan words in katakana are runs of letters; of Thai, Lao, Khmer
and Burmese a consonant with its vowels and tones is; Tibetan marks its syllables itself. Digits are runs everywhere.
"""

from hardmax.text.tokens.kernels.kinds import FLAG, JOINER, LEAD, SENTENCE_END, SEPARATOR, SIGN, SOLO

# First and last character of each range; a later one wins over an earlier one.
WITHOUT_SPACES = {
    SOLO: (
        (0xE01, 0xE2F),  # Thai
        (0xE46, 0xE46),
        (0xE81, 0xEAF),  # Lao
        (0xEBD, 0xEBD),
        (0xEC6, 0xEC6),
        (0xEDC, 0xEDF),
        (0x1000, 0x102A),  # Burmese
        (0x103F, 0x103F),
        (0x104C, 0x1055),
        (0x105A, 0x108F),
        (0x109A, 0x109F),
        (0x1780, 0x17B3),  # Khmer
        (0x17D7, 0x17D7),
        (0x17DC, 0x17DC),
        (0x2600, 0x27BF),  # ☀ … ❤ … ➿
        (0x2B00, 0x2BFF),  # ⭐
        (0x2E80, 0x2FDF),  # radicals of Chinese characters
        (0x3005, 0x3007),  # 々 〆 〇
        (0x3021, 0x3029),
        (0x3031, 0x3035),
        (0x3038, 0x303C),
        (0x3041, 0x3096),  # hiragana
        (0x309D, 0x309F),
        (0x3105, 0x312F),  # bopomofo
        (0x31A0, 0x31BF),
        (0x3400, 0x4DBF),  # Chinese characters
        (0x4E00, 0x9FFF),
        (0xA000, 0xA4CF),  # Yi
        (0xA9E0, 0xA9EF),  # Burmese, extended
        (0xA9FA, 0xA9FF),
        (0xAA60, 0xAA7A),
        (0xAA7E, 0xAA7F),
        (0xF900, 0xFAFF),  # Chinese characters for compatibility
        (0x17000, 0x18D7F),  # Tangut, Khitan
        (0x1B001, 0x1B11F),  # old hiragana
        (0x1B170, 0x1B2FF),  # Nüshu
        (0x1F000, 0x1FAFF),  # emoji
        (0x20000, 0x3FFFD),  # Chinese characters, rarer
    ),
    SIGN: (
        (0x300, 0x36F),  # accents on the character before
        (0xE30, 0xE3A),  # Thai
        (0xE45, 0xE45),
        (0xE47, 0xE4E),
        (0xEB0, 0xEBC),  # Lao
        (0xEC8, 0xECE),
        (0x102B, 0x103E),  # Burmese
        (0x1056, 0x1059),
        (0x105E, 0x1060),
        (0x1062, 0x1064),
        (0x1067, 0x106D),
        (0x1071, 0x1074),
        (0x1082, 0x108D),
        (0x108F, 0x108F),
        (0x109A, 0x109D),
        (0x17B4, 0x17D3),  # Khmer
        (0x17DD, 0x17DD),
        (0x200C, 0x200C),  # the non-joiner
        (0x20D0, 0x20F0),  # around the character before, as in 1️⃣
        (0x302A, 0x302F),  # tones of Chinese
        (0x3099, 0x309C),  # voice in hiragana
        (0x30FC, 0x30FC),  # ー, which lengthens hiragana and is a letter of katakana
        (0xA9E5, 0xA9E5),
        (0xAA7B, 0xAA7D),
        (0xFE00, 0xFE0F),  # variants of the character before
        (0x1F3FB, 0x1F3FF),  # skin tones
        (0xE0020, 0xE007F),  # regions, in flags
        (0xE0100, 0xE01EF),
    ),
    JOINER: ((0x200D, 0x200D), (0x1039, 0x1039), (0x17D2, 0x17D2)),
    LEAD: ((0xE40, 0xE44), (0xEC0, 0xEC4)),  # vowels that are written before their consonant
    FLAG: ((0x1F1E6, 0x1F1FF),),  # 🇩🇪 is two of them
    SEPARATOR: (
        (0xE3F, 0xE3F),  # Thai
        (0xE4F, 0xE4F),
        (0xE5A, 0xE5B),
        (0xF01, 0xF0C),  # Tibetan, with what ends a syllable
        (0xF3A, 0xF3D),
        (0x104A, 0x104A),  # Burmese
        (0x17D9, 0x17DB),  # Khmer
    ),
    SENTENCE_END: ((0xF0D, 0xF12), (0xF14, 0xF14), (0x104B, 0x104B), (0x17D4, 0x17D6), (0x17D8, 0x17D8)),
}
