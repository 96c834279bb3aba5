"""Explanations: the ledger is complete, removals are ranked by reading again, and everything known
is shown.

That votes, factors, links and leaders are those of the definition, test_reading asks.
"""

import json
import pickle
from itertools import pairwise

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
    "segments": small_model(tokeniser=Tokeniser(overlapping=False)),
}
TEXT = "A great film? The <b>plot</b> is NOT  good & awful, the worst!"
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_an_explanation_has_the_numbers_of_the_prediction_to_the_bit(name):
    model, texts = MODELS[name], random_texts(60)
    for text, chance, label in zip(
        texts, model.predict_proba(texts), model.predict(texts), strict=True
    ):
        why = model.explain(text)
        assert list(why.probabilities.values()) == chance.tolist()
        assert (why.label, why.probability) == (label, why.probabilities[label])
        assert why.decided == (why.undecided_because == "")
        assert why.probability == chance.max() or not why.decided
        assert [entry.vote for entry in why.active] == sorted(
            (e.vote for e in why.active), key=abs, reverse=True
        )


def test_plain_data_have_spans_that_point_at_the_tokens_in_the_original():
    why = MODELS["plain"].explain(TEXT)
    data = json.loads(json.dumps(why.to_dict()))
    assert [entry["spans"] for entry in data["ledger"]] == [
        [list(span) for span in e.spans] for e in why.ledger
    ]
    places = {entry.word: [TEXT[a:b] for a, b in entry.spans] for entry in why.ledger}
    assert places["not good"] == ["NOT  good"]
    assert places["the worst"] == ["the worst"]
    assert places["the"] == ["The", "the"]
    assert all(len(entry.spans) == entry.count for entry in why.ledger)
    [link] = [link for link in data["attention"] if link["word"] == "good"]
    assert TEXT[slice(*link["span"])] == "good"
    assert TEXT[slice(*link["modifier_span"])] == "NOT"
    assert link["factor"] == -0.5


# ---------------------------------------------------------------- removals


@every_model
def test_each_removal_is_the_best_of_those_left_by_reading_the_text_again(name):
    model = MODELS[name]
    for text in random_texts(4, seed=3):
        why, places = model.explain(text), places_of(cut_words(text))
        best = model.classes.index(why.label)
        second = max(
            (c for c in range(len(model.classes)) if c != best),
            key=list(why.probabilities.values()).__getitem__,
        )

        def lead(text, best=best, second=second):
            logits = np.append([0.0], MODELS[name].analyse([text]).logits)[
                -len(MODELS[name].classes) :
            ]
            return logits[best] - logits[second]

        gone, before = [], lead(text)
        for place, removal in enumerate(why.removals):
            assert list(removal.spans) == places[removal.word]
            if removal.score <= 0:
                assert all(a.score >= b.score for a, b in pairwise(why.removals[place:]))
                break
            scores = {}
            for other in why.removals[place:]:
                spans = sorted([*gone, *places[other.word]])
                loss = before - lead(cut(text, spans))
                scores[other.word] = loss / 3 + 2 / 3 * (lead(other.word) - lead(""))
            assert removal.score == pytest.approx(max(scores.values()), abs=1e-9)
            assert removal.score == pytest.approx(scores[removal.word], abs=1e-9)
            gone += places[removal.word]
            before -= removal.loss


def test_what_a_phrase_hid_appears_when_it_goes():
    own = word_model({"not good": -3, "good": 3}, tokeniser=Tokeniser(overlapping=False))
    first = own.explain("It is not good.").removals[0]
    assert (first.word, first.loss) == (
        "not",
        pytest.approx(3.0),
    )  # "not good" goes, "good" appears
    assert own.explain("xyzzy").removals == ()


def test_words_that_only_modify_are_ranked_too():
    why = word_model(
        {"boring": -2, "film": 0.5}, modifiers=[Modifier("never", -0.5), Modifier("so", 2)]
    ).explain
    removals = {
        removal.word: removal for removal in why("It never gets boring. A film so long!").removals
    }
    assert set(removals) == {"never", "boring", "film"}
    assert removals["never"].loss == pytest.approx(1.0)  # from (1 + 1/2) / 3 to (-2 + 1/2) / 3
    assert "so" not in removals  # nothing attends to it


# ---------------------------------------------------------------- what is shown


def said(why) -> str:
    return "".join(part.text for part in sentence(why))


def test_a_sentence_names_the_strongest_tokens_what_they_attend_to_and_who_agrees():
    table = {"great": 3, "awful": -3, "film": 0, "good": 1, "plot": 0, "fine": 1, "boring": -2}
    model = word_model(table, modifiers=[Modifier("never", -0.5), Modifier("so", 2)])
    why = model.explain("great film, plot but the awful good fine")
    strongest = "Strongest: great (positive, 2 more agree), awful (negative)."
    assert said(why) == f"{strongest} 2 known tokens have no effect."
    assert [(part.text, part.entry.class_index) for part in sentence(why) if part.entry] == [
        ("great", 1),
        ("awful", 0),
    ]
    assert said(model.explain("never boring")) == "Strongest: boring ← never (positive)."
    assert (
        said(model.explain("never boring, so boring"))
        == "Strongest: boring ← never, so (negative)."
    )
    assert (
        said(model.explain("xyzzy"))
        == said(model.explain(""))
        == "The model knows no word of this text."
    )
    assert said(model.explain("the film")) == "None of the known tokens is active."
    assert said(model.explain("great awful")) == "Several classes have the same score."
    assert str(model.explain("xyzzy")).splitlines()[0] == "undecided"


