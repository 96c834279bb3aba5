"""A whole model on a page, two models and two tables compared: numbers are those of explanations,
changes add up, and nothing hostile runs."""

import base64
import gzip
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from browser import Watched, in_browser
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from text.small_models import models, random_texts, small_model, texts, word_model

from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel

pd: Any = pytest.importorskip("pandas")
overview: Any = pytest.importorskip("hardmax.text.overview")

TEXTS = [f"{text} film" for text in random_texts(60)]
TABLE = pd.DataFrame({"text": TEXTS, "number": range(60), "kind": ["a", "b", None] * 20})
SECOND = small_model(3)


def labelled(model: TextModel, table: Any = TABLE) -> Any:
    """The table with labels of which some are wrong."""
    numbers = model.predict_proba(table["text"]).argmax(axis=1)
    return table.assign(label=np.take(model.classes, (numbers + (table.index % 5 == 0)) % 2))


def data_of(html: str) -> dict[str, Any]:
    """What the page's script reads."""
    packed = re.search('id="hardmax-data">(.*?)</script>', html)
    assert packed
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def word_of(model: TextModel, text: str, word: str) -> Any:
    return next(entry for entry in model.explain(text).ledger if entry.word == word)


# ---------------------------------------------------------------- comparisons


said = st.lists(texts(), min_size=1, max_size=5)


@given(models(), said, said)
def test_changes_of_all_words_are_the_change_of_the_mean_logit(model, old, new):
    tables = [pd.DataFrame({"text": [one.text or "x" for one in each]}) for each in (old, new)]
    words = overview.drift(model, *tables, top=10**6)["words"]
    logits = [model.analyse(table["text"]).logits.mean(axis=0) for table in tables]
    names = [f"vote {label}" for label in model.classes[-len(model.bias) :]]
    for row, name in enumerate(names):
        change = (words[f"{name}_second"] - words[f"{name}_first"]).sum()
        assert change == pytest.approx(logits[1][row] - logits[0][row], abs=1e-12)


def test_two_models_differ_by_the_word_that_was_changed_and_by_what_it_changes():
    model = small_model()
    other = model.edit({"great": -5.0})
    [word] = overview.diff(model, other)["words"].reset_index().to_dict("records")
    assert word["index"] == "great"
    alone = [each.explain("great").logit - each.bias[0] for each in (model, other)]
    shown = [word["vote positive_first"], word["vote positive_second"]]
    assert shown == pytest.approx(alone)
    table = labelled(model)
    found = overview.diff(model, other, table, label="label")
    assert found["words"].index.tolist() == ["great"]
    answers = [each.predict(table["text"]) for each in (model, other)]
    right = [answer == table["label"] for answer in answers]
    pairs = found["pairs"].iloc[0]
    assert pairs["different labels"] == np.mean(answers[0] != answers[1]) > 0
    assert pairs["gain"] == pytest.approx(right[1].mean() - right[0].mean())
    rows = found["texts"]
    assert sorted(rows.index) == np.flatnonzero(answers[0] != answers[1]).tolist()
    assert rows["second"].tolist() == answers[1][rows.index].tolist()
    assert rows["text"].tolist() == table["text"][rows.index].tolist()


def test_drift_names_the_words_that_the_model_does_not_know():
    model = word_model({"good": 2, "bad": -2}, modifiers=[Modifier("not", -0.5)])
    old, new = ["a good film"] * 4, ["a good covid film", "bad covid", "not bad", "covid"]
    tables = [pd.DataFrame({"review": each}) for each in (old, new)]
    found = overview.drift(model, *tables)
    unknown = found["unknown"]
    assert unknown.index[0] == "covid"
    assert unknown.loc["covid"].tolist() == [0.0, 0.75]
    assert "good" not in unknown.index
    facts = found["facts"]
    assert facts.loc["texts"].tolist() == [4, 4]
    assert facts.loc["undecided"].tolist() == [0.0, 0.25]
    assert facts.loc["model_sha256"].tolist() == [model._digest] * 2


def test_slices_are_the_means_of_the_answers_to_their_rows_the_worst_first():
    model = small_model()
    dates = pd.date_range("2026-01-01", periods=60)
    table = labelled(model).assign(date=dates, name=[f"name {n}" for n in range(60)])
    table.loc[5, "number"] = np.nan
    judged = overview.Judged(model, table, "`table`", None, "label")
    slices = judged.slices()
    right = model.predict(judged.texts) == table["label"][judged.texts.index]
    assert slices["right"].is_monotonic_increasing
    kind = table["kind"][judged.texts.index]
    for value in ("a", "b"):
        row = slices.loc["kind", value]
        assert row["right"] == pytest.approx(right[kind == value].mean())
        assert row["texts"] == (kind == value).sum()
    quarters = slices.loc["number"]
    assert len(quarters) == 4
    assert quarters["texts"].sum() == len(judged.texts) - 1
    shown = {column for column, _ in slices.index}
    assert shown == {"number", "kind", "label", "characters"}


