import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from text.drawing import SOLOS, texts, tokenisers
from text.reviews import reviews
from text.spelling import kernel_words, reference_words

from hardmax._validation import InputError
from hardmax.text.tokens.characters import are_folded, fold
from hardmax.text.tokens.tokeniser import Token, Tokeniser


def surfaces(text: str, **options) -> list[str]:
    return [token.surface for token in Tokeniser(**options).tokens(text)]


def test_a_word_keeps_its_apostrophe_and_loses_its_capitals():
    assert surfaces("DON'T it’s rock'n'roll 'tis dogs' 80's", longest_phrase=1) == [
        "don't", "it's", "rock'n'roll", "tis", "dogs", "80's",
    ]  # fmt: skip


def test_tags_separate_words_and_sentences_and_yield_nothing():
    assert surfaces("so<br /><br />bad</p> film") == ["so", "bad", "film"]


def test_what_is_no_tag_is_text():
    assert surfaces("a <3 b < c <b", longest_phrase=1) == ["a", "3", "b", "c", "b"]
    assert surfaces(f"<a {'x' * 300}>", longest_phrase=1) == ["a", "x" * 300]


def test_phrases_stop_at_the_end_of_a_sentence_unless_asked_otherwise():
    assert surfaces("not good. avoid, please") == ["not", "good", "not good", "avoid", "please", "avoid please"]
    assert "good avoid" in surfaces("not good. avoid", across_sentences=True)
    assert "not good avoid" in surfaces("not good avoid", longest_phrase=3)


def test_marks_are_tokens_when_asked_for_and_part_of_no_phrase():
    assert surfaces("bad!? so") == ["bad", "so"]
    assert surfaces("bad!? so", marks=True) == ["bad", "!", "?", "so"]
    assert surfaces("bad!? so", marks=True, across_sentences=True) == ["bad", "!", "?", "so", "bad so"]


