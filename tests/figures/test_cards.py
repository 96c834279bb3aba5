"""What objects show in a notebook: whole HTML, small, soon, and nothing unescaped; a table without
matplotlib."""

import base64
import io
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from figures.test_layers import CLOUDS
from PIL import Image
from text.small_models import word_model

import hardmax as hm
from hardmax import clouds
from hardmax.figures.cards import MOST_LISTED, table_card
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

HALF = hm.Dynamics("1/2")
LARGEST = 300_000  # characters


def model_of(classes: int, words: int = 30) -> TextModel:
    rng, rows = np.random.default_rng(classes), 1 if classes == 2 else classes
    return TextModel(
        vocabulary=Vocabulary(
            [f"word{number}" for number in range(words)], np.ones((words, classes))
        ),
        weights=rng.normal(size=(words, rows)),
        bias=np.zeros(rows),
        classes=tuple(f"class {c}" for c in range(classes)),
    )


def parsed(html: str) -> ElementTree.Element:
    """The card as a tree: a notebook that is given half an element shows the rest of its page
    inside it."""
    return ElementTree.fromstring(html)


def pictures(html: str) -> list[np.ndarray]:
    data = [
        img.get("src", "").removeprefix("data:image/png;base64,")
        for img in parsed(html).iter("img")
    ]
    return [np.array(Image.open(io.BytesIO(base64.b64decode(one))).convert("RGB")) for one in data]


SHOWN = ["one token", "on a line", "ties", "in space", "in five dimensions", "huge"]


@pytest.mark.parametrize("name", [*SHOWN, "tiny", "all lead"])
def test_cards_have_the_facts_and_a_picture(name):
    cloud = {"tiny": clouds.gaussian(9, 3) * 1e-300, "all lead": clouds.polygon(300), **CLOUDS}[
        name
    ]
    for thing in (hm.simulate(cloud, HALF, layers=6), hm.limit(cloud, HALF)):
        html = thing._repr_html_()
        assert len(html) < LARGEST
        assert repr(thing).partition("(")[2].removesuffix(")") in "".join(parsed(html).itertext())
        (picture,) = pictures(html)
        assert len({*map(tuple, picture.reshape(-1, 3)[::5].tolist())}) > 5


def test_a_card_says_what_its_marks_mean_and_what_is_left_out():
    texts = {
        name: "".join(parsed(hm.simulate(CLOUDS[name], HALF, layers=2)._repr_html_()).itertext())
        for name in ("in space", "in five dimensions", "many")
    }
    assert all("dot: layer 2" in text for text in texts.values())
    assert "diamond or cross" in hm.limit(CLOUDS["ties"], HALF)._repr_html_()
    assert [name for name, text in texts.items() if "principal coordinates of 5" in text] == [
        "in five dimensions"
    ]
    assert [name for name, text in texts.items() if "some of 1,000 tokens drawn" in text] == [
        "many"
    ]


def rows_of(html: str) -> list[list[str]]:
    """The cells of the table in a card."""
    return [["".join(cell.itertext()) for cell in row] for row in parsed(html).iter("tr")]


def test_a_batch_shows_its_first_clouds_and_how_many_settled():
    many = [clouds.gaussian(5 + n, 2, seed=n) for n in range(MOST_LISTED + 2)]
    for batch in (hm.simulate(many, HALF, layers=9), hm.limits(many, HALF)):
        html = batch._repr_html_()
        assert f"{len(many)} clouds, {len(many)} settled" in html
        assert rows_of(html)[2][0] == "1"
        assert rows_of(html)[2][1] in repr(batch[1])
        assert rows_of(html)[-1] == ["and 2 more"]


@pytest.mark.parametrize("classes", [2, 4, 30])
def test_a_model_shows_its_heaviest_tokens(classes):
    model = model_of(classes)
    first = model.keywords("class 0", 1)[0]
    assert rows_of(model._repr_html_())[1] == ["class 0", first.word, f"{first.weight:.3g}"]


def test_without_matplotlib_a_card_has_the_facts(monkeypatch):
    names = [name for name in sys.modules if name.startswith(("matplotlib", "hardmax.figures."))]
    for name in names:
        monkeypatch.delitem(sys.modules, name)
        if name.startswith("hardmax"):
            monkeypatch.delattr(hm.figures, name.rpartition(".")[2], raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = hm.simulate([[1, 1], [-1, 0.5], [0.5, 0.5]], HALF, layers=3)
    assert "3 tokens in 2 dimensions" in run._repr_html_()
    assert "word" in model_of(3)._repr_html_()
    with pytest.raises(ImportError, match="hardmax\\[figures\\]"):
        run.plot()


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x>', "&amp;\x1b[31m\u202e", "$x^$ {"]
)
def test_nothing_is_left_unescaped(hostile):
    html = replace(model_of(2), classes=(hostile, "other"))._repr_html_()
    assert not re.search(r"<script|<img src|[\x1b\u202e]", html)
    parsed(html)


def test_a_theorem_report_and_bifurcations_are_tables():
    report = hm.check_theorem(hm.limit(clouds.nonleader_clusters(), HALF))
    header, *rows = rows_of(report._repr_html_())
    assert header == ["statement", "verdict", "observed"]
    assert rows == [[each.claim, each.verdict, each.detail] for each in report]
    found = hm.bifurcations(clouds.emerging_leader(), ("1/10", 2))
    low, high = "(5 - √13)/6", "(5 + √13)/6"
    assert rows_of(found._repr_html_())[1:] == [
        ["1/10", low, "0.1 to 0.232408", "0, 2"],
        [low, high, "0.232408 to 1.43426", "0, 1, 2"],
        [high, "2", "1.43426 to 2", "0, 2"],
    ]


def test_a_long_table_says_how_many_rows_it_leaves_out():
    html = table_card("a text", [["number"], *([n] for n in range(100))], facts="a hundred")
    assert len(rows_of(html)) == MOST_LISTED + 2
    assert rows_of(html)[-1] == [f"and {100 - MOST_LISTED} more"]


def test_a_flip_is_a_table_of_changes_with_nothing_unescaped():
    model = word_model({"good": 3.0, "bad": -2.0})
    text = "<b>Good</b> and good, not bad"
    removed = model.flip(text)
    swapped = model.flip(text, replacements=["bad"])
    assert rows_of(removed._repr_html_())[1:] == [["good", "(removed)", "2"]]
    assert rows_of(swapped._repr_html_()) == [["word", "becomes", "places"], ["good", "bad", "2"]]
    assert str(swapped) in "".join(parsed(swapped._repr_html_()).itertext())
    assert swapped.text in "".join(parsed(swapped._repr_html_()).itertext())
    assert "<b>" not in swapped._repr_html_()
    assert rows_of(model.flip("nothing known")._repr_html_()) == [[]]
