"""Pages of explanations in a real Chromium, with scripts and without: nothing is loaded, everybody
can read them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Watched, in_browser
from hypothesis import given
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

PHONE, DESK = 390, 1200
REVIEW = "I don't like it. It never gets good! The worst film, but the cast is wonderful."
ARABIC = {"رائع": 2.2, "ممل": -1.8, "الفيلم": 0, "جميل": 1.4, "القصة": 0, "سيئ": -2.4}
MODELS = {
    "review": hm.load_model("sentiment-en"),
    "long": small_model(),
    "four classes": small_model(classes=4),
    "arabic": word_model(ARABIC),
}
MODELS["nothing known"] = MODELS["long"]
TEXTS = {
    "review": REVIEW,
    "four classes": "a great film, very witty but the plot is not good",
    "arabic": " ".join(ARABIC),
    "long": " ".join(random_texts(300)),
    "nothing known": "xyzzy",
}
TRIED = tuple(TEXTS)[:4]  # with the model in the page, too
NEVER = word_model({"boring": -2, "dull": -3}, modifiers=[Modifier("never", -0.5)])

SCRIPT = "document.title='owned',alert(1)"
_IMAGE = "<img src=x onerror=document.title=`owned`,alert(1)>"
ENDS = ["</title>", "</style>", "</mark>", "</td>", "</table>", "</body>", "-->", "]]>", "'>", '">']
ENDS += ['\\">', "\x00>", "&quot;>", "\u2028>", "\ufeff<", "}}", "{% raw %}"]
HOSTILE = [
    f"<script>{SCRIPT}</script>",
    f"<scr<script>ipt>{SCRIPT}</scr</script>ipt>",
    f'<iframe srcdoc="<script>parent.{SCRIPT}</script>"></iframe>',
    "<a href=javascript:alert(1) autofocus>x</a>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    "{{ why.model }}{% include 'page.html' %}",
    f"\ud800\u202e<script>{SCRIPT}</script>",
    "@import 'x.css'; body{background:url(x.png)}",
]
HOSTILE += [f"{end}{_IMAGE}" for end in ENDS]
HOSTILE += [f'" {name}="{SCRIPT}" autofocus tabindex="0' for name in ("onload", "onfocus")]
UNTOUCHED = """() => document.title != "owned" && [...document.querySelectorAll("*")].every(each =>
    !/^(iframe|object|embed|img|image|video|audio|form|link|base|use)$/i.test(each.localName)
    && [...each.attributes].every(one => !one.name.startsWith("on"))
    && (each.matches(".hm-head h1 a") || (each.getAttribute("href") ?? "#").startsWith("#")))"""


def in_chromium(test: Any) -> Any:
    return pytest.mark.check(in_browser(test))


class Opened(Watched):
    """A page of an explanation, with scripts or without; with them, once it has computed the
    answer."""

    def __init__(self, browser: Any, width: int = DESK, *, scripts=True, **context: Any) -> None:
        super().__init__(browser, width, 900, java_script_enabled=scripts, **context)
        self.scripts = scripts

    def open(self, path: Path, fragment: str = "") -> Any:
        page = super().open(path, fragment)
        if "hm-data" in read(path) and self.scripts:
            page.wait_for_selector("#hm-reviews .hardmax-verdict")
        return page


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    told = {name: MODELS[name].explain(text) for name, text in TEXTS.items()}
    for name, why in told.items():
        why.save(folder / f"{name}.html")
        if name in TRIED:
            why.save(folder / f"try {name}.html", interactive=True)
    write_report(told.values(), folder / "report.html")
    return {path.stem: path for path in folder.iterdir()}


# ---------------------------------------------------------------- in a browser

# Where words, votes and what they attend to begin or end, and the terms and their meanings.
PLACES = """() => [...document.querySelectorAll(".hardmax tbody tr, .hardmax dl")].map(part =>
    [...part.children].map(each => getComputedStyle(each)).map(style =>
        [style.textAlign, style.float, style.width]))"""


def exported(why: Any, path: Path) -> Path:
    """A notebook with one explanation, as nbconvert writes it."""
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert")
    data = {"text/html": why._repr_html_(), "text/plain": str(why)}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": "why", "outputs": [output]}
    whole = {"cells": [cell | {"execution_count": 1}], "metadata": {}}
    node = nbformat.from_dict(whole | {"nbformat": 4, "nbformat_minor": 5})
    exporter = nbconvert.HTMLExporter(mathjax_url="", require_js_url="")
    path.write_text(exporter.from_notebook_node(node)[0], encoding="utf-8")
    return path


@in_chromium
def test_an_exported_notebook_leaves_an_explanation_as_it_is(browser, tmp_path):
    with Opened(browser, scripts=False) as watched:
        why = MODELS["review"].explain(REVIEW)
        page = watched.open(exported(why, tmp_path / "notebook.html"))
        *rows, legend = page.evaluate(PLACES)
        sides = [[side for side, _, _ in row] for row in rows]
        assert sides == [["start", "end", *["start"] * (len(row) - 2)] for row in rows]
        assert len(rows) > 5
        floats = [(kind, width != "0px") for _, kind, width in legend]
        assert floats == [("inline-start", True), ("none", True)] * 2


@in_chromium
@pytest.mark.parametrize("scripts", [True, False])
def test_a_page_loads_nothing_fits_every_width_and_adds_up(browser, pages, scripts):
    rows = "all => all.map(row => row.innerText.split('\\t'))"
    hidden = "all => Math.max(...all.map(each => each.scrollHeight - each.clientHeight))"
    with Opened(browser, scripts=scripts) as watched:
        for name in TRIED:
            page = watched.open(pages[f"try {name}" if scripts else name])
            for width in (320, PHONE, DESK):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            shown = page.eval_on_selector_all(".hardmax tbody tr:not(details tr)", rows)
            *votes, total = [float(row[1]) for row in shown]
            slack = 6e-4 * len(shown)
            assert sum(votes) == pytest.approx(total, abs=slack), name
            assert page.eval_on_selector_all(".hardmax :is(table, table *)", hidden) <= 1
        assert watched.heard == []


@in_chromium
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESK, "light")])
def test_axe_finds_nothing(browser, pages, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with Opened(browser, width, color_scheme=scheme) as watched:
        for name in ("review", "four classes", "arabic", "nothing known", "report"):
            page = watched.open(pages[name])
            found = axe.Axe().run(page).response["violations"]
            told = [(each["id"], each["nodes"][0]["html"]) for each in found]
            assert told == [], name


@in_chromium
def test_bars_lie_on_the_side_of_their_votes(browser, pages):
    bars = """all => all.map(bar => {
        const own = bar.getBoundingClientRect(), cell = bar.parentNode
        const around = cell.getBoundingClientRect(), said = cell.previousElementSibling.innerText
        return [Number(said), own.left, own.right, around.left, around.right]})"""
    with Opened(browser) as watched:
        page = watched.open(pages["four classes"])
        found = page.eval_on_selector_all("td.hardmax-votes i", bars)
    largest = max(abs(vote) for vote, *_ in found)
    for vote, left, right, cell_left, cell_right in found:
        middle, half = (cell_left + cell_right) / 2, (cell_right - cell_left) / 2
        assert (right if vote < 0 else left) == pytest.approx(middle, abs=1)
        assert right - left == pytest.approx(half * abs(vote) / largest, abs=1)


@in_chromium
def test_the_page_is_dark_in_the_dark_white_on_paper_and_follows_the_script(browser, pages):
    ground = "getComputedStyle(document.body).backgroundColor"
    direction = "getComputedStyle(document.querySelector('.hardmax-text')).direction"
    with Opened(browser, color_scheme="dark") as watched:
        page = watched.open(pages["arabic"])
        assert page.evaluate(ground) == "rgb(21, 23, 27)"
        assert page.evaluate(direction) == "rtl"
        page.emulate_media(media="print", color_scheme="light")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


@in_chromium
def test_a_report_is_walked_through_with_the_keyboard(browser, pages):
    with Opened(browser) as watched:
        page = watched.open(pages["report"])
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        assert page.url.endswith("#text-2")


# Where each arrow begins and ends, and what is below: pairs of words.
ENDS_OF_ARROWS = """() => [...document.querySelectorAll(".hardmax-end > i")].map((end) => {
    const word = end.parentNode.getBoundingClientRect(), own = end.getBoundingClientRect()
    const inside = own.left >= word.left - 1 && own.right <= word.right + 1
    const above = own.bottom <= word.top + 1 && own.top > word.top - 20
    return [end.className.split(" ")[0], end.parentNode.textContent, inside && above]})"""


@in_chromium
def test_arrows_end_above_their_words_at_every_width_and_on_paper(browser, tmp_path):
    NEVER.explain("It never gets boring or dull. " * 9).save(tmp_path / "page.html")
    with Opened(browser, scripts=False) as watched:
        page = watched.open(tmp_path / "page.html")
        for width in (320, 700, DESK):
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate(ENDS_OF_ARROWS)
            assert all(fits for _, _, fits in found)
            words = [word for kind, word, _ in found if kind == "hardmax-from"]
            assert words == ["boring", "dull"] * 9
        page.emulate_media(media="print")
        assert all(fits for _, _, fits in page.evaluate(ENDS_OF_ARROWS))


@in_chromium
@pytest.mark.parametrize("scripts", [True, False])
def test_warnings_the_sentence_the_model_and_its_hash_are_shown(browser, tmp_path, scripts):
    model = replace(small_model(metrics={LENGTHS: [10, 40]}), name="shown")
    why = model.explain("great")
    why.save(tmp_path / "page.html", interactive=True)
    said = (*why.notes, "Because of: great.", "Model shown", model._digest)
    with Opened(browser, scripts=scripts) as watched:
        seen = watched.open(tmp_path / "page.html").inner_text("body")
        assert all(part in seen for part in (*said, gives_away(model)))


# ---------------------------------------------------------------- what is shown


def test_a_page_names_the_model_and_explains_what_it_shows(pages):
    shown, empty = read(pages["review"]), read(pages["nothing known"])
    assert "Model <bdi>sentiment-en</bdi>" in shown
    assert all(f"<dt>{term}</dt>" in shown for term in ("Vote", "←"))
    assert "knows no word" in empty
    assert "attends to</th>" not in empty
    assert "<script" not in shown
    assert len(shown.encode()) < 40_000


def test_a_page_shows_what_a_token_attends_to_and_both_numbers():
    shown = NEVER.explain("It never gets boring.")._repr_html_()
    assert re.search(r'hardmax-to c0 l0"></i>never</span>', shown)
    assert re.search(r'<mark[^>]*vote \+0\.500 ← never, else -1\.000">', shown)
    assert re.search(r'hardmax-from c0 l0"></i>boring</span></mark>', shown)
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


@pytest.mark.parametrize("classes", [2, 3, 9])
def test_classes_have_the_colours_of_figures_the_last_is_blue_and_the_first_vermilion(classes):
    looks = [look_of_class(number, classes)[0] for number in range(classes)]
    assert (looks[-1], looks[0]) == (BLUE, VERMILION)
    assert len({look_of_class(number, classes) for number in range(classes)}) == classes
    why = small_model(classes=classes).explain("great")
    shown = why._repr_html_()
    [place] = re.findall(r'<mark class="c(\d+) ', shown)
    color = look_of_class(why.active[0].class_index, classes)[0]
    assert re.search(rf"\.c{place}\b[^{{]*{{--hardmax-color:{color}}}", shown)


def test_of_many_classes_the_most_probable_are_listed_from_the_top():
    why = small_model(classes=8).explain("a great film, but the plot is awful")
    listed = re.search('<ul class="hardmax-classes">(.*?)</ul>', why._repr_html_(), re.DOTALL)
    assert listed is not None
    ranked = sorted(why.probabilities, key=lambda label: -why.probabilities[label])
    assert re.findall("<bdi>(.*?)</bdi>", listed[1]) == ranked[:6]
    assert "and 2 other classes" in listed[1]


def test_tokens_are_marked_once_and_leaders_apart():
    # "not good" and "good" both lead, and stand in the same place.
    model = word_model({"a": 0.1, "not good": 3, "good": -2}, alpha="1/2")
    shown = model.explain("A not good film")._repr_html_()
    assert re.findall("<mark[^>]*leads[^>]*>(.*?)</mark>", shown) == ["not good"]
    assert re.findall("<mark[^>]*>(.*?)</mark>", shown) == ["A", "not good"]


def test_every_text_of_a_report_has_a_line_in_the_index_that_leads_to_it(tmp_path):
    told = [small_model().explain(text) for text in random_texts(8)]
    write_report(iter(told), tmp_path / "all.html")
    page = read(tmp_path / "all.html")
    articles = re.findall('<article class="hardmax" id="([^"]*)"', page)
    assert re.findall('<a href="#(text-[0-9]+)">', page) == articles
    assert articles == [f"text-{n}" for n in range(1, 9)]
    for wrong in (3, [], [3]):
        with refuses("`explanations`"):
            write_report(wrong, tmp_path / "all.html")  # type: ignore[arg-type]
    with refuses(r"\.html"):
        write_report(told, tmp_path / "all.pdf")


# ---------------------------------------------------------------- what a page gives away


@given(st.sets(st.integers(0, 1999), max_size=40))
def test_a_page_has_no_token_of_the_model_that_is_not_in_the_text(tmp_path_factory, chosen):
    path = tmp_path_factory.mktemp("given") / "page.html"
    words = {f"zq{number}x": number % 7 - 3 for number in range(2000)}
    model = word_model(words, modifiers=[Modifier(f"zq{n}y", -0.5) for n in range(20)])
    text = " ".join(["zq0y", *(f"zq{number}x" for number in sorted(chosen))])
    why = model.explain(text)
    for save in (why.save, lambda path: write_report([why], path)):
        save(path)
        known = set(re.findall(r"zq\d+[xy]", read(path)))
        assert known == set(text.split())


def test_what_a_page_with_the_model_gives_away_is_said_there(tmp_path):
    counts = [[0, 0], [1, 1], [3, 1], [9, 9]]
    known = Vocabulary(["a", "b", "c", "d"], counts)
    model = small_model(vocabulary=known, weights=np.ones((4, 1)))
    said = "3 tokens from training texts, each found in at least 2 of them"
    assert gives_away(model) == f"contains the whole model: {said}"
    model.explain("a b").save(tmp_path / "page.html", interactive=True)
    assert f"model: {said}." in read(tmp_path / "page.html")
    with refuses("`interactive`"):
        model.explain("a").save(tmp_path / "page.json", interactive=True)


# ---------------------------------------------------------------- hostile texts


def hostile_model(text: str) -> TextModel:
    """A model that knows every word of a text, so that all are marked and listed; its classes and
    name are the text."""
    tokeniser, whole = Tokeniser(longest_phrase=3), text.encode(errors="replace").decode()
    words = sorted({token.surface for token in tokeniser.tokens(whole)}) or ["x"]
    count = len(words)
    parts: dict[str, Any] = {"vocabulary": Vocabulary(words, np.ones((count, 2)))}
    parts["weights"] = np.random.default_rng(0).normal(size=(count, 1))
    model = small_model(**parts, tokeniser=tokeniser)
    return replace(model, classes=(f"{whole} 0", f"{whole} 1"), name=text)


@in_chromium
@pytest.mark.parametrize("bypass", [True, False], ids=["escaped", "with the policy"])
def test_no_hostile_text_label_or_name_runs_a_script(browser, tmp_path, bypass):
    """With the policy of the page set aside, too: escaping alone must do."""
    told = [hostile_model(text).explain(f"{text} {text}") for text in HOSTILE]
    write_report(told, tmp_path / "all.html")
    told[5].save(tmp_path / "one.html", interactive=True)
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


@in_chromium
def test_the_policy_would_stop_what_came_through(browser, tmp_path):
    path = tmp_path / "page.html"
    small_model().explain("great").save(path)
    path.write_text(re.sub("<body[^>]*>", f"<body><script>{SCRIPT}</script>{_IMAGE}", read(path)))
    with Opened(browser) as watched:
        page = watched.open(path)
        assert page.title() != "owned"
        assert not page.evaluate(UNTOUCHED)
        assert any("Content Security Policy" in line for line in watched.heard)