def test_what_cannot_be_compared_is_refused():
    model = small_model()
    with refuses("`second` must have the same classes as `first`"):
        overview.diff(model, small_model(classes=3))
    with refuses("`old` has no text"):
        overview.drift(model, pd.DataFrame({"text": ["", None]}), TABLE)
    with refuses("'a': the model knows negative, positive"):
        model.show(TABLE, label="kind")


# ---------------------------------------------------------------- the page


@given(models(), said)
def test_the_page_has_the_numbers_of_explanations(model, drawn):
    said = [one.text or "x" for one in drawn]
    data = data_of(model.show(pd.DataFrame({"text": said})).html)
    classes = len(data["heads"])
    alone = model.weights / (1 + model.rule.neutral_weight)
    for word, _, *numbers in data["words"]:
        number = model.vocabulary.index.get(word)
        expected = np.zeros(classes) if number is None else alone[number]
        assert numbers[:classes] == pytest.approx(expected, abs=1e-5)
    loud = {word for word, *numbers in data["words"] if any(numbers[1 : classes + 1])}
    known = model.vocabulary.surfaces
    assert loud == {known[n] for n in np.flatnonzero(np.abs(alone).max(axis=1) >= 5e-4)}
    if classes == 1:
        found = model.analyse(said)
        for word, vote, *_ in data["places"]:
            own = found.votes[found.ids == model.vocabulary.index[word], 0]
            assert np.abs(own - vote).min() < 1e-5


def test_a_word_is_shown_where_it_counts_most_with_the_label_of_the_text():
    model = word_model({"good": 2, "bad": -4, "film": 0.1})
    said = ["good film " * 9, "x " * 300 + "good", "bad film good"]
    table = pd.DataFrame({"text": said, "label": ["positive", "negative", "negative"]})
    places = data_of(model.show(table, label="label").html)["places"]
    own = [place for place in places if place[0] == "good"]
    votes = [word_of(model, text, "good").vote for text in (said[1], said[0], said[2])]
    assert [place[1] for place in own] == pytest.approx(votes, abs=1e-5)
    assert "good" in own[0][2]
    assert [place[3] for place in own] == ["positive", "positive", "negative"]


IMAGE = "</script><img src=x onerror=document.title='owned'>"


def hostile_page() -> Any:
    model = replace(small_model(), classes=(f"no{IMAGE}", f"yes{IMAGE}"), name=IMAGE)
    model = replace(model, metrics={"purpose": IMAGE, "uses": {IMAGE: IMAGE}})
    said = [f"great {IMAGE} {text}" for text in TEXTS]
    table = pd.DataFrame({"text": said, f"column{IMAGE}": [f"value{IMAGE}", "b"] * 30})
    return model.show(table.assign(label=model.classes[0]), label="label")


def test_hostile_words_are_escaped():
    page = hostile_page().html
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page


@pytest.mark.check
@in_browser
@pytest.mark.parametrize("bypass", [True, False])
def test_the_page_searches_loads_nothing_and_runs_nothing_hostile(browser, tmp_path, bypass):
    hostile_page().save(tmp_path / "page.html")
    with Watched(browser, 390, bypass_csp=bypass) as watched:
        page = watched.open(tmp_path / "page.html")
        page.fill("#hardmax-word", "great")
        assert page.inner_text("#hardmax-told h3") == "great"
        assert page.inner_text("blockquote mark >> nth=0") == "great"
        page.fill("#hardmax-word", "<img src=x onerror=alert(1)>")
        assert "no vote" in page.inner_text("#hardmax-told")
        assert page.evaluate("document.images.length") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.title() != "owned"
        assert watched.heard == []


@pytest.mark.check
@in_browser
def test_a_word_changes_its_vote_after_a_modifier_and_a_phrase_with_one_does_not(browser, tmp_path):
    modifiers = [Modifier("not", -0.5), Modifier("*n't", 2.0)]
    model = word_model({"good": 2, "not good": -3, "don't go": 1}, modifiers=modifiers)
    model.show().save(tmp_path / "page.html")
    with Watched(browser) as watched:
        page = watched.open(tmp_path / "page.html")
        page.fill("#hardmax-word", "good")
        shown = page.inner_text("#hardmax-told")
        [link] = model.explain("not a good").links
        entry = word_of(model, "not a good", "good")
        assert f"on its own\t{entry.weight:+.3f}" in shown
        assert link.modifier == "not"
        assert f"after not\t{entry.vote:+.3f}" in shown
        assert "after *n't\t+2.000" in shown
        for phrase in ("not good", "don't go"):
            page.fill("#hardmax-word", phrase)
            assert "after" not in page.inner_text("#hardmax-told")


@pytest.mark.check
@in_browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1200, "light")])
def test_axe_finds_nothing(browser, tmp_path, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    model = small_model()
    model.show(labelled(model), label="label").save(tmp_path / "page.html")
    small_model(classes=4).show(TABLE).save(tmp_path / "four.html")
    with Watched(browser, width, color_scheme=scheme) as watched:
        for name in ("page", "four"):
            page = watched.open(tmp_path / f"{name}.html")
            page.fill("#hardmax-word", "g")
            found = axe.Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], name


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    shown = small_model().show()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown
