"""Explanations: the ledger is complete, removals are ranked by reading again, and everything known
is shown.

That votes, factors, links and leaders are those of the definition, test_reading asks.
"""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from text.small_models import models, random_texts, small_model, texts, word_model
from text.units import cut

import hardmax as hm
from hardmax.text.explain import LENGTHS
from hardmax.text.reading import Modifier
from hardmax.text.tokeniser import Tokeniser, cut_words, places_of
from hardmax.text.view import WHOLE, pieces, sentence

MODELS = {
    "plain": small_model(),
    "three classes": small_model(classes=3, gate=0.3),
    "gathered": small_model(alpha="1/2", gate=0.2, neutral_weight=50),
}
MODELS["segments"] = small_model(tokeniser=Tokeniser(overlapping=False))
PLAIN = MODELS["plain"]
TEXT = "A great film? The <b>plot</b> is NOT  good & awful, the worst!"
NEVER = word_model({"boring": -2, "film": 0.5}, modifiers=[Modifier("never", -0.5)])
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@every_model
def test_an_explanation_has_the_numbers_of_the_prediction_to_the_bit(model):
    given = random_texts(60)
    answers = zip(given, model.predict_proba(given), model.predict(given), strict=True)
    for text, chance, label in answers:
        why = model.explain(text)
        assert list(why.probabilities.values()) == chance.tolist()
        assert (why.label, why.probability) == (label, why.probabilities[label])
        assert why.decided == (why.undecided_because == "")
        sizes = [abs(entry.vote) for entry in why.ledger]
        assert sizes == sorted(sizes, reverse=True)
        widths = [len(line) for line in str(why).splitlines()[3:]]
        assert max(widths, default=0) <= 80


def test_plain_data_have_spans_that_point_at_the_tokens_in_the_original():
    data = json.loads(json.dumps(PLAIN.explain(TEXT).to_dict()))
    places = {}
    for entry in data["ledger"]:
        places[entry["word"]] = [TEXT[a:b] for a, b in entry["spans"]]
        assert len(entry["spans"]) == entry["count"]
    assert places["not good"] == ["NOT  good"]
    assert places["the"] == ["The", "the"]
    [link] = [link for link in data["attention"] if link["word"] == "good"]
    assert TEXT[slice(*link["span"])] == "good"
    assert TEXT[slice(*link["modifier_span"])] == "NOT"
    assert link["factor"] == -0.5
    made_by = data["hardmax"], data["model"], data["model_sha256"]
    assert made_by == (hm.__version__, PLAIN.name, PLAIN._digest)


@given(models(st.sampled_from([3, 4])), texts())
def test_with_several_classes_the_summary_names_the_label_for_votes_that_add_to_it(model, said):
    why = model.explain(said.text)
    for entry in why.active:
        assert (model.classes[entry.class_index] == why.label) == (entry.vote > 0)


# ---------------------------------------------------------------- removals


@every_model
def test_each_removal_is_the_best_of_those_left_by_reading_the_text_again(model):
    for text in random_texts(4, seed=3):
        why, places = model.explain(text), places_of(cut_words(text))
        ranked = sorted(why.probabilities, key=why.probabilities.__getitem__)
        second, best = (model.classes.index(label) for label in ranked[-2:])

        def lead(text, best=best, second=second):
            logits = model.analyse([text]).logits.ravel()
            if len(logits) == 1:
                logits = np.append(0.0, logits)
            return logits[best] - logits[second]

        gone, before = [], lead(text)
        for place, removal in enumerate(why.removals):
            assert list(removal.spans) == places[removal.word]
            if removal.score <= 0:
                scores = [each.score for each in why.removals[place:]]
                assert scores == sorted(scores, reverse=True)
                break
            scores = {}
            for other in why.removals[place:]:
                spans = sorted([*gone, *places[other.word]])
                loss = before - lead(cut(text, spans))
                alone = lead(other.word) - lead("")
                scores[other.word] = loss / 3 + 2 / 3 * alone
            best_score = max(scores.values())
            assert removal.score == pytest.approx(best_score, abs=1e-9)
            assert removal.score == pytest.approx(scores[removal.word], abs=1e-9)
            gone += places[removal.word]
            before -= removal.loss


def test_what_a_phrase_hid_appears_when_it_goes_and_words_that_modify_are_ranked_too():
    own = word_model({"not good": -3, "good": 3}, tokeniser=Tokeniser(overlapping=False))
    first = own.explain("It is not good.").removals[0]
    assert first.word == "not"
    assert first.loss == pytest.approx(3.0)  # then "good" appears
    assert own.explain("xyzzy").removals == ()
    why = NEVER.explain("It never gets boring. A film so long!")
    losses = {removal.word: removal.loss for removal in why.removals}
    assert losses.keys() == {"never", "boring", "film"}
    assert losses["never"] == pytest.approx(1.0)  # from (1 + 1/2) / 3 to (-2 + 1/2) / 3


# ---------------------------------------------------------------- what is shown


