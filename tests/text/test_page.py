"""Pages of explanations in a real Chromium, with scripts and without: nothing is loaded, everybody
can read them."""

import itertools
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Watched, in_browser
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from text.small_models import models, random_texts, small_model, texts, word_model

import hardmax as hm
from hardmax.figures.palette import BLUE, VERMILION, look_of_class
from hardmax.text import view
from hardmax.text.explain import LENGTHS, write_report
from hardmax.text.page import cut_at_arrows, gives_away
from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

# A page in which other words can be tried, and the plain one, which has no scripts.
with_and_without_scripts = pytest.mark.parametrize(
    "scripts", [True, False], ids=["room", "no scripts"]
)
TRIED = ("bad", "long", "denied", "empty", "four classes", "arabic")
PHONE, DESK = 390, 1200
REVIEWS = {
    "good": "I came out grinning. The script is sharp, the two leads are wonderful together, and "
    "the last minutes are among the best I have seen this year. Yes, it drags a little in the "
    "middle, but it is a great film.",
    "bad": "An awful waste of a good cast. The plot makes no sense, the jokes are painfully dull, "
    "and after an hour I was only waiting for it to end. One of the worst films I have sat "
    "through; the music is excellent, nothing else.",
}
ARABIC = ("رائع", "ممل", "الفيلم", "جميل", "القصة", "سيئ")
SCRIPT = "document.title='owned',alert(1)"
_IMAGE = "<img src=x onerror=document.title=`owned`,alert(1)>"
ENDS = (
    "</title>",
    "</style>",
    "</div>",
    "</mark>",
    "</p>",
    "</bdi>",
    "</td>",
    "</table>",
    "</main>",
    "</body>",
    "-->",
)
ENDS += (
    "]]>",
    "<!--",
    "'>",
    '">',
    "`>",
    '\\">',
    "\x00>",
    "&quot;>",
    "\u2028>",
    "\ufeff<",
    "{{",
    "}}",
    "{% raw %}",
)
HOSTILE = (
    f"<script>{SCRIPT}</script>",
    f"<scr<script>ipt>{SCRIPT}</scr</script>ipt>",
    _IMAGE,
    "<svg/onload=document.title=`owned`>",
    f'<iframe srcdoc="<script>parent.{SCRIPT}</script>"></iframe>',
    "<a href=javascript:alert(1) autofocus>x</a>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    *(f"{end}{_IMAGE}" for end in ENDS),
    *(
        f'" {name}="{SCRIPT}" autofocus tabindex="0'
        for name in ("onload", "onfocus", "onpageshow", "onanimationstart")
    ),
    *(f"' {name}='{SCRIPT}' x='" for name in ("onload", "onfocus", "ontoggle")),
    "{{ why.model }}{% include 'page.html' %}",
    f"\ud800\u202e<script>{SCRIPT}</script>",
    f"&#60;script&#62;{SCRIPT}&#60;/script&#62;",
    "@import 'x.css'; body{background:url(x.png)}",
)
UNTOUCHED = """() => document.title != "owned" && [...document.querySelectorAll("*")].every(each =>
    !/^(iframe|object|embed|img|image|video|audio|form|link|base|use)$/i.test(each.localName)
    && [...each.attributes].every(one => !one.name.startsWith("on"))
    && (each.matches(".hm-head h1 a") || (each.getAttribute("href") ?? "#").startsWith("#")))"""


