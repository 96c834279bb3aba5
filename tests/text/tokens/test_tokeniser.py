import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from text.reviews import reviews
from text.spelling import kernel_words, reference_words

from hardmax.errors import InputError
from hardmax.text.tokens.tokeniser import Token, Tokeniser

# Letters of many scripts, all the punctuation that matters, pieces of tags, and what lower-casing could trip over.
CHARACTERS = "aBzÄßẞİıΣςЖЁԱ9é'’‘`<>/.!?;:…。！-_ \t\n\0\u00a0\u200d\u2028中한😀𐐀\ufffd\ud800"
tricky = st.sampled_from([*CHARACTERS, "<br />", "n't", "<p"])
texts = st.lists(st.one_of(tricky, st.characters()), max_size=40).map("".join)
tokenisers = st.builds(Tokeniser, longest_phrase=st.integers(1, 3), marks=st.booleans(), across_sentences=st.booleans())


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


@given(texts, tokenisers)
def test_every_token_stands_where_it_says(text, tokeniser):
    for surface, start, end in tokeniser.tokens(text):
        assert 0 <= start < end <= len(text)
        if " " not in surface:
            assert Tokeniser(longest_phrase=1, marks=True).tokens(text[start:end]) == [Token(surface, 0, end - start)]


@given(st.lists(texts, max_size=5), tokenisers)
@example(["<a" + "é" * 200 + ">b", "<a" + "é" * 201 + ">b"], Tokeniser())
def test_the_byte_kernel_finds_the_words_of_the_reference(texts, tokeniser):
    assert kernel_words(texts, tokeniser) == reference_words(texts, tokeniser)


def test_the_byte_kernel_finds_the_words_of_real_reviews():
    texts = reviews("train", 3000)
    for tokeniser in (Tokeniser(), Tokeniser(marks=True, across_sentences=True)):
        assert kernel_words(texts, tokeniser) == reference_words(texts, tokeniser)


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_broken_bytes_do_no_harm(pieces):
    from hardmax.text.tokens.texts import TextBytes

    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
    found = kernel_words(TextBytes(data, offsets), Tokeniser())
    for piece, words in zip(pieces, found, strict=True):
        if piece.isascii():
            assert [words] == reference_words([piece.decode()], Tokeniser())


def test_ten_million_characters_without_a_space_are_one_word():
    text = "é" * 5_000_000 + "a" * 5_000_000
    assert kernel_words([text], Tokeniser()) == [[text]]


def test_lower_casing_never_moves_a_character():
    text = "".join(map(chr, range(0xD800)))
    assert [token.end - token.start for token in Tokeniser(longest_phrase=1).tokens(text)] == [
        len(token.surface) for token in Tokeniser(longest_phrase=1).tokens(text)
    ]


@pytest.mark.parametrize(
    "options", [{"longest_phrase": 0}, {"longest_phrase": 4}, {"longest_phrase": 2.0}, {"marks": 1}]
)
def test_options_that_make_no_sense_are_refused_by_name(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Tokeniser(**options)
