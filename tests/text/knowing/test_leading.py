"""Which words lead, over many texts."""

from dataclasses import replace

from text.evaluation.test_standing import BAD, GOOD, MODEL

from hardmax._format import EXTRA_TOKEN
from hardmax.text.knowing.leading import frequent_leaders


def test_a_neutral_leader_is_no_word_that_leads_and_another_extra_token_is():
    found = MODEL.analyse([GOOD, BAD])
    assert found.leaders_per_text.tolist() == [2, 2], "the neutral leader leads, too"
    assert [leader.word for leader in frequent_leaders(MODEL, found)] == ["awful", "great"]
    speaking = replace(MODEL, decoder=[[4.0, 1.0]])
    assert frequent_leaders(speaking, speaking.analyse([GOOD, BAD]))[0].word == EXTRA_TOKEN