class Opened(Watched):
    """A page of an explanation, with scripts or without; with them, once it has computed the
    answer."""

    def __init__(
        self, browser: Any, width: int = DESK, *, scripts: bool = True, **context: Any
    ) -> None:
        super().__init__(browser, width, 900, java_script_enabled=scripts, **context)
        self.scripts = scripts

    def open(self, path: Path, fragment: str = "") -> Any:
        page = super().open(path, fragment)
        if "hm-data" in path.read_text(encoding="utf-8") and self.scripts:
            page.wait_for_selector("#hm-reviews .hardmax-verdict")
        return page


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    model = hm.load_model("sentiment-en")
    arabic = word_model(dict(zip(ARABIC, (2.2, -1.8, 0, 1.4, 0, -2.4), strict=True)))
    told = {name: model.explain(text) for name, text in REVIEWS.items()}
    told |= {
        "long": model.explain(" ".join(itertools.chain.from_iterable([REVIEWS.values()] * 30)))
    }
    told |= {
        "denied": model.explain("I don't like it. It never gets good!"),
        "one word": model.explain("awful"),
    }
    told |= {"nothing known": model.explain("xyzzy"), "empty": model.explain("")}
    told |= {
        "four classes": small_model(classes=4).explain(
            "a great film, very witty but the plot is not good"
        )
    }
    told |= {"arabic": arabic.explain(" ".join(ARABIC))}
    folder = tmp_path_factory.mktemp("pages")
    for name, why in told.items():
        why.save(folder / f"{name}.html")
    for name in TRIED:
        told[name].save(folder / f"try {name}.html", interactive=True)
    write_report(
        [told[name] for name in (*REVIEWS, "arabic", "nothing known")], folder / "report.html"
    )
    return {path.stem: path for path in folder.iterdir()}


@in_browser
@with_and_without_scripts
def test_a_page_loads_nothing_and_fits_every_width(browser, pages, scripts):
    with Opened(browser, scripts=scripts) as watched:
        for name in (name for name in pages if name.startswith("try ") == scripts):
            page = watched.open(pages[name])
            for width in (320, PHONE, 768, DESK):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        assert watched.heard == []


@in_browser
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESK, "light")])
def test_axe_finds_nothing(browser, pages, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-core is not installed"
    )
    with Opened(browser, width, color_scheme=scheme) as watched:
        for name in ("denied", "four classes", "arabic", "nothing known", "report"):
            found = axe.Axe().run(watched.open(pages[name])).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == [], name


@in_browser
@with_and_without_scripts
def test_every_row_above_a_total_is_visible_and_adds_up(browser, pages, scripts):
    rows = "all => all.map(row => row.innerText.split('\\t'))"
    with Opened(browser, PHONE, scripts=scripts) as watched:
        for name in ("bad", "long", "denied", "four classes"):
            page = watched.open(pages[f"try {name}" if scripts else name])
            tables = page.query_selector_all(".hardmax table")
            assert len(tables) == 1
            for table in tables:
                found = [float(row[1]) for row in table.eval_on_selector_all("tbody tr", rows)]
                assert sum(found[:-1]) == pytest.approx(found[-1], abs=6e-4 * len(found)), name
            hidden = "all => Math.max(...all.map(each => each.scrollHeight - each.clientHeight))"
            assert page.eval_on_selector_all(".hardmax :is(table, table *)", hidden) <= 1


@in_browser
@with_and_without_scripts
def test_bars_lie_on_the_side_of_their_votes(browser, pages, scripts):
    bars = """all => all.map(bar => {
        const own = bar.getBoundingClientRect(), cell = bar.parentNode
        const around = cell.getBoundingClientRect(), said = cell.previousElementSibling.innerText
        return [Number(said), own.left, own.right, around.left, around.right]})"""
    with Opened(browser, scripts=scripts) as watched:
        page = watched.open(pages["try four classes" if scripts else "four classes"])
        found = page.eval_on_selector_all("td.hardmax-votes i", bars)
    largest = max(abs(vote) for vote, *_ in found)
    for vote, left, right, cell_left, cell_right in found:
        middle, half = (cell_left + cell_right) / 2, (cell_right - cell_left) / 2
        assert (right if vote < 0 else left) == pytest.approx(middle, abs=1)
        assert right - left == pytest.approx(half * abs(vote) / largest, abs=1)


@in_browser
def test_the_page_is_dark_in_the_dark_white_on_paper_and_follows_the_script(browser, pages):
    ground = "getComputedStyle(document.body).backgroundColor"
    with Opened(browser, color_scheme="dark") as watched:
        page = watched.open(pages["arabic"])
        assert page.evaluate(ground) == "rgb(21, 23, 27)"
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.hardmax-text')).direction")
            == "rtl"
        )
        page.emulate_media(media="print", color_scheme="light")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


