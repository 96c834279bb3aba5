"""The Reviews room in a real browser: words are crossed out and edited, arrows go to what words
attend to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Watched, in_browser
from page.made_up import many_classes, two_classes
from text.units import cut

import hardmax as hm
from hardmax.text import view
from hardmax.text.explain import Explanation

pytestmark = [in_browser, pytest.mark.check]
REVIEW = (
    "An awful script and a dull first hour, but the two leads are wonderful. "
    "Awful, dull music; a great, great end."
)
READ = "It never gets boring, and I didn't find it awful. Boring? Dull? A very, very great film."
HEBREW = "הסרט לא כל כך טוב"
MODEL = two_classes()
# From which mark to which word each arrow goes, as words; "?" if it begins or ends elsewhere.
ARROWS = """() => {
    const text = document.querySelector(".hm-marked"), { left, top } = text.getBoundingClientRect()
    const words = [...text.querySelectorAll("[data-start]")]
    const wordAt = (x, y) => words.find((word) => [...word.getClientRects()].some((box) =>
        box.left <= x + left && x + left <= box.right &&
        box.top - 2 <= y + top && y + top <= box.bottom))
    return [...document.querySelectorAll(".hm-drawn path")].map((path) => {
        const line = path.getAttribute("d").replace("m-4-5l4 5l4-5", "")
        const numbers = line.match(/-?[\\d.]+/g).map(Number)
        const [from, to] = [numbers.slice(0, 2), numbers.slice(-2)].map((place) => wordAt(...place))
        return [from, to].map((word) => word?.textContent.toLowerCase() ?? "?")
    })
}"""
# The same of marks beside which the modifier is written.
APART = """() => [...document.querySelectorAll(".hm-apart")].map((mark) =>
    [mark.querySelector("[data-start]").textContent, mark.dataset.by].map(
        (word) => word.toLowerCase()))"""


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    with Watched(browser, reduced_motion="reduce") as page:
        yield page
        assert page.heard == []


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reviews") / "review.html"
    MODEL.explain(REVIEW).save(path, interactive=True)
    return path


def answers(page: Any, text: str) -> None:
    """Wait for the answer that Python gives to a text."""
    answer = MODEL.explain(text).answer
    page.wait_for_function(
        "told => document.querySelector('.hardmax-verdict')?.textContent === told", arg=answer
    )


def places_of(text: str, word: str) -> list[tuple[int, int]]:
    starts = [at for at in range(len(text)) if text.lower().startswith(word, at)]
    return [(start, start + len(word)) for start in starts]


def test_words_are_crossed_out_by_mouse_keys_and_table(review, watched):
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
    before, after = MODEL.explain(REVIEW), MODEL.explain(gone)
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
    assert MODEL.explain(cut(REVIEW, gone)).label != MODEL.explain(REVIEW).label


def test_an_edited_text_is_compared_with_the_original_and_keeps_what_is_crossed_out(
    review, watched
):
    page = watched.open(review)
    answers(page, REVIEW)
    page.click(".hm-marked mark:has-text('Awful')")
    text = REVIEW.replace("wonderful", "lovely")
    page.fill("#hm-reviews textarea", text)
    answers(page, cut(text, places_of(text, "awful")[1:]))
    assert "(edited; without “awful”; " in page.inner_text(".hm-change")
    page.fill("#hm-reviews textarea", "Something else: a lovely film.")
    answers(page, "Something else: a lovely film.")
    assert page.is_hidden(".hm-change")
    page.fill("#hm-reviews textarea", "")
    answers(page, "")
    assert "knows no word" in page.inner_text("#hm-reviews")
    assert page.is_hidden(".hm-drawn")


def expected_arrows(why: Explanation) -> list[list[str]]:
    """What Python says: the first word of each marked token that attends to another, and that
    word."""
    links = [piece.link for piece in view.pieces(why) if piece.link]
    return [[link.word.split()[0], link.modifier] for link in links]


LINES = {"short": READ, "many lines": 4 * f"{READ} ", "right to left": HEBREW}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_an_arrow_goes_from_each_word_to_what_it_attends_to(text, watched, tmp_path):
    why = MODEL.explain(text)
    why.save(tmp_path / "page.html", interactive=True)
    page = watched.open(tmp_path / "page.html")
    answers(page, text)
    assert expected_arrows(why)
    for width in (1200, 390, 700):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)  # in which they are drawn again
        arrows, apart = page.evaluate(ARROWS), page.evaluate(APART)
        assert sorted(arrows + apart) == sorted(expected_arrows(why)), width
        assert arrows or width == 390
        flat = "path => path.getBoundingClientRect().height < 40"
        assert all(arrow.evaluate(flat) for arrow in page.locator(".hm-drawn path").all())
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("model", [MODEL, many_classes(4)], ids=["two", "four"])
def test_the_page_shows_what_python_shows_and_votes_add_up(model, watched, tmp_path, browser):
    why = model.explain(READ)
    why.save(tmp_path / "page.html", interactive=True)
    page = watched.open(tmp_path / "page.html")
    page.wait_for_selector(".hm-marked mark")
    with Watched(browser, java_script_enabled=False) as still:
        static = still.open(tmp_path / "page.html")
        for part in ("tbody tr", "thead th", ".hardmax-verdict", ".hardmax-summary", "dl"):
            listed = static.locator(part).all_inner_texts()
            assert listed == page.locator(part).all_inner_texts(), part
        assert static.locator("mark").all_inner_texts() == page.locator("mark").all_inner_texts()
        begun = static.locator(".hardmax-end:has(.hardmax-from)").all_inner_texts()
        assert [word.lower() for word in begun] == [word for word, _ in expected_arrows(why)]
        assert len(begun) >= 3
    cells = "rows => rows.map(row => Number(row.cells[1].textContent))"
    *parts, logit = page.eval_on_selector_all("tbody tr", cells)
    assert sum(parts) == pytest.approx(logit, abs=5e-4 * len(parts))
    listed = page.locator("tbody tr td:nth-child(4)").all_inner_texts()
    assert listed == [row.beside for row in view.rows(why, 40)]


def test_the_shipped_model_reads_in_the_page(watched, tmp_path):
    texts = ["A wonderful film.", "Awful.", "I don't like it.", "It never gets boring."]
    model = hm.load_model("sentiment-en")
    model.explain("").save(tmp_path / "page.html", interactive=True)
    page = watched.open(tmp_path / "page.html")
    page.wait_for_function("() => window.hardmax")
    classify = "async text => (await hardmax.classify(text)).label"
    labels = [page.evaluate(classify, text) for text in texts]
    assert labels == model.predict(texts).tolist()
    assert labels[:2] == ["positive", "negative"]