TABLE = {"great": 3, "awful": -3, "film": 0, "good": 1, "plot": 0, "fine": 1, "boring": -2}
SAID = """
great film, plot but the awful good fine => Because of: great, good, fine. Against: awful.
never boring => Because of: boring ← never.
never boring, so boring => Because of: boring ← never, so.
xyzzy => The model knows no word of this text.
the film => None of the known tokens is active.
great awful => Several classes have the same score.
""".strip()


def spoken(why) -> str:
    return "".join(part.text for part in sentence(why)).rstrip()


def test_a_sentence_names_the_strongest_votes_for_and_against():
    model = word_model(TABLE, modifiers=[Modifier("never", -0.5), Modifier("so", 2)])
    for line in SAID.split("\n"):
        text, expected = line.split(" => ")
        assert spoken(model.explain(text)) == expected


def test_of_more_than_four_votes_the_others_are_counted():
    words = {word: 9 - n for n, word in enumerate(["one", "two", "three", "four", "five", "six"])}
    said = spoken(word_model(words | {"seven": -1}).explain(" ".join([*words, "seven"])))
    assert said == "Because of: one, two, three, four and 2 more. Against: seven."


def test_bars_are_on_the_side_of_the_class_and_a_modified_vote_has_both_numbers():
    printed = str(word_model({"great": 2, "awful": -1}).explain("great awful"))
    with_bars = [line for line in printed.splitlines() if "│" in line]
    head, great, awful, *_ = with_bars
    middle = head.index("│")
    assert head.index("negative") < middle < head.index("positive")
    assert awful.rindex("█") < middle < great.index("█")
    assert great.count("█") > awful.count("█")
    lines = str(NEVER.explain("never boring")).splitlines()
    [row] = [line for line in lines if "│█" in line]
    assert row.split()[:2] == ["boring", "+0.500"]
    assert row.endswith("← never, else -1.000")


def test_rows_that_are_left_out_are_summed_above_the_total():
    weights = {f"w{chr(97 + number)}": number + 1 for number in range(26)}
    model = word_model(weights, bias=[-4])
    why = model.explain(" ".join(model.vocabulary.surfaces))
    lines = [line.split() for line in str(why).splitlines()]
    _, *shown, rest, bias, logit = lines[lines.index([]) + 1 :]
    assert [line[0] for line in shown] == [entry.word for entry in why.active[:10]]
    left_out = [entry.vote for entry in why.active[10:]]
    assert rest[:5] == ["16", "more,", "each", "≤", f"{left_out[0]:.3f}"]
    assert float(rest[5]) == pytest.approx(sum(left_out), abs=6e-4)
    assert (bias[0], logit[0]) == ("bias", "logit")


@pytest.mark.parametrize(("bias", "shown"), [(50, "> 99.9 %"), (6.5, "99.8 %"), (-50, "> 99.9 %")])
def test_no_probability_is_shown_as_certainty(bias, shown):
    faint = np.full((13, 1), 1e-9)
    why = small_model(weights=faint, bias=[bias]).explain(TEXT)
    first, *_ = str(why).splitlines()
    assert first == f"{why.label} {shown}"


def test_texts_unlike_those_of_training_get_a_note():
    model = small_model(metrics={LENGTHS: [10, 40]})
    assert model.explain("great film, awful plot").notes == ()
    assert "shorter than 99 %" in model.explain("great").notes[0]
    assert "longer than 99 %" in model.explain("great film " * 9).notes[0]
    assert PLAIN.explain("great film " * 9).notes == ()
    assert "tokens cover 14 % of" in PLAIN.explain(f"great {'xyzzy ' * 5}").notes[0]
    assert model.explain("xyzzy").notes == ()  # that nothing is known is the answer


def test_a_text_that_one_can_read_is_shown_whole_and_of_a_long_one_the_beginning():
    longest = ("great and awful, " * WHOLE)[:WHOLE]
    for text in ("", "xyzzy", longest, *random_texts(40)):
        assert "".join(piece.text for piece in pieces(PLAIN.explain(text))) == text
    ends_late = f"It begins. {'word ' * WHOLE}a great film"
    for text in (ends_late, "It is not" + " " * WHOLE + "good."):
        *shown, last = pieces(MODELS["segments"].explain(text))
        assert "".join(piece.text for piece in shown) == text[:WHOLE]
        assert last.is_gap
        assert last.text == f"… {len(text) - WHOLE:,} characters left out …"
    assert shown[1].entry is not None
    assert shown[1].entry.word == "not good"


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_an_explanation_is_saved_in_the_form_that_its_name_asks_for(tmp_path, suffix):
    why = PLAIN.explain(TEXT + "\ud800")
    why.save(tmp_path / f"why{suffix}")
    assert str(why.label) in (tmp_path / f"why{suffix}").read_text(encoding="utf-8")
    with refuses("expected .html, .json or .txt"):
        why.save(tmp_path / "why.pdf")
    with refuses("must be a text, not \\["):
        PLAIN.explain([TEXT])  # type: ignore[arg-type]


def test_an_explanation_can_be_pickled():
    why = hm.load_model("sentiment-en").explain("An awful script, but the cast is great.")
    back = pickle.loads(pickle.dumps(why))
    assert back.to_dict() == why.to_dict()
    assert str(back) == str(why)
    assert back.model.name == "sentiment-en"
