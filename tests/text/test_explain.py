"""Explanations: both ledgers add up, the numbers are those of the prediction, and everything known is shown."""

import io
import json
import math
from itertools import pairwise

import numpy as np
import pytest
from counting import lines_run
from text.small_models import random_texts, small_model

import hardmax as hm
from hardmax._validation import InputError
from hardmax.text._analysis import walk_cloud
from hardmax.text._format import EXTRA_TOKEN
from hardmax.text.explain import LENGTHS
from hardmax.text.spans import Units
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.view import WHOLE, pieces, sentence
from hardmax.text.vocabulary import Vocabulary

GRID = np.random.default_rng(1).integers(-1, 2, size=(13, 2))
MODELS = {
    "plain": small_model(),
    "three classes": small_model(classes=3),
    "extra token": small_model(extra=[0.3, -1.5], temperature=2.5),
    "ties": small_model(embeddings=GRID),
    "neutral": small_model(extra=[0.0, 3.0], decoder=[[4.0, 0.0]], temperature=0.5, binary=True),
    "three classes, one neutral leader": small_model(
        classes=3, extra=[0.0, 3.0], decoder=[[4.0, 0.5], [0.0, 0.5], [-4.0, 0.5]], layers=math.inf
    ),
    "neutral and endless": small_model(5, extra=[0.0, 3.0], decoder=[[4.0, 0.0]], layers=math.inf),
    "neutral and tied": small_model(embeddings=GRID, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], layers=math.inf),
    "no layers": small_model(layers=0, extra=[0.0, 3.0], decoder=[[4.0, 0.0]]),
    "gated": small_model(extra=[0.0, 1.0], decoder=[[1.0, 0.0]], gate=0.3, neutral_weight=50, layers=1),
}
TEXT = "A great film? The <b>plot</b> is NOT  good & awful, the worst!"
LEADING = small_model(embeddings=[[3, 0], [-2, 1], *[[0.1, 0.1]] * 11])  # great and awful lead
NEGATED = small_model(embeddings=[[0, 0.1]] * 5 + [[3, 0]] + [[0.1, 0]] * 7)  # "not good" leads
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_both_ledgers_add_up_to_the_logit_and_masses_to_one(name):
    for text in random_texts(60):
        why = MODELS[name].explain(text)
        parts = [entry.contribution for entry in why.ledger]
        assert math.fsum([why.bias, *parts]) == pytest.approx(why.logit, rel=1e-13, abs=1e-13)
        votes = [entry.vote for entry in why.active]
        assert math.fsum([why.bias, *votes, why.rest]) == pytest.approx(why.logit, rel=1e-9, abs=1e-9)
        assert votes == sorted(votes, key=abs, reverse=True)
        if why.ledger:
            assert math.fsum(entry.mass for entry in why.ledger) == pytest.approx(1, abs=1e-13)


@every_model
def test_an_explanation_has_the_numbers_of_the_prediction_to_the_bit(name):
    model, texts = MODELS[name], random_texts(60)
    for text, chance, label in zip(texts, model.predict_proba(texts), model.predict(texts), strict=True):
        why = model.explain(text)
        assert list(why.probabilities.values()) == chance.tolist()
        assert (why.label, why.probability) == (label, why.probabilities[label])
        assert why.decided == (why.undecided_because == "")
        if why.decided:
            assert why.probability == chance.max()


@every_model
def test_leaders_masses_and_paths_are_those_of_the_run(name):
    model = MODELS[name]
    for text in random_texts(30):
        why, run = model.explain(text), model.explain(text).trajectory
        if run is None:
            assert why.ledger == ()
            continue
        leading = {why.words[t] for t in run.leaders} - ({EXTRA_TOKEN} if model.has_neutral else set())
        assert {entry.word for entry in why.leaders} == leading
        end = run.ends() if math.isinf(model.layers) else run.at(run.layers)
        assert np.allclose(why.path[-1], end, atol=1e-12)
        assert np.array_equal(why.path[0], why.points)
        mean = (end * why.voices[:, None]).sum(axis=0) / why.voices.sum()
        assert np.allclose(why.found.masses @ why.points, mean, atol=1e-12)


@every_model
def test_active_tokens_are_those_that_do_not_follow_the_neutral_leader(name):
    model = MODELS[name]
    for text in random_texts(30):
        why = model.explain(text)
        for entry in why.ledger:
            neutral = model.has_neutral and EXTRA_TOKEN in (entry.leader, entry.word)
            silent = model.gate is not None and not entry.active
            assert entry.active == (entry.word != EXTRA_TOKEN and not neutral and not silent)
        if "endless" in name and any(entry.word == EXTRA_TOKEN and entry.leads for entry in why.ledger):
            assert why.rest == pytest.approx(0, abs=1e-12)


