"""Pages in a real Chromium: nothing is loaded, nothing runs, everybody can read them."""

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from text.explain.hostile import HOSTILE, SCRIPT
from text.small_models import small_model

import hardmax as hm
from hardmax.cli.demo.reviews import REVIEWS
from hardmax.text.explain.excerpt import WHOLE
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

playwright_api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)")
PHONE, DESK = 390, 1200
WORDS = {
    "arabic": ("رائع", "ممل", "الفيلم", "جميل", "القصة", "سيئ"),
    "chinese": ("精彩", "无聊", "电影", "好看", "故事", "差"),
}
NAMES_IN_PICTURES = """() => [...document.querySelectorAll("svg")].map(svg => ({
    width: svg.viewBox.baseVal.width,
    height: svg.viewBox.baseVal.height,
    names: [...svg.querySelectorAll("text")].map(text => {
        const box = text.getBBox()
        return [box.x, box.y + 2, box.x + box.width, box.y + box.height - 2]
    })
}))"""
SAYS = (2.2, -1.8, 0.0, 1.4, 0.0, -2.4)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as api:
        rooted = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
        opened = api.chromium.launch(executable_path=CHROMIUM, args=rooted)
        yield opened
        opened.close()


class Watched:
    """A page that is opened without a network, and whatever it says, asks for or does."""

    def __init__(self, browser: Any, width: int = DESK, **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **context)
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.heard: list[str] = []
        self.page.on("console", lambda message: self.heard.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.heard.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("dialog", self._dialog)

    def _request(self, request: Any) -> None:
        if request.url.split("#")[0] != self.own:
            self.heard.append(f"request: {request.url}")

    def _dialog(self, dialog: Any) -> None:
        self.heard.append("dialog")
        dialog.dismiss()

    def open(self, path: Path) -> Any:
        self.own = path.as_uri()
        self.page.goto(self.own)
        return self.page

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def shipped() -> TextModel:
    return hm.load("imdb-2d")


def neutral(words: tuple[str, ...], says: tuple[float, ...], **changes: Any) -> TextModel:
    """A model of these words that has a neutral leader."""
    return small_model(
        vocabulary=Vocabulary(words, np.ones((len(words), 2))),
        embeddings=[[said, 0.2] for said in says],
        extra=[0.0, 1.0],
        decoder=[[8.0, 0.0]],
        bias=[0.0],
        binary=True,
        **changes,
    )


def explanations() -> dict[str, Any]:
    told = {name: shipped().explain(text) for name, text in REVIEWS.items()}
    told["long"] = shipped().explain(" ".join(itertools.chain.from_iterable([REVIEWS.values()] * 30)))
    told["sixteen dimensions"] = hm.load("imdb-16d").explain(REVIEWS["review-bad"])
    told["three classes"] = small_model(classes=3, dimension=3).explain(
        "a great film, very witty but the plot is awful"
    )
    told["nothing known"] = shipped().explain("xyzzy")
    told["empty"] = small_model().explain("")
    told |= {name: neutral(words, SAYS).explain(" ".join(words)) for name, words in WORDS.items()}
    return told


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, told = tmp_path_factory.mktemp("pages"), explanations()
    for name, why in told.items():
        why.save(folder / f"{name}.html")
    hm.report([told[name] for name in (*REVIEWS, "arabic", "nothing known")], folder / "report.html")
    return {name: folder / f"{name}.html" for name in (*told, "report")}


def test_a_page_asks_for_nothing_and_says_nothing_on_the_console(browser, pages):
    with Watched(browser) as watched:
        for path in pages.values():
            watched.open(path)
            assert watched.heard == []


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESK, "light")])
def test_axe_finds_nothing_serious(browser, pages, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    with Watched(browser, width, color_scheme=scheme) as watched:
        for name in ("three classes", "report"):
            found = axe.Axe().run(watched.open(pages[name])).response["violations"]
            bad = [(each["id"], each["nodes"][0]["html"][:200]) for each in found if _is_serious(each)]
            assert bad == [], name


def _is_serious(violation: dict[str, Any]) -> bool:
    return violation["impact"] in ("serious", "critical")


def test_nobody_has_to_scroll_sideways(browser, pages):
    with Watched(browser) as watched:
        for name, path in pages.items():
            page = watched.open(path)
            for width in (320, PHONE, 768, DESK):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)


def test_words_in_the_picture_do_not_lie_over_one_another_nor_outside(browser, pages):
    """In the letters that Chromium has, not in those that we guess at."""
    with Watched(browser) as watched:
        drawn = {name: watched.open(path).evaluate(NAMES_IN_PICTURES) for name, path in pages.items()}
    for name, pictures in drawn.items():
        for picture in pictures:
            for left, top, right, bottom in picture["names"]:
                assert -1 <= left <= right <= picture["width"] + 1, name
                assert -1 <= top <= bottom <= picture["height"] + 1, name
            for a, b in itertools.combinations(picture["names"], 2):
                across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
                assert across <= 1 or down <= 1, name


@pytest.mark.parametrize("name", WORDS)
def test_a_text_runs_in_the_direction_of_its_script(browser, pages, name):
    with Watched(browser) as watched:
        page = watched.open(pages[name])
        found = page.evaluate("getComputedStyle(document.querySelector('.hardmax-text')).direction")
        assert found == ("rtl" if name == "arabic" else "ltr")


