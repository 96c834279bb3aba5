"""Attributions held against the model: by hand on a small model, and between the best and the worst there is."""

from typing import Any

import numpy as np
import pytest
from text.changing.test_flipping import model

from hardmax._validation import InputError
from hardmax.text.faithfulness.attributions import by_chance, by_leaving_out, by_removals, by_votes
from hardmax.text.faithfulness.measures import Bounds, agreement, find_bounds, measure
from hardmax.text.faithfulness.measuring import CHANCE, LEFT_OUT, OURS, VOTES, measure_faithfulness
from hardmax.text.spans import Units

TEXT = "A great film, a fine plot. Dull? Not great."


def units(text: str = TEXT) -> Units:
    return Units.of(text, model().tokeniser)


def test_units_are_distinct_words_with_all_their_places():
    own = units()
    assert own.words == ("a", "great", "film", "fine", "plot", "dull", "not")
    assert [TEXT[start:end] for start, end in own.places[1]] == ["great", "great"]
    assert own.without([0]) == " .  great film,  .  fine plot. Dull? Not great."
    assert own.only([1, 5]) == "great . Dull . great"


def test_our_votes_are_shared_by_the_words_of_phrases_and_add_up():
    own, why = model(), model().explain(TEXT)
    sign = 1 if why.label == why.towards else -1
    assert by_votes(own, units()).sum() == pytest.approx(sign * sum(vote.vote for vote in why.counting))


def test_words_are_scored_in_the_order_of_removals_and_unknown_ones_lie_between():
    text = f"{TEXT} Nobody knows."
    own, why = units(text), model().explain(text)
    scores = by_removals(model(), own)
    ranked = [own.words[n] for n in np.argsort(-scores, kind="stable")]
    told = [(removal.word, removal.worth > 0) for removal in why.removals]
    unknown = [word for word in own.words if word not in dict(told)]
    assert {"nobody", "knows"} <= set(unknown)
    first, last = [word for word, speaks in told if speaks], [word for word, speaks in told if not speaks]
    assert ranked == [*first, *unknown, *last]


def test_leaving_out_is_the_loss_of_each_word():
    own = model()
    chances = own.predict_proba([TEXT, units().without([1])])
    answer = chances[0].argmax()
    assert by_leaving_out(own, units())[1] == chances[0, answer] - chances[1, answer]


def test_measures_are_as_defined():
    own, scores = model(), np.arange(7)[::-1].astype(float)
    found = measure(own, units(), scores, 2, scores)
    texts = [TEXT, *(units().without(range(n)) for n in (1, 1, 1, 1, 4, 2)), units().only(range(2))]
    chances = own.predict_proba(texts)
    losses = chances[0].max() - chances[1:, chances[0].argmax()]
    assert found.comprehensiveness == pytest.approx(losses[:5].mean())
    assert (found.comprehensiveness_at, found.sufficiency_at) == pytest.approx((losses[5], losses[6]))
    along = own.predict_proba([units().without(range(n)) for n in range(1, 8)])[:, chances[0].argmax()]
    assert found.aopc == pytest.approx(chances[0].max() - along.mean())
    assert found.kendall == pytest.approx(1.0)
    assert found.flips == (chances[6].argmax() != chances[0].argmax())


def test_no_order_lies_outside_bounds_that_are_found_step_by_step_on_a_short_text():
    own, bounds = model(layers=1), find_bounds(model(layers=1), units())
    assert bounds.least < bounds.largest
    places = [
        bounds.place(measure(own, units(), np.random.default_rng(seed).random(7), 2, np.arange(7.0)).aopc)
        for seed in range(30)
    ]
    assert all(-0.1 < place < 1.1 for place in places)  # greedy bounds are nearly, not always, the true ones
    assert np.isnan(Bounds(0.5, 0.5).place(0.5))


def test_agreement_with_what_people_marked():
    own, marked = units("one two three four"), np.array([False, True, False, True])
    found = agreement(own, np.array([0.1, 0.9, 0.5, 0.3]), marked)
    assert found == {"precision_at_1": 1.0, "precision_at_2": 0.5, "precision_at_k": 0.5, "auprc": pytest.approx(5 / 6)}


def test_ours_are_better_than_chance_and_everything_is_told():
    texts = [TEXT, "An awful, dull film.", "great", "", "..."]
    spans = [[(2, 7)], [(3, 8)], [], [], []]
    progress = []
    found = measure_faithfulness(
        model(), texts, {"mine": by_chance}, spans=spans, progress=lambda done, many: progress.append(done)
    )
    assert found.texts == 3
    assert progress == [0, 1, 2, 3, 4]
    rows: dict[str, dict[str, Any]] = {row.attribution: row.measures for row in found.rows}
    assert list(rows) == [OURS, VOTES, "mine", LEFT_OUT, CHANCE]
    assert rows["mine"] == rows[CHANCE]
    assert rows[OURS]["comprehensiveness"] > rows[CHANCE]["comprehensiveness"]
    assert rows[OURS]["precision_at_1"] == 1.0
    assert len(found.to_dict()["limits"]) == 4
    assert all(row.seconds >= 0 for row in found.rows)


def test_a_peer_that_knows_nothing_has_no_order_to_compare():
    found = measure_faithfulness(model(), [TEXT], {"flat": lambda model, units: np.zeros(len(units))})
    assert {row.attribution: row for row in found.rows}["flat"].measures["kendall"] is None


@pytest.mark.parametrize(
    ("texts", "options", "why"),
    [
        ([], {}, "at least one text"),
        (["..."], {}, "have no word"),
        (["great"], {"spans": []}, "`spans` must be 1 lists"),
    ],
)
def test_bad_input_is_told(texts, options, why):
    with pytest.raises(InputError, match=why):
        measure_faithfulness(model(), texts, **options)