def test_plain_data_have_spans_that_point_at_the_tokens_in_the_original():
    why = MODELS["plain"].explain(TEXT)
    data = json.loads(json.dumps(why.to_dict()))
    assert [entry["spans"] for entry in data["ledger"]] == [[list(span) for span in e.spans] for e in why.ledger]
    places = {entry.word: [TEXT[a:b] for a, b in entry.spans] for entry in why.ledger}
    assert (places["not good"], places["the worst"], places["the"]) == (["NOT  good"], ["the worst"], ["The", "the"])
    assert all(len(entry.spans) == entry.count for entry in why.ledger)


# ---------------------------------------------------------------- removals


@every_model
def test_each_removal_is_the_best_of_those_left_by_reading_the_text_again(name):
    model = MODELS[name]
    for text in random_texts(4, seed=3):
        why, units = model.explain(text), Units.of(text, model.tokeniser)
        best, number = model.classes.index(why.label), {word: n for n, word in enumerate(units.words)}
        second = max((c for c in range(len(model.classes)) if c != best), key=why.found.probabilities[0].__getitem__)

        def lead(text, best=best, second=second):
            logits = np.append([0.0], MODELS[name].decision_function([text])[0])[-len(MODELS[name].classes) :]
            return logits[best] - logits[second]

        gone, before = [], lead(text)
        for place, removal in enumerate(why.removals):
            assert removal.spans == units.places[number[removal.word]]
            if removal.score <= 0:
                assert all(a.score >= b.score for a, b in pairwise(why.removals[place:]))
                break
            scores = {}
            for other in why.removals[place:]:
                loss = before - lead(units.without([*gone, number[other.word]]))
                scores[other.word] = loss / 3 + 2 / 3 * (lead(other.word) - lead(""))
            assert removal.score == pytest.approx(max(scores.values()), abs=1e-9)
            assert removal.score == pytest.approx(scores[removal.word], abs=1e-9)
            gone.append(number[removal.word])
            before -= removal.loss


def test_what_a_phrase_hid_appears_when_it_goes():
    own = small_model(
        vocabulary=Vocabulary(["not good", "good"], np.zeros((2, 2))),
        embeddings=[[-3, 0], [3, 0]],
        decoder=[[1, 0]],
        bias=[0.0],
        tokeniser=Tokeniser(overlapping=False),
    )
    first = own.explain("It is not good.").removals[0]
    assert (first.word, first.loss) == ("not", pytest.approx(6.0))  # "not good" goes, "good" appears
    assert own.explain("xyzzy").removals == ()


# ---------------------------------------------------------------- what is shown


def said(why) -> str:
    return "".join(bit.text for bit in sentence(why))


def test_a_sentence_names_leaders_with_their_classes_and_followers():
    vectors = [[3, 0.1], [-3, 0.1], [0.01, 0.1], [0.5, 0.1], [0, 0.1], [0, 0.1], [0.6, 0.1]] + [[0, 0.1]] * 6
    model = small_model(embeddings=vectors, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], bias=[0.0], layers=math.inf)
    why = model.explain("great film, plot but the awful good")
    assert said(why) == "Leaders: great (positive, 2 followers), awful (negative). 2 known tokens have no effect."
    assert [(bit.text, bit.side) for bit in sentence(why) if bit.side is not None] == [("great", 1), ("awful", 0)]
    assert said(model.explain("xyzzy")) == said(model.explain("")) == "The model knows no word of this text."
    assert said(model.explain("the film")) == "None of the known tokens is active."
    assert said(model.explain("great awful")) == "Several classes have the same score."
    assert str(model.explain("xyzzy")).splitlines()[0] == "undecided"


def test_without_layers_there_are_no_leaders_and_votes_speak_for_themselves():
    why = small_model(layers=0).explain("great awful film")
    assert said(why).startswith("Largest votes: ")
    assert "lead" not in str(why)
    assert "nobody" not in str(why)


def test_rows_that_are_left_out_are_summed_above_the_total():
    words = [f"w{chr(97 + n)}" for n in range(26)]
    turns = np.linspace(0, 2 * np.pi, 26, endpoint=False)
    known = Vocabulary(words, np.ones((26, 2)))
    model = small_model(vocabulary=known, embeddings=np.stack([np.cos(turns), np.sin(turns)], axis=1))
    why = model.explain(" ".join(words))
    lines = [line.split() for line in str(why).splitlines()]
    first = next(n for n, line in enumerate(lines) if line[:2] == ["active", "tokens"])
    assert [line[0] for line in lines[first + 1 : first + 21]] == [entry.word for entry in why.active[:20]]
    assert lines[first + 21][:4] == ["…", "and", "6", "more"]
    assert float(lines[first + 21][4]) == pytest.approx(sum(entry.vote for entry in why.active[20:]), abs=6e-4)
    assert [line[0] for line in lines[first + 22 : first + 24]] == ["bias", "logit"]


