import pytest

from hardmax.paper.reviews.words import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cannot CANNOT", ["can", "not", "CAN", "NOT"]),
        ("gimme gotta lemme wanna", ["gim", "me", "got", "ta", "lem", "me", "wan", "na"]),
        ("scannot cannots begotta wannabe", ["scannot", "cannots", "begotta", "wannabe"]),
        ("  two\twords\n", ["two", "words"]),
        ("", []),
    ],
)
def test_six_words_are_cut_in_two_and_no_others(text, words):
    assert split_words(text) == words
