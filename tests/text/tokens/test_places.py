"""Where words stand: the kernel against the definition, and what is shown of a text too long to read."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from text.drawing import tokenisers
from text.small_models import small_model

from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.one_text import read_one
from hardmax.text.tokens.places import read_long
from hardmax.text.tokens.segments import keep_segments
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

SURFACES = ["good", "not good", "é", "don't", "a not good", "!", "?", "😀", "film", "不好", "好", "不 好", "é 不", "เก"]
KNOWN = Vocabulary(SURFACES, np.zeros((len(SURFACES), 2)))
words = st.sampled_from(
    [
        "good",
        "NOT",
        "a",
        "é",
        "É",
        "don’t",
        "don't",
        "'",
        "😀",
        "film",
        "\ud800",
        ".",
        "!",
        "?",
        "？",
        "؟",
        "<b>",
        "<br x",
        "—",
        *"不好เก",
    ]
)
texts = st.lists(st.tuples(words, st.sampled_from([" ", "", "\n"])).map("".join), max_size=25).map("".join)
PLAIN = small_model(embeddings=[[3, 0], [-2, 1], *[[0.1, 0.1]] * 11])  # great and awful lead


def by_definition(text: str, tokeniser: Tokeniser) -> dict[int, list[list[int]]]:
    places = defaultdict(list)
    known = [(KNOWN.index[token.surface], token) for token in tokeniser.tokens(text) if token.surface in KNOWN.index]
    for number, token in known if tokeniser.overlapping else keep_segments(known):
        places[number].append([token.start, token.end])
    return places


@given(texts, tokenisers)
def test_tokens_stand_where_the_definition_finds_them(text, tokeniser):
    found = encode([text], KNOWN, tokeniser)
    places = read_long(text, lexicon_of(KNOWN, tokeniser), tokeniser, has_extra=False).places
    assert {token: rows.tolist() for token, rows in zip(found.ids.tolist(), places, strict=True)} == by_definition(
        text, tokeniser
    )


@given(texts, tokenisers)
def test_a_text_is_read_alike_by_the_definition_and_by_the_kernels(text, tokeniser):
    short = read_one(text, KNOWN, tokeniser, has_extra=True)
    long = read_long(text, lexicon_of(KNOWN, tokeniser), tokeniser, has_extra=True)
    for name, value in vars(short.encoded).items():
        assert np.array_equal(getattr(long.encoded, name), value), name
    assert [rows.tolist() for rows in short.places] == [rows.tolist() for rows in long.places]