@in_browser
def test_a_report_is_walked_through_with_the_keyboard(browser, pages):
    with Opened(browser) as watched:
        page = watched.open(pages["report"])
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#text-1"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.url.endswith("#text-2")


def test_a_page_names_the_model_and_explains_its_terms(pages):
    shown = pages["denied"].read_text(encoding="utf-8")
    assert "Model <bdi>sentiment-en</bdi>" in shown
    assert all(f"<dt>{term}</dt>" in shown for term in ("Vote", "←"))
    plain = pages["one word"].read_text(encoding="utf-8")
    assert "<dt>Vote</dt>" in plain
    assert "<dt>←</dt>" not in plain
    assert "attends to</th>" not in plain
    assert "knows no word" in pages["nothing known"].read_text(encoding="utf-8")


def test_a_page_shows_what_a_token_attends_to_and_both_numbers():
    model = word_model({"boring": -2}, modifiers=[Modifier("never", -0.5)])
    shown = model.explain("It never gets boring.")._repr_html_()
    assert re.search(r'hardmax-to c0 l0"></i>never</span>', shown)
    assert re.search(r'<mark[^>]*vote \+0\.500 ← never, else -1\.000">', shown)
    assert re.search(r'hardmax-from c0 l0"></i><span[^>]*>boring</span></span></mark>', shown)
    assert re.search(r"<td>\+0\.500</td>.*?← <bdi>never</bdi>, else -1\.000", shown, re.DOTALL)


@given(models(), texts())
def test_the_text_stays_whole_between_arrows_which_never_share_a_place(model, said):
    why = model.explain(said.text)
    heights = dict[int, set[str]]()
    for piece, bits, beside in cut_at_arrows(why):
        assert not bits or "".join(bit.text for bit in bits) == piece.text
        begun = [arrow for bit in bits for kind, arrow in bit.ends if kind == "from"]
        assert (piece.link is not None) == (bool(begun) or beside)
        for arrow in begun:
            to = piece.link.modifier_span  # type: ignore[union-attr]
            assert arrow.to == to
            for place in range(to[0], arrow.begins[1]):
                height = arrow.css.split()[1]
                assert height not in heights.setdefault(place, set())
                heights[place].add(height)


# Where each arrow begins and ends, and what is below: pairs of words.
ENDS_OF_ARROWS = """() => [...document.querySelectorAll(".hardmax-end > i")].map((end) => {
    const word = end.parentNode.getBoundingClientRect(), own = end.getBoundingClientRect()
    const inside = own.left >= word.left - 1 && own.right <= word.right + 1
    const above = own.bottom <= word.top + 1 && own.top > word.top - 20
    return [end.className.split(" ")[0], end.parentNode.textContent, inside && above]})"""


@in_browser
def test_arrows_end_above_their_words_at_every_width_and_on_paper(browser, tmp_path):
    model = word_model({"boring": -2, "dull": -3}, modifiers=[Modifier("never", -0.5)])
    model.explain("It never gets boring or dull. " * 9).save(tmp_path / "page.html")
    with Opened(browser, scripts=False) as watched:
        page = watched.open(tmp_path / "page.html")
        for width in (320, 700, DESK):
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate(ENDS_OF_ARROWS)
            assert all(fits for _, _, fits in found)
            words = [word for kind, word, _ in found if kind == "hardmax-from"]
            assert words == ["boring", "dull"] * 9
            assert page.locator("mark sub").count() == 0
        page.emulate_media(media="print")
        assert all(fits for _, _, fits in page.evaluate(ENDS_OF_ARROWS))


@in_browser
def test_an_arrow_is_not_broken_above_the_star_of_a_leader(browser, tmp_path):
    model = word_model({"great": 3, "script": 1}, modifiers=[Modifier("not", -0.5)])
    why = model.explain("Not a great script.")
    assert [entry.word for entry in why.leaders] == ["great"]
    why.save(tmp_path / "page.html")
    with Opened(browser, scripts=False) as watched:
        page = watched.open(tmp_path / "page.html")
        parts = page.evaluate(
            """() => [...document.querySelectorAll(".hardmax-arrows .l1")].map((part) => {
                const { left, right } = part.getBoundingClientRect()
                return [left, right]})"""
        )
        assert len(parts) > 3
        parts.sort()
        assert all(left <= end + 1 for (_, end), (left, _) in pairwise(parts))


