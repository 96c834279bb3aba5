import json
import math
import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.text.explain.account import EXTRA_TOKEN
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
}
TEXT = "A great film? The <b>plot</b> is NOT  good & awful, the worst!"


@pytest.mark.parametrize("name", MODELS)
def test_bias_and_contributions_add_up_to_the_logit_and_masses_to_one(name):
    for text in random_texts(60):
        why = MODELS[name].explain(text)
        parts = [share.contribution for share in why.ledger]
        assert math.fsum([why.bias, *parts]) == pytest.approx(why.logit, rel=1e-13, abs=1e-13)
        if why.ledger:
            assert math.fsum(share.mass for share in why.ledger) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_an_explanation_has_the_numbers_of_the_prediction_to_the_bit(name):
    model, texts = MODELS[name], random_texts(60)
    chances, labels = model.predict_proba(texts), model.predict(texts)
    for text, chance, label in zip(texts, chances, labels, strict=True):
        why = model.explain(text)
        assert list(why.probabilities.values()) == chance.tolist()
        assert (why.label, why.probability) == (label, why.probabilities[label])
        if why.decided:
            assert why.probability == chance.max()


@pytest.mark.parametrize("name", MODELS)
def test_leaders_are_those_of_the_run(name):
    model = MODELS[name]
    for text in random_texts(60):
        why = model.explain(text)
        if why.trajectory is None:
            assert why.leaders == ()
            continue
        found = model.analyse([text])
        surfaces = [*model.vocabulary.surfaces, EXTRA_TOKEN]
        wanted = {surfaces[found.ids[t]] for t in why.trajectory.leaders}
        assert {share.word for share in why.leaders} == wanted - ({EXTRA_TOKEN} if model.has_neutral else set())


@pytest.mark.parametrize("name", MODELS)
def test_masses_rebuild_the_mean_of_the_last_layer(name):
    model = MODELS[name]
    for text in random_texts(30):
        why = model.explain(text)
        if why.trajectory is None:
            continue
        run = why.trajectory
        end = run.ends() if math.isinf(model.layers) else run.at(run.layers)
        mean = (end * why.voices[:, None]).sum(axis=0) / why.voices.sum()
        masses = model.analyse([text]).masses
        assert np.allclose(masses @ why.points, mean, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_bias_votes_and_the_rest_add_up_to_the_logit(name):
    for text in random_texts(60):
        why = MODELS[name].explain(text)
        parts = [vote.vote for vote in why.counting]
        assert math.fsum([why.bias, *parts, why.rest]) == pytest.approx(why.logit, rel=1e-9, abs=1e-9)
        assert parts == sorted(parts, key=abs, reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_the_words_that_count_are_those_that_do_not_follow_the_neutral_leader(name):
    model = MODELS[name]
    for text in random_texts(30):
        why, found = model.explain(text), model.analyse([text])
        surfaces = [*model.vocabulary.surfaces, EXTRA_TOKEN]
        words = [surfaces[token] for token in found.ids]
        assert {vote.word for vote in why.counting} == {
            w for w, counts in zip(words, found.active, strict=True) if counts
        }
        followed = {w: words[place] if place >= 0 else None for w, place in zip(words, found.follows, strict=True)}
        assert {vote.word: vote.leader for vote in why.counting}.items() <= followed.items()
        voices = dict(zip(words, why.voices.tolist(), strict=True))
        neutral = sum(voices[w] for w in words if w != EXTRA_TOKEN and model.has_neutral and followed[w] == EXTRA_TOKEN)
        assert why.neutral * max(1, sum(n for w, n in voices.items() if w != EXTRA_TOKEN)) == pytest.approx(neutral)


def test_who_follows_a_neutral_leader_for_ever_adds_nothing():
    model = MODELS["neutral and endless"]
    told = [model.explain(text) for text in random_texts(60)]
    assert any(why.neutral > 0.2 for why in told)
    for why in told:
        if any(share.word == EXTRA_TOKEN and share.leads for share in why.ledger):
            assert why.rest == pytest.approx(0, abs=1e-12)


def test_without_a_neutral_leader_every_word_counts():
    for name in ("plain", "extra token", "three classes"):
        why = MODELS[name].explain(TEXT)
        assert {vote.word for vote in why.counting} == {share.word for share in why.ledger} - {EXTRA_TOKEN}
        assert why.neutral == 0


def test_both_ledgers_are_shown_and_what_is_too_long_is_told():
    # Every word leads: twenty of them are shown, and what the others add together.
    words = [f"w{chr(97 + n)}" for n in range(26)]
    turns = np.linspace(0, 2 * np.pi, 26, endpoint=False)
    known = Vocabulary(words, np.ones((26, 2)))
    model = small_model(vocabulary=known, embeddings=np.stack([np.cos(turns), np.sin(turns)], axis=1))
    why = model.explain(" ".join(words))
    lines = str(why).splitlines()
    first, second = (
        next(n for n, line in enumerate(lines) if title in line) for title in ("words that count", "leaders")
    )
    assert [line.split()[0] for line in lines[first + 1 : first + 21]] == [vote.word for vote in why.counting[:20]]
    assert lines[first + 21].split()[:4] == ["…", "and", "6", "more"]
    assert float(lines[first + 21].split()[4]) == pytest.approx(sum(vote.vote for vote in why.counting[20:]), abs=6e-4)
    assert [line.split()[0] for line in lines[second - 2 : second]] == ["bias", "logit"]
    assert "more" not in why._repr_html_()


def test_the_text_is_marked_by_side_and_leaders_apart():
    vectors = [[3, 0.1], [-3, 0.1], [0.01, 0.2], [0.5, 0.1]] + [[0, 0.1]] * 9
    model = small_model(embeddings=vectors, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], layers=math.inf)
    shown = model.explain("great film, plot but the awful")._repr_html_()
    marks = re.findall('<mark class="([^"]*)">(.*?)</mark>', shown)
    assert marks == [("c0 s3 leads", "great"), ("c0 s3", "plot"), ("c1 s3 leads", "awful")]
    assert "<td><bdi>neutral leader</bdi></td>" in shown
    assert "<td><bdi>leads</bdi></td>" in shown


def test_spans_point_at_the_words_in_the_original():
    why = MODELS["plain"].explain(TEXT)
    places = {share.word: [TEXT[a:b] for a, b in share.spans] for share in why.ledger}
    assert places["not good"] == ["NOT  good"]
    assert places["the worst"] == ["the worst"]
    assert places["the"] == ["The", "the"]
    assert all(len(share.spans) == share.count for share in why.ledger)


def test_plain_data_survive_json():
    why = MODELS["extra token"].explain(TEXT)
    data = json.loads(json.dumps(why.to_dict()))
    assert data["label"] == why.label
    assert data["bias"] + sum(share["contribution"] for share in data["ledger"]) == pytest.approx(data["logit"])
    assert [share["word"] for share in data["leaders"]] == [share.word for share in why.leaders]


def test_the_words_for_a_terminal_name_the_label_and_every_leader():
    why = MODELS["plain"].explain(TEXT)
    lines = str(why).splitlines()
    assert lines[0] == f"{why.label} {100 * why.probability:.1f} %"
    for share in why.leaders:
        assert any(share.word in line and f"{share.contribution:+.3f}" in line for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("bias", "shown"), [(50, "> 99.9 %"), (7.7, "> 99.9 %"), (6.5, "99.8 %"), (-50, "> 99.9 %")])
def test_no_probability_is_shown_as_certainty(bias, shown):
    why = small_model(decoder=[[0.0, 0.0]], bias=[bias]).explain(TEXT)
    assert str(why).splitlines()[0] == f"{why.label} {shown}"
    assert f"</strong> {escape(shown)}</p>" in why._repr_html_()


def test_an_answer_about_nothing_says_so():
    assert "knows no word" in str(MODELS["plain"].explain("xyzzy"))
    assert "knows no word" in MODELS["plain"].explain("xyzzy")._repr_html_()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)


