"""The tokeniser: what the definition says, and the byte kernels held against it."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from page.write_text_vectors import make_texts
from refusals import refuses
from text.reviews import read_split

from hardmax.text._characters import CHARACTERS, fold
from hardmax.text._kernels_tokens import number_words
from hardmax.text._texts import TextBytes, read_texts
from hardmax.text.tokeniser import (
    JOINT,
    LONGEST_PHRASE,
    Token,
    Tokeniser,
    cut_surface,
    cut_words,
    join_words,
    places_of,
    replace_spans,
)

# Letters of many scripts, all the punctuation that matters, pieces of tags, and what lower-casing
# could trip over.
LETTERS = "aBzÄßẞİıΣςЖЁԱ9é'’‘`<>/.!?;:…。！？؟-_ \t\n\0\u00a0\u200d\u2028中한😀𐐀\ufffd\ud800"
# Scripts without spaces: characters, signs that belong to the one before, joiners, vowels in front,
# flags, and ends.
SOLOS = "不好中𠀀豈々ひらーガㄅกะาำั่เไฯກຳ່ເကာ္်။ကើ្រ។བོད་།๓😀❤⭐👍🏽"
SOLOS += "\ufe0f\u200d\u200c\u0301👩🇩🇪\U000e0067\U0001f6d1"
PIECES = ["<br />", "n't", "<p", "👩\u200d👧", "ស្រី", "က္က", "เก่า", "不好"]
# Emoticons with all that may stand around them, and letters, digits and signs in runs.
FACES = [" ", " ", ":)", ":-(", "=D", ";'p", "<3", ":", "=", "<", "-", "'", "3", *")(][/|\\dpoDPO"]
RUNS = [letter * number for letter in "oOöÖßẞ1١'\u0301ㅋ不𐐀" for number in (2, 3, 4)]
tricky = st.sampled_from([*LETTERS, *SOLOS, *PIECES])
faces_and_runs = st.sampled_from([*FACES, *RUNS])
any_piece = st.one_of(tricky, st.sampled_from(SOLOS), st.characters(), faces_and_runs)
pieces = st.one_of(st.lists(any_piece, max_size=40), st.lists(faces_and_runs, max_size=12))
texts = pieces.map("".join)
lengths = st.integers(1, LONGEST_PHRASE)
tokenisers = st.builds(Tokeniser, longest_phrase=lengths, overlapping=st.booleans())


def surfaces(text: str, **options) -> list[str]:
    return [token.surface for token in Tokeniser(**options).tokens(text)]


def kernel_words(texts) -> list[list[str]]:
    """For each text its words, as the kernel spells them."""
    found = read_texts(texts)
    longest = int(np.diff(found.offsets).max(initial=0))
    stream, ends, spellings, starts = number_words(found.data, found.offsets, longest, CHARACTERS)
    words = []
    for a, b in pairwise(starts):
        words.append("".join(map(chr, spellings[a:b])))
    assert len(set(words)) == len(words)
    found_words = []
    for a, b in pairwise(ends):
        numbers = stream[a:b].tolist()
        found_words.append([words[number] for number in numbers if number >= 0])
    return found_words


def reference_words(texts: list[str]) -> list[list[str]]:
    return [surfaces(text, longest_phrase=1) for text in texts]


# Texts, and between bars the words that they have.
WORDS = """
DON'T it’s rock'n'roll 'tis dogs' 80's => don't|it's|rock'n'roll|tis|dogs|80's
13.1, 1,000.5 .5 3. a.b 7.a => 13.1|1,000.5|5|3|a|b|7|a
a <3 b < c <b => a|<3|b|c|b
a <-b> c <b d <i> e => a|b|c|b|d|e
a < => a
bad！ so？؟!? => bad|so
这家iPhone店不错，3台 => 这|家|iphone|店|不|错|3|台
𠀀々豈 => 𠀀|々|豈
ひらがなとカタカナらーめん => ひ|ら|が|な|と|カタカナ|らー|め|ん
เก่ามาก ๑๒ => เก่า|มา|ก|๑๒
ສະບາຍ => ສະ|ບາ|ຍ
ស្រីល្អ។ => ស្រី|ល្អ
က္ကကောင်း။ => က္က|ကော|င်း
བོད་ཡིག། => བོད|ཡིག
ㄅㄆ => ㄅ|ㄆ
한국어 문장 => 한국어|문장
gut😀😀#toll❤️ok => gut|😀|😀|toll|❤️|ok
👍🏽👩\u200d👧\u200d👦👍 => 👍🏽|👩\u200d👧\u200d👦|👍
🇩🇪🇫🇷🇮 => 🇩🇪|🇫🇷|🇮
1️⃣ می\u200cخواهم क्\u200dष => 1️⃣|می\u200cخواهم|क्\u200dष
\u0e31\u0301ก a'中'b => ั́|ก|a|中|b
:) x :-))) =( ;'-( :'( <333 xD => :)|x|:)|=(|:(|<3|xd
so :D. :Pp :-/<br />;o👍:) >:[ => so|:d|pp|:/|;o|👍|:[
note:(see a:b 10:30 http://a (1:3) 3:4) <30 :(see =Dé :// :-- => \
note|see|a|b|10|30|http|a|1|3|3|4|30|see|dé|:/
sooo GOOOOD wwww mmm ÖÖÖh aaa'sss ㅋㅋㅋㅋa 𐐀𐐀𐐀a => soo|good|www|mmm|ööh|aa'ss|ㅋㅋa|𐐀𐐀a
1000 2000s 1٠٠٠ ０００ 不不不 ooo1000 => 1000|2000s|1٠٠٠|０００|不|不|不|oo1000
""".strip()


@pytest.mark.parametrize("line", WORDS.split("\n"))
def test_words(line):
    text, words = line.split(" => ")
    assert surfaces(text, longest_phrase=1) == words.split("|")
    assert kernel_words([text]) == [words.split("|")]


def test_what_is_too_long_for_a_tag_is_a_word():
    long = "xy" * 150
    text = f"<a {long}>"
    assert surfaces(text, longest_phrase=1) == ["a", long]
    assert kernel_words([text]) == [["a", long]]


def test_tags_and_sentence_ends_separate_and_phrases_stop_there():
    assert surfaces("so<br /><br />bad</p> film") == ["so", "bad", "film"]
    phrases = surfaces("not good. avoid please")
    assert phrases == ["not", "good", "not good", "avoid", "please", "avoid please"]
    for end in (*",;:—，、…", " (", ") ", ' "', " -- ", " – ", " «"):
        assert surfaces(f"bad{end} so") == ["bad", "so"], end
    for between in (" ", "\n", "-", " - ", " / ", "* "):
        assert surfaces(f"bad{between}so") == ["bad", "so", "bad so"], between
    assert surfaces("bad!? so") == ["bad", "so"]
    assert "not good avoid" in surfaces("not good avoid", longest_phrase=3)


def test_a_phrase_has_no_space_between_words_of_their_own_unless_they_would_become_one():
    assert surfaces("不 好iPhone") == ["不", "好", "不好", "iphone", "好 iphone"]
    assert surfaces("👩\u200d 👧") == ["👩\u200d", "👧", "👩\u200d 👧"]
    assert surfaces("🇩 🇪") == ["🇩", "🇪", "🇩 🇪"]
    assert surfaces("เ ก") == ["เ", "ก", "เ ก"]


@given(texts, tokenisers)
def test_every_token_stands_where_it_says(text, tokeniser):
    single, tokens = replace(tokeniser, longest_phrase=1), tokeniser.tokens(text)
    assume(tokens)
    for surface, start, end in tokens:
        assert 0 <= start < end <= len(text)
        words = [word.surface for word in single.tokens(text[start:end])]
        assert join_words(words) == surface
        assert cut_surface(surface) == words
        if len(words) == 1:
            [token] = single.tokens(text[start:end])
            assert token == Token(surface, 0, end - start)


@given(st.text(st.characters(max_codepoint=0x7F)))
@example("<b>Don't!</b> 1+1=2? '' a'b")
def test_a_text_in_ascii_has_the_tokens_that_it_has_among_other_characters(text):
    assert Tokeniser().tokens(text) == Tokeniser().tokens(f"{text}.\u2014")


@given(st.one_of(st.text(), texts))
def test_folding_is_done_once(text):
    assert fold(fold(text)) == fold(text)


def test_places_are_those_of_the_text_that_was_written():
    text = "SOOOO good :-)) film"
    places = places_of(cut_words(text))
    assert places == {"soo": [(0, 5)], "good": [(6, 10)], ":)": [(11, 15)], "film": [(16, 20)]}
    assert replace_spans(text, [((0, 5), JOINT), ((11, 15), "=)")]) == "⋯ good =) film"
    assert surfaces(text)[-2:] == ["film", ":) film"]


LONGEST_TAG = "<a" + "é" * 200 + ">b"


@given(st.lists(texts, max_size=5))
@example([LONGEST_TAG, LONGEST_TAG.replace("<a", "<aé")])
def test_the_byte_kernel_finds_the_words_of_the_definition(texts):
    assert kernel_words(texts) == reference_words(texts)


def test_the_byte_kernel_finds_the_words_of_thousands_of_texts_of_emoticons_and_runs():
    made = make_texts([*FACES, *RUNS, *PIECES], 3000, seed=0)
    expected = reference_words(made)
    assert kernel_words(made) == expected
    kinds = {word for words in expected for word in words}
    assert kinds > {":)", "=d", "<3", ";p", "ooo", "1111", "öö"}


def test_the_byte_kernel_finds_the_words_of_real_reviews_and_of_huge_ones():
    reviews = read_split("train", examples(3000))["text"].to_pylist()
    assert kernel_words(reviews) == reference_words(reviews)
    huge = "éè" * 2_500_000 + "ab" * 2_500_000
    assert kernel_words([huge]) == [[huge]]


def test_thousands_of_different_words_are_numbered():
    words = [f"word{number}" for number in range(3000)]
    back = words[::-1]
    assert kernel_words([" ".join(words), " ".join(back)]) == [words, back]


characters = st.sampled_from(SOLOS).map(str.encode)
half_a_character = st.just("好".encode()[:2])
pieces_of_bytes = st.one_of(st.binary(max_size=8), characters, half_a_character)


@given(st.lists(pieces_of_bytes, max_size=8).map(b"".join))
@example(b"\xc3a")
@example(b"\xe5a\xbd")
def test_broken_bytes_do_no_harm(data):
    # Python is stricter: a character in more bytes than it needs, or half of one, is broken.
    assume(re.search(rb"\xe0[\x80-\x9f]|\xf0[\x80-\x8f]|\xed[\xa0-\xbf]", data) is None)
    offsets = np.array([0, len(data)])
    several = TextBytes(np.frombuffer(data, dtype=np.uint8), offsets)
    found = kernel_words(several)
    assert found == reference_words([data.decode(errors="replace")])


@pytest.mark.parametrize(("name", "value"), [("longest_phrase", 6), ("overlapping", 1)])
def test_options_that_make_no_sense_are_refused_by_name(name, value):
    with refuses(name):
        Tokeniser(**{name: value})


@pytest.mark.parametrize("value", [0, 2.0])
def test_phrases_have_a_whole_number_of_words(value):
    with refuses("longest_phrase"):
        Tokeniser(longest_phrase=value)