@every_model
def test_lines_fit_a_terminal_of_80_columns(name):
    for why in [MODELS[name].explain(text) for text in (TEXT, *random_texts(10))]:
        assert max(map(len, str(why).splitlines()[3:]), default=0) <= 80


@pytest.mark.parametrize(("bias", "shown"), [(50, "> 99.9 %"), (7.7, "> 99.9 %"), (6.5, "99.8 %"), (-50, "> 99.9 %")])
def test_no_probability_is_shown_as_certainty(bias, shown):
    why = small_model(decoder=[[0.0, 0.0]], bias=[bias]).explain(TEXT)
    assert str(why).splitlines()[0] == f"{why.label} {shown}"


def test_texts_unlike_those_of_training_get_a_note():
    model = small_model(metrics={LENGTHS: [10, 40]})
    assert model.explain("great film, awful plot").notes == ()
    assert "shorter than 99 %" in model.explain("great").notes[0]
    assert "longer than 99 %" in model.explain("great film " * 9).notes[0]
    assert small_model().explain("great film " * 9).notes == ()
    assert "unknown" in model.explain(f"great {'xyzzy ' * 5}").notes[0]
    assert model.explain("xyzzy").notes == ()  # that nothing is known is the answer


def test_a_terminal_has_the_text_the_bars_and_the_colours_of_the_classes():
    from rich.console import Console

    console = Console(width=80, force_terminal=True, color_system="standard", file=io.StringIO())
    console.print(LEADING.explain("great film, awful plot"))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1;4;34mgreat" in shown or "\x1b[1;4;7;31mgreat" in shown
    assert "█" in shown


def test_a_text_that_one_can_read_is_shown_whole():
    longest = ("great and awful, " * WHOLE)[:WHOLE]
    for text in ("", "xyzzy", longest, *random_texts(40)):
        assert "".join(piece.text for piece in pieces(LEADING.explain(text))) == text


def test_of_a_long_text_the_beginning_is_shown():
    filler = "word " * WHOLE
    for text in (f"It begins. {filler}a great film", "a great film. " * WHOLE, "It is not" + " " * WHOLE + "good."):
        *shown, last = pieces(NEGATED.explain(text))
        assert "".join(piece.text for piece in shown) == text[:WHOLE]
        assert (last.kind, last.text) == ("left out", f"… {len(text) - WHOLE:,} characters left out …")
    assert shown[1].entry is not None
    assert shown[1].entry.word == "not good"


LONG = {  # made when their test runs
    "said a million times": lambda: "great film " * 900_000,
    "all words": lambda: " ".join(random_texts(900) * 100),
}


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_ten_megabytes_are_explained_without_going_through_them_in_python(make):
    text = make()

    def explain() -> None:
        why = LEADING.explain(text)
        assert len(why._repr_html_()) < 20 * WHOLE
        assert len(str(why)) < WHOLE

    LEADING.explain("great film")._repr_html_()  # kernels and templates are compiled once, in Python
    assert lines_run(explain) < 300_000  # there are more words


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_an_explanation_is_saved_in_the_form_that_its_name_asks_for(tmp_path, suffix):
    why = MODELS["plain"].explain(TEXT + "\ud800")
    why.save(tmp_path / f"why{suffix}")
    assert str(why.label) in (tmp_path / f"why{suffix}").read_text(encoding="utf-8")


def test_other_forms_and_other_things_than_texts_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.html"):
        MODELS["plain"].explain(TEXT).save(tmp_path / "why.pdf")
    with pytest.raises(InputError, match="must be a text, not \\["):
        MODELS["plain"].explain([TEXT])  # type: ignore[arg-type]


def test_shipped_models_have_names_and_lengths():
    why = hm.load("imdb-2d-best").explain("An awful script, but the cast is great.")
    assert (why.model.name, why.model.layers) == ("imdb-2d-best", 0)
    assert "shorter than 99 %" in why.notes[0]


@every_model
def test_tokens_that_move_by_less_than_the_radius_follow_the_same_leaders(name):
    rng, model, seen = np.random.default_rng(0), MODELS[name], 0
    for text in random_texts(6, seed=3):
        why = model.explain(text)
        if why.trajectory is None or not 0 < why.radius < math.inf:
            continue
        layers = range(int(min(model.layers, 5)))
        for _ in range(20):
            moves = rng.normal(size=why.points.shape)
            moves *= why.radius / np.linalg.norm(moves, axis=1, keepdims=True)
            moved = walk_cloud(why.points + moves, why.voices, model.dynamics, model.layers)
            for layer in layers:
                assert moved.attended(layer).tolist() == why.trajectory.attended(layer).tolist()
        seen += 1
    assert seen or model.layers == 0 or "ti" in name  # where many tie, moves may part them


def test_no_vector_may_be_moved_where_tokens_tie():
    tied = small_model(embeddings=[[1, 1], [1, -1], [0.5, 0], *[[0.1, 0.1]] * 10])
    assert tied.explain("great awful film").radius == 0
