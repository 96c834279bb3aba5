"""Where words stand: the kernel against the definition, and what is shown of a text too long to read."""

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from counting import lines_run
from hypothesis import given
from hypothesis import strategies as st
from text.drawing import tokenisers
from text.small_models import random_texts, small_model

from hardmax.text.explain.excerpt import AROUND, WHOLE, pieces
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


def shown(explanation) -> str:
    return "".join(piece.text for piece in pieces(explanation))


def test_a_text_that_one_can_read_is_shown_whole():
    longest = ("great and awful, " * WHOLE)[:WHOLE]
    for text in ("", "xyzzy", longest, *random_texts(40)):
        assert shown(PLAIN.explain(text)) == text
        assert "left out" not in {piece.side for piece in pieces(PLAIN.explain(text))}


def test_of_a_long_text_the_opening_and_the_leaders_are_shown():
    filler = "word " * WHOLE
    why = PLAIN.explain(f"It begins. {filler}a great film {filler}an awful plot {filler}It ends.")
    found = pieces(why)
    assert [piece.text for piece in found if piece.leads] == ["great", "awful"]
    assert found[0].text.startswith("It begins. word")
    hidden = [piece.text for piece in found if piece.side == "left out"]
    assert len(hidden) == 3
    kept = sum(len(piece.text) for piece in found if piece.side != "left out")
    assert kept + sum(int(line.split()[1].replace(",", "")) for line in hidden) == len(why.text)
    for before, after in pairwise(found):
        if "left out" in (before.side, after.side):
            beside = before.text.split()[-1] if after.side == "left out" else after.text.split()[0]
            assert beside == "word", "no word is cut"
    assert "It ends" not in shown(why)


def test_what_is_said_a_million_times_is_shown_a_few_times():
    why = PLAIN.explain("great film. " * 100_000)
    assert len(why.leaders[0].spans) == 100_000
    assert len(shown(why)) < WHOLE
    assert len(why._repr_html_()) < 2 * WHOLE


def test_a_phrase_that_reaches_across_a_desert_is_shown_at_both_ends():
    model = small_model(embeddings=[[0, 0.1]] * 5 + [[3, 0]] + [[0.1, 0]] * 7)  # "not good" leads
    why = model.explain("It is not" + " " * 1_000_000 + "good.")
    assert [len(piece.text) <= 2 * AROUND for piece in pieces(why)] == [True] * len(pieces(why))
    marked = [piece.text for piece in pieces(why) if piece.side == "for" or piece.side == "against"]
    assert marked[0].startswith("not ")
    assert marked[-1].endswith(" good")
    assert len(why._repr_html_()) < WHOLE


LONG = {  # made when their test runs: every worker collects the tests
    "said a million times": lambda: "great film " * 900_000,
    "all words": lambda: " ".join(random_texts(900) * 100),
    "one word": lambda: "a" * 10**7,
    "marks": lambda: "!" * 10**7,
}


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_ten_megabytes_are_explained_without_going_through_them_in_python(make: Callable[[], str]):
    text = make()

    def explain() -> None:
        why = PLAIN.explain(text)
        assert len(why._repr_html_()) < 4 * WHOLE
        assert len(str(why)) < WHOLE

    PLAIN.explain("great film")  # kernels are compiled once, in Python
    assert lines_run(explain) < 20_000