# ---------------------------------------------------------------- what a page gives away


def made_up_words(count: int, start: int = 0) -> list[str]:
    """Words that no page has by chance."""
    letters = "bcdfghjk"
    spelt = [np.base_repr(number, 8).zfill(4) for number in range(start, start + count)]
    return ["zq" + "".join(letters[int(digit)] for digit in word) for word in spelt]


@settings(max_examples=20)
@given(st.sets(st.integers(0, 1999), max_size=40))
def test_a_page_has_no_token_of_the_model_that_is_not_in_the_text(tmp_path_factory, chosen):
    words, path = made_up_words(2000), tmp_path_factory.mktemp("given") / "page.html"
    weights = np.random.default_rng(0).normal(size=2000)
    modifiers = [Modifier(word, -0.5) for word in made_up_words(20, 3000)]
    model = word_model(dict(zip(words, weights, strict=True)), modifiers=modifiers)
    text = " ".join([modifiers[0].word, *(words[number] for number in sorted(chosen))])
    why = model.explain(text)
    for save in (why.save, lambda path: write_report([why], path)):
        save(path)
        assert {*re.findall("zq[bcdfghjk]+", path.read_text(encoding="utf-8"))} == {*text.split()}


def test_the_page_of_a_review_is_small(tmp_path):
    text = " ".join(f"{REVIEWS['good']} {REVIEWS['bad']}".split() * 4)
    assert len(text.split()) > 300
    hm.load_model("sentiment-en").explain(text).save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 60_000
    assert "<script" not in page


def test_what_a_page_with_the_model_gives_away_is_said_there(tmp_path):
    known = Vocabulary(["a", "b", "c", "d"], [[0, 0], [1, 1], [3, 1], [9, 9]])
    model = small_model(vocabulary=known, weights=np.ones((4, 1)))
    said = "3 tokens from training texts, each found in at least 2 of them"
    assert gives_away(model) == f"contains the whole model: {said}"
    model.explain("a b").save(tmp_path / "page.html", interactive=True)
    assert f"model: {said}." in (tmp_path / "page.html").read_text(encoding="utf-8")
    with refuses("`interactive`"):
        model.explain("a").save(tmp_path / "page.json", interactive=True)


@in_browser
def test_with_scripts_the_warnings_the_sentence_the_model_and_its_hash_stay(browser, tmp_path):
    model = replace(small_model(metrics={LENGTHS: [10, 40]}), name="shown")
    why = model.explain("great")
    why.save(tmp_path / "page.html", interactive=True)
    for scripts in (True, False):
        with Opened(browser, scripts=scripts) as watched:
            page = watched.open(tmp_path / "page.html")
            seen = page.inner_text("body")
            assert all(note in seen for note in why.notes)
            assert "shorter than 99 %" in seen
            assert f"Strongest: great ({why.label})." in seen
            assert "Model shown" in seen
            assert model._digest in seen
            assert gives_away(model) in seen


def test_classes_have_the_colours_of_figures():
    shown = small_model().explain("great")._repr_html_()
    assert f'class="c{1 - small_model().explain("great").active[0].class_index}"' in shown
    for number in range(12):
        color = look_of_class(number - 1, 20)[0]
        assert re.search(rf"\.c{number}\b[^{{]*{{--hardmax-color:{color}}}", shown)


@pytest.mark.parametrize("classes", [2, 3, 5, 9])
def test_the_last_class_is_blue_and_the_first_vermilion_in_every_model(classes):
    looks = [look_of_class(number, classes)[0] for number in range(classes)]
    assert (looks[-1], looks[0]) == (BLUE, VERMILION)
    assert len({look_of_class(number, classes) for number in range(classes)}) == classes


def test_of_many_classes_the_most_probable_are_listed_from_the_top():
    why = small_model(classes=8).explain("a great film, but the plot is awful")
    listed = re.search('<ul class="hardmax-classes">(.*?)</ul>', why._repr_html_(), re.DOTALL)
    assert listed is not None
    ranked = sorted(why.probabilities, key=lambda label: -why.probabilities[label])
    assert re.findall("<bdi>(.*?)</bdi>", listed[1]) == ranked[:6]
    assert "and 2 other classes" in listed[1]