def test_marks_in_full_width_and_of_arabic_are_the_plain_ones():
    for split in (True, False):
        asked = Tokeniser(longest_phrase=1, marks=True, split_scripts=split)
        text = "bad！ so？؟!?"
        assert asked.tokens(text)[1:3] == [Token("!", 3, 4), Token("so", 5, 7)]
        assert (
            kernel_words([text], asked) == [[t.surface for t in asked.tokens(text)]] == [["bad", *"!", "so", *"??!?"]]
        )
    assert surfaces("好！好", across_sentences=True) == ["好", "好", "好好"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("这家iPhone店不错，3台", ["这", "家", "iphone", "店", "不", "错", "3", "台"]),
        ("𠀀々豈", ["𠀀", "々", "豈"]),
        ("ひらがなとカタカナらーめん", [*"ひらがなと", "カタカナ", "らー", "め", "ん"]),
        ("เก่ามาก ๑๒", ["เก่า", "มา", "ก", "๑๒"]),
        ("ສະບາຍ", ["ສະ", "ບາ", "ຍ"]),
        ("ស្រីល្អ។", ["ស្រី", "ល្អ"]),
        ("က္ကကောင်း။", ["က္က", "ကော", "င်း"]),
        ("བོད་ཡིག།", ["བོད", "ཡིག"]),
        ("ㄅㄆ", ["ㄅ", "ㄆ"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("gut😀😀#toll❤️ok", ["gut", "😀", "😀", "toll", "❤️", "ok"]),
        ("👍🏽👩\u200d👧\u200d👦👍", ["👍🏽", "👩\u200d👧\u200d👦", "👍"]),
        ("🇩🇪🇫🇷🇮", ["🇩🇪", "🇫🇷", "🇮"]),
        ("1️⃣ می\u200cخواهم क्\u200dष", ["1️⃣", "می\u200cخواهم", "क्\u200dष"]),
        ("\u0e31\u0301ก a'中'b", ["\u0e31\u0301", "ก", "a", "中", "b"]),
    ],
)
def test_scripts_without_spaces_and_emoji_are_words_of_their_own(text, words):
    assert surfaces(text, longest_phrase=1) == words
    assert kernel_words([text], Tokeniser()) == [words]


def test_without_splitting_they_are_letters_as_in_version_0_1():
    assert surfaces("这家iPhone店，gut😀😀 བོད་ཡིག།", longest_phrase=1, split_scripts=False) == [
        "这家iphone店", "gut😀😀", "བོད་ཡིག།",
    ]  # fmt: skip


def test_a_phrase_has_no_space_between_words_of_their_own_unless_they_would_become_one():
    assert surfaces("不 好iPhone") == ["不", "好", "不好", "iphone", "好 iphone"]
    assert surfaces("👩\u200d 👧") == ["👩\u200d", "👧", "👩\u200d 👧"]
    assert surfaces("🇩 🇪") == ["🇩", "🇪", "🇩 🇪"]
    assert surfaces("เ ก") == ["เ", "ก", "เ ก"]


@given(texts, tokenisers)
def test_every_token_stands_where_it_says(text, tokeniser):
    single = replace(tokeniser, longest_phrase=1, marks=True)
    for surface, start, end in tokeniser.tokens(text):
        assert 0 <= start < end <= len(text)
        words = [
            word.surface for word in single.tokens(text[start:end]) if len(surface) == 1 or word.surface not in "!?"
        ]
        assert tokeniser.alphabet.join(words) == surface
        assert tokeniser.alphabet.cut(surface) == words
        if len(words) == 1:
            assert single.tokens(text[start:end]) == [Token(surface, 0, end - start)]


@given(st.text(st.characters(max_codepoint=0x7F)), st.booleans())
@example("<b>Don't!</b> 1+1=2? '' a'b", True)
def test_a_text_in_ascii_has_the_pieces_that_it_has_among_other_characters(text, split_scripts):
    alphabet = Tokeniser(split_scripts=split_scripts).alphabet
    alone, before = alphabet.pieces(text), alphabet.pieces(f"{text}.\u2014")  # ends in an end, and no word
    found = [(piece.span(), piece.lastgroup) for piece in alone]
    assert [*found, ((len(text), len(text) + 1), "end")] == [(piece.span(), piece.lastgroup) for piece in before]


@given(st.text())
@example("\ud800 straße 不好 😀")
@example("É")
@example("’")
def test_folding_what_is_folded_changes_nothing(text):
    assert are_folded(text) == (fold(text) == text)


@given(st.lists(texts, max_size=5), tokenisers)
@example(["<a" + "é" * 200 + ">b", "<a" + "é" * 201 + ">b"], Tokeniser())
def test_the_byte_kernel_finds_the_words_of_the_reference(texts, tokeniser):
    assert kernel_words(texts, tokeniser) == reference_words(texts, tokeniser)


def test_the_byte_kernel_finds_the_words_of_real_reviews():
    texts = reviews("train", examples(3000))
    for tokeniser in (Tokeniser(), Tokeniser(marks=True, across_sentences=True)):
        assert reference_words(texts, tokeniser) == reference_words(texts, replace(tokeniser, split_scripts=False))
        assert kernel_words(texts, tokeniser) == reference_words(texts, tokeniser)


pieces_of_bytes = st.one_of(st.binary(max_size=8), st.sampled_from(SOLOS).map(str.encode), st.just("好".encode()[:2]))


@given(st.lists(st.lists(pieces_of_bytes, max_size=8).map(b"".join), max_size=5))
def test_broken_bytes_do_no_harm(pieces):
    from hardmax.text.tokens.texts import TextBytes

    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
    found = kernel_words(TextBytes(data, offsets), Tokeniser())
    for piece, words in zip(pieces, found, strict=True):
        # Strict about what Python calls broken: a surrogate in UTF-8, or a code beyond the last, is one character here.
        if re.search(rb"\xed[\xa0-\xbf]|\xf4[\x90-\xbf]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]", piece) is None:
            whole = "".join(_bytes_one_by_one(piece))
            assert [words] == reference_words([whole], Tokeniser())


def _bytes_one_by_one(data: bytes) -> Iterator[str]:
    """The characters of UTF-8, each byte that is part of none as one that separates."""
    at = 0
    while at < len(data):
        size = next((size for size in (1, 2, 3, 4) if _is_character(data[at : at + size])), 0)
        yield data[at : at + size].decode() if size else "\ufffd"
        at += max(size, 1)


def _is_character(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def test_ten_million_characters_without_a_space_are_one_word():
    text = "é" * 5_000_000 + "a" * 5_000_000
    assert kernel_words([text], Tokeniser()) == [[text]]


def test_lower_casing_never_moves_a_character():
    text = "".join(map(chr, range(0xD800)))
    assert [token.end - token.start for token in Tokeniser(longest_phrase=1).tokens(text)] == [
        len(token.surface) for token in Tokeniser(longest_phrase=1).tokens(text)
    ]


@pytest.mark.parametrize(
    "options",
    [{"longest_phrase": 0}, {"longest_phrase": 6}, {"longest_phrase": 2.0}, {"marks": 1}, {"split_scripts": 0}],
)
def test_options_that_make_no_sense_are_refused_by_name(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Tokeniser(**options)
