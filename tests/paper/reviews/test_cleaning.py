import pytest

from hardmax.paper.reviews.cleaning import clean


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("see http://a.b/c?d now", "see now"),
        ("see www.a.b/c now", "see now"),
        ("one<br /><br />two", "onetwo"),
        ("one.<br /><br />Two", "one Two"),
        ("don't (ever) say: no_one", "don t ever say no one"),
        ("10 out of 10", " out of "),
        ("café naïve", "caf nave"),
        ("Waaaaay goood, noo", "Waay good noo"),
    ],
)
def test_each_step_of_the_cleaning_does_what_it_says(text, cleaned):
    assert clean(text) == cleaned


def test_a_lone_space_beyond_ascii_glues_words_and_two_of_them_part_them():
    assert clean("one\u0085two") == "onetwo"
    assert clean("one\u0085\u0085two") == "one two"
    assert clean("one.\u0085two") == "one two"


def test_capitals_stay():
    assert clean("The END") == "The END"
