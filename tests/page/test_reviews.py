"""The Reviews room in a real browser: words are crossed out and edited, tokens and classes drawn where they belong."""

import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from browser import Watched, in_browser
from text.small_models import small_model

import hardmax as hm
from hardmax.text.spans import cut
from hardmax.text.text_model import TextModel

pytestmark = in_browser
REVIEW = (
    "An awful script and a dull first hour, but the two leads are wonderful. Awful, dull music; a great, great end."
)
LONG = f"{REVIEW} It was boring, a waste of time, not funny at all, and the worst thing that I have seen this year."
MADE_UP = "a great film, very witty but the plot is awful so not good, dull"
BOXES = """all => all.map(each => each.getBBox()).map(box => [box.x, box.y, box.x + box.width, box.y + box.height])"""
# The class of the region in which the mean is drawn.
REGION = """() => {
    const plane = document.querySelector(".hm-plane"), mean = plane.querySelector(".hm-mean")
    const point = plane.createSVGPoint()
    point.x = Number(mean.getAttribute("x"))
    point.y = Number(mean.getAttribute("y"))
    return [...plane.querySelectorAll("polygon")].findIndex(each => each.points.length && each.isPointInFill(point))
}"""
MODELS: dict[str, TextModel] = {
    "one dimension": small_model(dimension=1, layers=3),
    "three classes": small_model(classes=3, dimension=3, layers=math.inf),
    "twenty classes": small_model(classes=20, dimension=6, layers=5),
    "extra token": small_model(dimension=4, extra=[0, 1, 2, 3]),
}


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    with Watched(browser, reduced_motion="reduce") as page:
        yield page
        assert page.heard == []


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reviews") / "review.html"
    hm.load("imdb-2d").explain(REVIEW).save(path)
    return path


def answers(page: Any, text: str) -> None:
    """Wait for the answer that Python gives to a text."""
    answer = hm.load("imdb-2d").explain(text).answer
    page.wait_for_function("told => document.querySelector('.hardmax-verdict')?.textContent === told", arg=answer)


def places_of(text: str, word: str) -> list[tuple[int, int]]:
    starts = [at for at in range(len(text)) if text.lower().startswith(word, at)]
    return [(start, start + len(word)) for start in starts]


def test_words_are_crossed_out_by_mouse_keys_and_ledger(review, watched):
    page = watched.open(review)
    answers(page, REVIEW)
    awful, dull = places_of(REVIEW, "awful"), places_of(REVIEW, "dull")
    page.click(".hm-marked mark:has-text('awful') >> nth=0")
    answers(page, cut(REVIEW, awful[:1]))
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "script"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    answers(page, REVIEW)
    assert page.is_hidden(".hm-change")
    page.keyboard.press("Shift+Enter")
    answers(page, cut(REVIEW, awful))
    page.click(".hm-token:has-text('dull')")
    gone = cut(REVIEW, sorted(awful + dull))
    answers(page, gone)
    assert page.locator(".hm-marked del").all_inner_texts() == ["awful", "dull", "Awful", "dull"]
    model = hm.load("imdb-2d")
    before, after = model.explain(REVIEW), model.explain(gone)
    assert page.inner_text(".hm-change p").startswith(
        f"{before.answer} → {after.answer} (without “awful”, “dull”; logit"
    )
    page.wait_for_function("() => location.hash.includes('out=')")
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    answers(page, gone)
    assert page.locator(".hm-marked del").count() == 4
    page.keyboard.press("r")
    answers(page, REVIEW)


def test_words_are_found_that_change_the_answer(review, watched):
    page = watched.open(review)
    answers(page, REVIEW)
    page.click("text=Find words that change the answer")
    page.wait_for_selector(".hm-marked del")
    crossed = {word.lower() for word in page.locator(".hm-marked del").all_inner_texts()}
    gone = sorted(place for word in crossed for place in places_of(REVIEW, word))
    answers(page, cut(REVIEW, gone))
    model = hm.load("imdb-2d")
    assert model.explain(cut(REVIEW, gone)).label != model.explain(REVIEW).label


def test_an_edited_text_is_compared_with_the_original_and_keeps_what_is_crossed_out(review, watched):
    page = watched.open(review)
    answers(page, REVIEW)
    page.click(".hm-marked mark:has-text('Awful')")
    text = REVIEW.replace("wonderful", "unbearable")
    page.fill("#hm-reviews textarea", text)
    answers(page, cut(text, places_of(text, "awful")[1:]))
    assert "(edited; without “awful”; " in page.inner_text(".hm-change")
    page.fill("#hm-reviews textarea", "Something else: a lovely film.")
    answers(page, "Something else: a lovely film.")
    assert page.is_hidden(".hm-change")
    page.fill("#hm-reviews textarea", "")
    answers(page, "")
    assert "knows no word" in page.inner_text("#hm-reviews")
    assert page.is_hidden(".hm-plane")


@pytest.mark.parametrize("name", ["long", *MODELS])
def test_no_label_covers_another_and_the_mean_ends_in_the_region_of_the_label(name, watched, tmp_path):
    why = MODELS[name].explain(MADE_UP) if name in MODELS else hm.load("imdb-2d").explain(LONG)
    why.save(tmp_path / "page.html")
    page = watched.open(tmp_path / "page.html")
    page.wait_for_selector(".hm-plane .hm-mean")
    last = int(page.get_attribute("[aria-label=Layer]", "max"))
    assert last >= 1
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        for layer in range(last + 1):
            page.fill("[aria-label=Layer]", str(layer))
            labels = page.eval_on_selector_all(".hm-plane text:not(.hm-sign)", BOXES)
            assert len(labels) >= 3
            for (left, top, right, bottom), (x0, y0, x1, y1) in combinations(labels, 2):
                # These boxes are as high as a line.
                assert min(right, x1) <= max(left, x0) + 1 or min(bottom, y1) <= max(top, y0) + 4
        assert page.evaluate(REGION) == list(why.model.classes).index(why.label)
        stars = [leader for leader in why.leaders if leader.active]
        assert page.locator(".hm-plane .hm-star:text-is('★')").count() == len(stars)