def test_a_row_shows_both_numbers_of_a_modified_token():
    model = word_model({"boring": -2}, modifiers=[Modifier("never", -0.5)])
    [row] = [
        line
        for line in str(model.explain("It never gets boring.")).splitlines()
        if "boring" in line and "│" in line
    ]
    assert row.split()[:2] == ["boring", "+0.500"]
    assert row.endswith("← never, else -1.000")


def test_bars_are_on_the_side_of_the_class_that_they_speak_for():
    printed = str(word_model({"great": 2, "awful": -1}).explain("great awful"))
    head, great, awful, *_ = (line for line in printed.splitlines() if "│" in line)
    middle = head.index("│")
    assert head.index("negative") < middle < head.index("positive")
    assert awful.rindex("█") < middle < great.index("█")
    assert great.count("█") > awful.count("█")


def test_rows_that_are_left_out_are_summed_above_the_total():
    model = word_model({f"w{chr(97 + n)}": n + 1 for n in range(26)}, bias=[-4])
    why = model.explain(" ".join(model.vocabulary.surfaces))
    lines = [line.split() for line in str(why).splitlines()]
    first = next(n for n, line in enumerate(lines) if line[:2] == ["token", "vote"])
    assert [line[0] for line in lines[first + 1 : first + 21]] == [
        entry.word for entry in why.active[:20]
    ]
    assert lines[first + 21][:5] == ["6", "more,", "each", "≤", f"{why.active[20].vote:.3f}"]
    assert float(lines[first + 21][5]) == pytest.approx(
        sum(entry.vote for entry in why.active[20:]), abs=6e-4
    )
    assert [line[0] for line in lines[first + 22 : first + 24]] == ["bias", "logit"]


@given(models(st.sampled_from([3, 4])), texts())
def test_with_several_classes_the_summary_names_the_label_for_votes_that_add_to_it(model, said):
    why = model.explain(said.text)
    for entry in why.active:
        assert (model.classes[entry.class_index] == why.label) == (entry.vote > 0)


def test_a_token_that_votes_for_the_label_does_not_agree_with_a_leader_that_does_not():
    votes = {"finland": (-2, 14, -12), "rose": (-8, -3, 11), "profit": (-3, -1, 4)}
    model = word_model(votes | {"to eur": (-2, 0.5, 1.5)})  # which ends at "rose"
    why = model.explain("Profit rose to EUR 13.1 mn in Finland.")
    assert [entry.leader for entry in why.ledger if entry.word == "to eur"] == ["rose"]
    spoken = "".join(part.text for part in sentence(why))
    assert spoken == "Strongest: finland (class 1), rose (class 2, 1 more agrees)."


@every_model
def test_lines_fit_a_terminal_of_80_columns(name):
    for why in [MODELS[name].explain(text) for text in (TEXT, *random_texts(10))]:
        assert max(map(len, str(why).splitlines()[3:]), default=0) <= 80


@pytest.mark.parametrize(
    ("bias", "shown"), [(50, "> 99.9 %"), (7.7, "> 99.9 %"), (6.5, "99.8 %"), (-50, "> 99.9 %")]
)
def test_no_probability_is_shown_as_certainty(bias, shown):
    why = small_model(weights=np.full((13, 1), 1e-9), bias=[bias]).explain(TEXT)
    assert str(why).splitlines()[0] == f"{why.label} {shown}"


def test_texts_unlike_those_of_training_get_a_note():
    model = small_model(metrics={LENGTHS: [10, 40]})
    assert model.explain("great film, awful plot").notes == ()
    assert "shorter than 99 %" in model.explain("great").notes[0]
    assert "longer than 99 %" in model.explain("great film " * 9).notes[0]
    assert small_model().explain("great film " * 9).notes == ()
    assert "unknown" in model.explain(f"great {'xyzzy ' * 5}").notes[0]
    assert model.explain("xyzzy").notes == ()  # that nothing is known is the answer


def test_a_text_that_one_can_read_is_shown_whole():
    longest = ("great and awful, " * WHOLE)[:WHOLE]
    for text in ("", "xyzzy", longest, *random_texts(40)):
        assert "".join(piece.text for piece in pieces(MODELS["plain"].explain(text))) == text


def test_of_a_long_text_the_beginning_is_shown():
    filler = "word " * WHOLE
    for text in (
        f"It begins. {filler}a great film",
        "a great film. " * WHOLE,
        "It is not" + " " * WHOLE + "good.",
    ):
        *shown, last = pieces(MODELS["segments"].explain(text))
        assert "".join(piece.text for piece in shown) == text[:WHOLE]
        assert last.is_gap
        assert last.text == f"… {len(text) - WHOLE:,} characters left out …"
    assert shown[1].entry is not None
    assert shown[1].entry.word == "not good"


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_an_explanation_is_saved_in_the_form_that_its_name_asks_for(tmp_path, suffix):
    why = MODELS["plain"].explain(TEXT + "\ud800")
    why.save(tmp_path / f"why{suffix}")
    assert str(why.label) in (tmp_path / f"why{suffix}").read_text(encoding="utf-8")


def test_other_forms_and_other_things_than_texts_are_refused(tmp_path):
    with refuses(r"\.html"):
        MODELS["plain"].explain(TEXT).save(tmp_path / "why.pdf")
    with refuses("must be a text, not \\["):
        MODELS["plain"].explain([TEXT])  # type: ignore[arg-type]


def test_shipped_models_have_names_and_notes_about_unusual_texts():
    why = hm.load_model("sentiment-en").explain("An awful script, but the cast is great. " * 3000)
    assert why.model.name == "sentiment-en"
    assert "longer than 99 %" in why.notes[0]


def test_an_explanation_can_be_pickled():
    why = MODELS["plain"].explain(TEXT)
    back = pickle.loads(pickle.dumps(why))
    assert (back.to_dict(), str(back)) == (why.to_dict(), str(why))
