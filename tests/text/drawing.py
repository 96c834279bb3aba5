"""Texts of all scripts to try a tokeniser on, and tokenisers to try."""

from hypothesis import strategies as st

from hardmax.text.tokens.tokeniser import LONGEST_PHRASE, Tokeniser

# Letters of many scripts, all the punctuation that matters, pieces of tags, and what lower-casing could trip over.
LETTERS = "aBzÄßẞİıΣςЖЁԱ9é'’‘`<>/.!?;:…。！？؟-_ \t\n\0\u00a0\u200d\u2028中한😀𐐀\ufffd\ud800"
# Scripts without spaces: characters, signs that belong to the one before, joiners, vowels in front, flags, and ends.
SOLOS = "不好中𠀀豈々ひらーガㄅกะาำั่เไฯກຳ່ເကာ္်။ကើ្រ។བོད་།๓😀❤⭐👍🏽\ufe0f\u200d\u200c\u0301👩🇩🇪\U000e0067\U0001f6d1"
tricky = st.sampled_from([*LETTERS, *SOLOS, "<br />", "n't", "<p", "👩\u200d👧", "ស្រី", "က္က", "เก่า", "不好"])
texts = st.lists(st.one_of(tricky, st.sampled_from(SOLOS), st.characters()), max_size=40).map("".join)
tokenisers = st.builds(
    Tokeniser,
    longest_phrase=st.integers(1, LONGEST_PHRASE),
    marks=st.booleans(),
    across_sentences=st.booleans(),
    split_scripts=st.booleans(),
    overlapping=st.booleans(),
)