def test_nothing_of_the_text_reaches_html_unescaped():
    evil = "great <script>alert('x')</script> <img src=x onerror=y> \" & film </div>"
    model = small_model(**{"classes": 3})
    for shown in (MODELS["plain"].explain(evil)._repr_html_(), model.explain(evil)._repr_html_()):
        tags = Tags()
        tags.feed(shown)
        ours = {
            "div",
            "style",
            "p",
            "strong",
            "b",
            "i",
            "bdi",
            "mark",
            "ul",
            "li",
            "aside",
            "table",
            "caption",
            "thead",
        }
        assert tags.names <= ours | {"tbody", "tr", "th", "td", "figure", "figcaption", "svg", "path", "text"}
        assert "<mark" in shown


def test_overlapping_leaders_are_marked_once():
    # "not good" and "good" both lead, and stand in the same place.
    model = small_model(embeddings=[[0, 0.1]] * 5 + [[3, 0], [-2, 1]] + [[0.1, 0]] * 6)
    why = model.explain("A not good film")
    assert {share.word for share in why.leaders} >= {"not good", "good"}
    shown = why._repr_html_()
    assert re.findall("<mark[^>]*leads[^>]*>(.*?)</mark>", shown) in (["not good"], ["good"])
    assert re.findall("<mark[^>]*>(.*?)</mark>", shown) in (["A", "not good", "film"], ["A", "good", "film"])


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_an_explanation_is_saved_in_the_form_that_its_name_asks_for(tmp_path, suffix):
    why = MODELS["plain"].explain(TEXT + "\ud800")
    why.save(tmp_path / f"why{suffix}")
    content = (tmp_path / f"why{suffix}").read_text(encoding="utf-8")
    assert str(why.label) in content
    if suffix == ".html":
        assert "Content-Security-Policy" in content
        assert "://" not in content.replace("http://www.w3.org/2000/svg", "")  # which is a name, not an address


def test_other_forms_and_other_things_than_texts_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.html"):
        MODELS["plain"].explain(TEXT).save(tmp_path / "why.pdf")
    with pytest.raises(InputError, match="must be a text, not \\["):
        MODELS["plain"].explain([TEXT])  # type: ignore[arg-type]