def test_the_page_is_dark_in_the_dark_and_white_on_paper(browser, pages):
    ground = "getComputedStyle(document.body).backgroundColor"
    with Watched(browser, color_scheme="dark") as watched:
        page = watched.open(pages["long"])
        assert page.evaluate(ground) == "rgb(21, 23, 27)"
        page.emulate_media(media="print", color_scheme="light")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        hidden = "all => Math.max(...all.map(each => each.scrollHeight - each.clientHeight))"
        assert page.eval_on_selector_all(".hardmax-scroll", hidden) <= 1, "all rows of a table are on paper"
        assert len(page.pdf()) > 1000


def test_a_report_is_walked_through_with_the_keyboard(browser, pages):
    with Watched(browser) as watched:
        page = watched.open(pages["report"])
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#text-1"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.url.endswith("#text-2")
        page.keyboard.press("Tab")  # into the text that was asked for
        assert page.evaluate("document.activeElement.closest('article').id") == "text-2"
        assert page.evaluate("document.activeElement.tabIndex") == 0


def test_tables_are_copied_with_their_words_and_numbers(browser, pages):
    with Watched(browser) as watched:
        page = watched.open(pages["review-bad"])
        copied = page.inner_text("table >> nth=1").splitlines()
    why = shipped().explain(REVIEWS["review-bad"])
    rows = [line.split("\t") for line in copied]
    for vote in why.counting:
        assert [vote.word, vote.leader if vote.leader != vote.word else "leads", f"{vote.vote:+.3f}"] in rows


# ---------------------------------------------------------------- hostile texts


def hostile_model(text: str) -> TextModel:
    """A model that knows every word of a text, so that all of them are marked, drawn and listed; its classes, and what
    was measured of it, are no better than the text."""
    tokeniser = Tokeniser(marks=True, longest_phrase=3)
    words = sorted({token.surface for token in tokeniser.tokens(text.encode(errors="replace").decode())}) or ["x"]
    model = small_model(
        vocabulary=Vocabulary(words, np.ones((len(words), 2))),
        embeddings=np.random.default_rng(0).normal(size=(len(words), 2)),
        tokeniser=tokeniser,
        metrics={text: text},
    )
    return replace(model, classes=(f"{text} 0", f"{text} 1"))


UNTOUCHED = """() => document.title != "owned" && [...document.querySelectorAll("*")].every(each =>
    !/^(script|iframe|object|embed|img|image|video|audio|form|input|link|base|use)$/i.test(each.localName)
    && [...each.attributes].every(one => !one.name.startsWith("on"))
    && (each.getAttribute("href") ?? "#").startsWith("#"))"""


def is_untouched(watched: Watched) -> bool:
    return watched.page.evaluate(UNTOUCHED) and watched.heard == []


def test_the_list_is_long_and_the_watch_is_awake(browser, tmp_path):
    assert len(set(HOSTILE)) >= 100
    (tmp_path / "page.html").write_text(f'<title>page</title><body><img src=data:, onerror="{SCRIPT}">')
    with Watched(browser) as watched:
        watched.open(tmp_path / "page.html")
        watched.page.wait_for_function("document.title == 'owned'")
        assert "dialog" in watched.heard
        assert not is_untouched(watched)


@pytest.mark.parametrize("bypass", [True, False], ids=["escaped", "with the policy"])
def test_no_hostile_text_label_or_word_runs_a_script(browser, tmp_path, bypass):
    """A page for every handful; with the policy of the page set aside, too: escaping alone must do."""
    size = 7 if bypass else len(HOSTILE)
    with Watched(browser, bypass_csp=bypass) as watched:
        for start in range(0, len(HOSTILE), size):
            some = HOSTILE[start : start + size]
            hm.report([hostile_model(text).explain(f"{text} {text}") for text in some], tmp_path / "page.html")
            page = watched.open(tmp_path / "page.html")
            assert is_untouched(watched), some
            assert page.locator("article").count() == len(some)


def test_a_hostile_label_stays_out_of_the_title_of_its_page(browser, tmp_path):
    with Watched(browser, bypass_csp=True) as watched:
        for text in HOSTILE[::12]:
            hostile_model(text).explain(text).save(tmp_path / "page.html")
            watched.open(tmp_path / "page.html")
            assert is_untouched(watched), text


def test_the_policy_would_stop_what_came_through(browser, tmp_path):
    small_model().explain("great").save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    broken = page.replace("<body>", f'<body><script>{SCRIPT}</script><img src=x onerror="{SCRIPT}">')
    assert broken != page
    (tmp_path / "page.html").write_text(broken, encoding="utf-8")
    with Watched(browser) as watched:
        watched.open(tmp_path / "page.html")
        assert watched.page.title() != "owned"
        assert "dialog" not in watched.heard
        assert any("Content Security Policy" in line for line in watched.heard)


# ---------------------------------------------------------------- size


@pytest.mark.parametrize(
    "text",
    [
        " ".join(("great", "awful", "film", "witty", "dull") * 1000),
        "a " * 5000,
        "great \U000e0041" * WHOLE,
        "'\"<&>" * WHOLE,
        "\x00" * WHOLE,
        "!" * 10 * WHOLE,
    ],
    ids=["every word counts", "one letter", "tags", "to be escaped", "controls", "marks"],
)
def test_a_page_is_smaller_than_200_kilobytes(text, tmp_path):
    small_model().explain(text).save(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 200_000