def test_tokens_are_marked_once_by_side_and_leaders_apart():
    # "not good" and "good" both lead, and stand in the same place.
    model = word_model({"a": 0.1, "film": 0.1, "not good": 3, "good": -2})
    shown = model.explain("A not good film")._repr_html_()
    assert re.findall("<mark[^>]*leads[^>]*>(.*?)</mark>", shown) == ["not good"]
    assert re.findall("<mark[^>]*>(.*?)</mark>", shown) == ["A", "not good", "film"]


# ---------------------------------------------------------------- hostile texts


def hostile_model(text: str) -> TextModel:
    """A model that knows every word of a text, so that all are marked and listed; its classes and
    name are the text."""
    tokeniser, whole = Tokeniser(longest_phrase=3), text.encode(errors="replace").decode()
    words = sorted({token.surface for token in tokeniser.tokens(whole)}) or ["x"]
    model = small_model(
        vocabulary=Vocabulary(words, np.ones((len(words), 2))),
        weights=np.random.default_rng(0).normal(size=(len(words), 1)),
        tokeniser=tokeniser,
    )
    return replace(model, classes=(f"{whole} 0", f"{whole} 1"), name=text)


@in_browser
@pytest.mark.parametrize("bypass", [True, False], ids=["escaped", "with the policy"])
def test_no_hostile_text_label_or_name_runs_a_script(browser, tmp_path, bypass):
    """With the policy of the page set aside, too: escaping alone must do."""
    told = [hostile_model(text).explain(f"{text} {text}") for text in HOSTILE]
    write_report(told, tmp_path / "all.html")
    told[2].save(tmp_path / "one.html", interactive=True)
    with Opened(browser, bypass_csp=bypass) as watched:
        for name in ("all", "one"):
            page = watched.open(tmp_path / f"{name}.html")
            assert page.evaluate(UNTOUCHED)
            # Data, the packed script, its loader, and what it unpacks; a report has none.
            assert page.evaluate("document.scripts.length") == {"all": 0, "one": 4}[name]
        assert watched.heard == []


def test_titles_of_marks_are_escaped(monkeypatch):
    """No token has such characters today; the attribute must not rest on that."""
    monkeypatch.setattr(view, "told", lambda entry: '"><b id="owned">')
    shown = small_model().explain("great")._repr_html_()
    assert 'title="&quot;&gt;&lt;b id=&quot;owned&quot;&gt;"' in shown
    assert "<b id=" not in shown


@in_browser
def test_the_policy_would_stop_what_came_through(browser, tmp_path):
    small_model().explain("great").save(tmp_path / "page.html")
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    shown = re.sub("<body[^>]*>", f"<body><script>{SCRIPT}</script>{_IMAGE}", shown)
    (tmp_path / "page.html").write_text(shown, encoding="utf-8")
    with Opened(browser) as watched:
        page = watched.open(tmp_path / "page.html")
        assert page.title() != "owned"
        assert not page.evaluate(UNTOUCHED)
        assert any("Content Security Policy" in line for line in watched.heard)


# ---------------------------------------------------------------- several texts


def test_every_text_has_a_line_in_the_index_that_leads_to_it(tmp_path):
    told = [small_model().explain(text) for text in random_texts(8)]
    write_report(iter(told), tmp_path / "all.html")
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    links = re.findall('<a href="#(text-[0-9]+)">', page)
    assert (
        links
        == re.findall('<article class="hardmax" id="([^"]*)"', page)
        == [f"text-{n}" for n in range(1, 9)]
    )


@pytest.mark.parametrize("wrong", [None, 3, "text", [], [3], small_model().explain("great")])
def test_what_is_no_list_of_explanations_is_refused(wrong, tmp_path):
    with refuses("`explanations`"):
        write_report(wrong, tmp_path / "all.html")
    with refuses(r"\.html"):
        write_report([small_model().explain("great")], tmp_path / "all.pdf")
