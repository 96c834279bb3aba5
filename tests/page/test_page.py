"""The page in a real browser: drag, play, type, drop, restore, save."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import FRAMES, PLACES, Watched, in_browser
from page.made_up import many_classes, two_classes

import hardmax as hm
from hardmax.page import bundle, write_page
from hardmax.text.page import pack

pytestmark = [in_browser, pytest.mark.check]
PHONE = 390
MODEL = two_classes()
REVIEW = "An awful script and a dull first hour, but the two leads are wonderful together."
# Tokens 0 and 1 lead. Token 2 follows 0, and leads itself once it is far out.
SMALL = "0.5,1;-1,0.25;0.25,0.125"
DROP = """async ([files, folder]) => {
    const entry = ({ name, text }) => ({ isFile: true, isDirectory: false, name,
        file: (use) => use(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name)) })
    const inside = files.map(entry)
    const entries = folder ? [{ isDirectory: true, isFile: false, name: folder,
        createReader: () => ({ readEntries: (use) => use(inside) }) }] : inside
    const event = new Event("drop", { bubbles: true, cancelable: true })
    event.dataTransfer = { items: entries.map((each) => ({ webkitGetAsEntry: () => each })) }
    document.querySelector("section:not([hidden])").dispatchEvent(event)
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = pack(MODEL)
    write_page(folder / "plain.html", {})
    write_page(folder / "model.html", {"room": "reviews", "models": [model], "text": REVIEW})
    return {path.stem: path for path in folder.iterdir()}


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    """A page that moves only if it is told to, and that must have been silent in the end."""
    with Watched(browser, reduced_motion="reduce", accept_downloads=True) as page:
        yield page
        assert page.heard == []


def proved(page: Any) -> str:
    """What the page says about the run, once it is proved."""
    page.wait_for_function(
        "() => /Proved/.test(document.querySelector('.hm-verdict')?.textContent)"
    )
    return page.inner_text(".hm-verdict")


def state_of(page: Any, before: str = "", **expected: str) -> dict[str, str]:
    """The state in the URL, once its tokens are not those before, and the rest is what is
    expected."""
    agrees = """([before, expected]) => {
        const found = new URLSearchParams(location.hash.slice(1))
        return found.has("room") && found.get("tokens") !== before
            && Object.entries(expected).every(([name, value]) => found.get(name) === value)
    }"""
    page.wait_for_function(agrees, arg=[before, expected], timeout=60_000)
    values = parse_qs(page.url.partition("#")[2])
    return {name: value for name, (value, *_) in values.items()}


def rows_of(page: Any) -> list[list[str]]:
    """The table of all numbers."""
    page.eval_on_selector("details:has(.hm-table)", "details => { details.open = true }")
    page.wait_for_selector(".hm-table tbody tr")
    cells = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    return page.eval_on_selector_all(".hm-table tbody tr", cells)


def numbers(cell: str) -> list[str]:
    """The coordinates in a cell of the table."""
    return re.findall(r"[^\s(),]+", cell)


def drop(page: Any, files: dict[str, bytes], folder: str = "") -> None:
    from base64 import b64encode

    page.wait_for_selector("section:not([hidden])", state="attached")  # its code loads by itself
    sent = []
    for name, data in files.items():
        sent.append({"name": name, "text": b64encode(data).decode()})
    page.evaluate(DROP, [sent, folder])


def problem(page: Any) -> str:
    page.wait_for_selector(".hm-problem[role=alert]:not([hidden])")
    text = page.inner_text(".hm-problem[role=alert]")
    assert "\n" not in text
    return text


# ---------------------------------------------------------------- dynamics


def test_dragging_a_token_changes_the_leaders(files, watched):
    page = watched.open(files["plain"], urlencode({"tokens": SMALL, "layer": "0"}))
    assert "2 leaders" in proved(page)
    places = page.eval_on_selector("canvas", PLACES)
    canvas = page.locator("canvas").bounding_box()
    # Token 2 is the lowest on the right half.
    middle = canvas["x"] + canvas["width"] / 2
    on_the_right = [place for place in places if place[0] > middle]
    x, y = max(on_the_right, key=lambda place: place[1])
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(x + 25 * step, y + 20 * step)
    page.mouse.up()
    page.wait_for_function(
        "() => /3 leaders/.test(document.querySelector('.hm-verdict')?.textContent)"
    )
    moved = [",".join(numbers(row[1])) for row in rows_of(page)]
    assert moved[:2] == SMALL.split(";")[:2]
    state_of(page, tokens=";".join(moved))
    lim = hm.limit([row.split(",") for row in moved], hm.Dynamics("1/2"))
    assert lim.leaders.tolist() == [0, 1, 2]
    since = [str(layer) for layer in lim.run.leader_layers.tolist()]
    assert [row[4] for row in rows_of(page)] == since


def test_playing_ends_at_the_limit(browser, files):
    with Watched(browser) as watched:
        watched.page.add_init_script(FRAMES)
        page = watched.open(files["plain"], urlencode({"tokens": SMALL, "alpha": "9"}))
        page.click("button:text-is('Play')")
        page.wait_for_selector("text=∞: the limit")
        assert page.evaluate("window.frames_drawn.length") > 10
        tokens = [row.split(",") for row in SMALL.split(";")]
        lim = hm.limit(tokens, hm.Dynamics(9))
        shown = [[float(Fraction(x)) for x in numbers(row[2])] for row in rows_of(page)]
        assert np.allclose(shown, lim.limit_points, atol=1e-4)
        assert watched.heard == []


def test_the_rotated_cloud_shows_floats_and_truth_apart_and_names_the_tie(files, watched):
    page = watched.open(files["plain"], "cloud=rotated&layer=limit")
    said = proved(page)
    found = re.findall(
        r"Floats say that token (\d+) ends at (.*?)[,;] exactly,? it ends at \((.*?)\): (.*?)\.",
        said,
    )
    assert found
    page.click("summary:has-text('Save and share')")
    with page.expect_download() as caught:
        page.click("button:text-is('CSV')")
    cloud = [line.split(",") for line in caught.value.path().read_text().split()]
    exact = hm.limit(cloud, hm.Dynamics("1/2"))
    for token, _, point, why in found:
        assert [str(x) for x in exact.exact_limit_points()[int(token)]] == point.split(", ")
        tied = [str(other) for other in exact.run.attended(0)[int(token)].tolist()]
        assert f"ties between {' and '.join(tied)}" in why


def test_a_run_from_python_begins_with_its_tokens_step_and_metric(tmp_path, watched):
    tokens = [["1/3", "0.1"], [0.1, -1], ["-2", "1e-3"], [0.25, 0.75]]
    lim = hm.limit(tokens, hm.Dynamics(0.3, [[2, 1], [1, "3/2"]]))
    lim.run.save(tmp_path / "mine.html")
    page = watched.open(tmp_path / "mine.html")
    proved(page)
    rows = rows_of(page)
    shown = hm.io.parse_decimals([numbers(row[1]) for row in rows])
    assert shown.tolist() == lim.run.at(0, exact=True).tolist()
    leading = [token for token, row in enumerate(rows) if row[4]]
    assert leading == lim.leaders.tolist()
    state = state_of(page)
    assert (state["alpha"], state["metric"]) == ("3/10", "2,1;1,3/2")


def test_files_that_are_dropped_or_chosen_are_read_exactly(files, watched):
    page = watched.open(files["plain"])
    drop(page, {"mine.csv": b"x;y\n0.1;1/3\n-1;2e-3\n"})
    state_of(page, tokens="0.1,1/3;-1,2e-3")
    page.click("summary:has-text('Names and coordinates')")
    chosen = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"1, 0.1\n2, 3\n"}
    page.set_input_files("input[type=file][accept*=csv]", chosen)
    state_of(page, tokens="1,0.1;2,3")
    page.fill("textarea[placeholder*='1/3']", "1,0,0\n0,1,0\n0,0,1")
    page.click("text=Use these tokens")
    state_of(page, tokens="1,0,0;0,1,0;0,0,1")
    page.fill("textarea[placeholder*='1/3']", "Ann: (1, 0)\nBen: 0, 2\nCem: \u22121/3, -1")
    page.click("text=Use these tokens")
    state_of(page, tokens="1,0;0,2;-1/3,-1", names="Ann,Ben,Cem")
    assert [row[0] for row in rows_of(page)] == ["Ann", "Ben", "Cem"]


BAD_FILES = [
    ("<img src=x onerror=alert(1)>.csv", b"1,2\n3,<script>alert(1)</script>\n", "row 2, column 2"),
    ("a.csv", b"1,2\n3\n", "row 2"),
    ("a.csv", b"1,nan\n", "row 1"),
    ("a.csv", b"", "no tokens"),
    ("a.csv", b"1," * 50, "16"),
    ("a.npy", bytes(range(256)), "row 1"),
]


def test_a_bad_file_is_one_line_and_nothing_else_happens(files, watched):
    page = watched.open(files["plain"], urlencode({"tokens": SMALL}))
    proved(page)
    for name, content, words in BAD_FILES:
        page.eval_on_selector(".hm-problem[role=alert]", "it => { it.hidden = true }")
        drop(page, {name: content})
        assert words in problem(page), (name, content)
        assert page.locator("img").count() == 0
    state_of(page, tokens=SMALL)


def test_a_page_names_no_address_but_one_that_it_is_given(tmp_path):
    write_page(tmp_path / "plain.html", {})
    assert "://" not in (tmp_path / "plain.html").read_text().partition('id="hm-code"')[0]
    assert "://" not in bundle().replace("http://www.w3.org/", "")
    write_page(tmp_path / "site.html", {"home": "index.html"})
    assert '"home": "index.html"' in (tmp_path / "site.html").read_text()


# ---------------------------------------------------------------- state


def test_the_url_restores_what_was_seen(files, watched):
    state = {
        "room": "dynamics",
        "tokens": SMALL,
        "alpha": "1/3",
        "metric": "2,1;1,1",
        "layer": "3",
        "selected": "1",
    }
    page = watched.open(files["plain"], urlencode(state))
    proved(page)
    state_of(page, **state)
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    proved(page)
    state_of(page, **state)


HOSTILE = [
    "tokens=<img src=x onerror=alert(1)>",
    "tokens=1e999,1",
    "tokens=" + "1,2;" * 60_000,
    "tokens=1/0,1",
    "alpha=-1",
    "alpha=1/0",
    "alpha=" + "9" * 10_000,
    "metric=1,2,3",
    "layer=1e99",
    "selected=99999999",
    "cloud=constructor",
    "cloud=random:1e9,2,3",
    "cloud=random:2000,99999,1",
    "room=__proto__",
    "ask=ends:99999&lock=yes",
    "ask=ends:1&mask=causal",
    "cloud=triangle&ask=leaders&names=" + "<img src=x onerror=alert(1)>," * 9,
    "room=reviews&text=" + "<script>alert(1)</script>" * 9,
    "room=reviews&model=<svg onload=alert(1)>",
    "room=reviews&out=99999.-1",
    "view=NaN,NaN&cloud=cube",
    "show=" + "paths," * 9999,
    "%E0%A4%A",
]


def test_a_url_made_by_an_enemy_runs_nothing(files, watched):
    page = watched.page
    for fragment in HOSTILE:
        page.goto("about:blank")
        watched.open(files["model" if "reviews" in fragment else "plain"], fragment)
        page.wait_for_selector("#hm-app [role=tab][aria-selected=true]")
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 4  # data, packed, loader, unpacked
        shown = page.text_content(".hm-problem[role=alert]")
        assert "\n" not in shown
        assert len(shown) < 300
    page.click("#hm-tab-dynamics")  # it still works
    assert "leader" in proved(page)


# ---------------------------------------------------------------- the tour


def test_the_tour_is_taken_and_left_by_keyboard_alone(files, watched):
    page = watched.open(files["plain"], urlencode({"tokens": SMALL, "layer": "0"}))
    proved(page)
    titles = []
    page.keyboard.press("t")
    for step in range(6):
        assert page.evaluate("document.activeElement.textContent") == ("Finish", "Next")[step < 5]
        titles.append(page.inner_text(".hm-tour h2"))
        assert page.locator(".hm-lit").count() == 1
        state_of(page, tour=str(step + 1))
        page.keyboard.press("Enter" if step % 2 else "ArrowRight")
    assert [title[:6] for title in titles] == [f"{step} of 6" for step in range(1, 7)]
    state_of(page, tokens=SMALL, layer="0")  # Finish leaves it, too
    for step in range(6):
        page.keyboard.press("t")
        for _ in range(step):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
        assert page.is_hidden(".hm-tour"), step
        assert page.locator(".hm-lit").count() == 0
    state_of(page, tokens=SMALL, layer="0")


# ---------------------------------------------------------------- exercises

# Token 2 follows token 0, which leads, and so do tokens 1, 3 and 4.
EXERCISE = {
    "tokens": "1,1;-1,1/2;0.25,0.125;-0.5,-1;0.75,-0.5",
    "layer": "0",
    "ask": "leaders;attends:2;ends:2",
    "lock": "yes",
}
# What would give an answer away.
TOLD = ".hm-verdict, .hm-note, .hm-row:has(input[type=range]):not(.hm-settings *)"


def ask(page: Any, answer: str) -> str:
    """What the page says to an answer."""
    page.fill(".hm-quiz input", answer)
    page.click("button:text-is('Check')")
    return page.inner_text(".hm-quiz [aria-live]")


def colours_of(page: Any) -> int:
    """How many colours are in the picture, but for greys and the mark of an answer."""
    return page.eval_on_selector(
        "canvas",
        """canvas => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d")
            copy.drawImage(canvas, 0, 0)
            const all = copy.getImageData(0, 0, canvas.width, canvas.height).data
            const found = new Set()
            for (let k = 0; k < all.length; k += 4)
                if (Math.abs(all[k] - all[k + 2]) > 20) found.add(all.slice(k, k + 3).join())
            return found.size
        }""",
    )


def test_an_exercise_tells_nothing_until_it_is_answered_and_keeps_score(files, watched):
    page = watched.open(files["plain"], urlencode(EXERCISE))
    page.wait_for_selector("text=question 1 of 3")
    page.wait_for_timeout(500)  # exact arithmetic knows the answer
    assert colours_of(page) == 0
    hidden = page.locator(TOLD).filter(visible=True).all_inner_texts()
    assert hidden == []
    assert [len(row) for row in rows_of(page)] == [2] * 5
    assert "leader" not in page.inner_text("[role=status]")
    assert "1 right, 1 wrong, 3 missing" in ask(page, "1, 2")
    assert "Right: tokens 0, 1, 3 and 4 lead" in ask(page, "0, 4, 3, 1")
    page.wait_for_function("document.querySelector('.hm-quiz').textContent.includes('0 of 1')")
    assert page.locator(TOLD).filter(visible=True).all_inner_texts() == []  # more questions follow
    assert [len(row) for row in rows_of(page)] == [2] * 5
    page.click("text=Next question")
    assert colours_of(page) == 0
    assert "token 2 attends to token 0" in ask(page, "0")
    assert "3/8 for 0, 1/8 for 4" in page.inner_text(".hm-quiz")
    page.click("text=Next question")
    assert "Try again" in ask(page, "1, 0")
    assert "Close enough: token 2 ends at (1, 1)" in ask(page, "1, 0.99")
    assert "1 of 3" in page.inner_text(".hm-quiz")
    assert colours_of(page) > 3
    state = state_of(page, **EXERCISE)
    assert "selected" not in state


def test_an_exercise_is_answered_by_clicks_and_its_settings_are_locked(files, watched):
    page = watched.open(files["plain"], urlencode(EXERCISE | {"ask": "attends:2"}))
    page.wait_for_selector(".hm-quiz")
    assert page.eval_on_selector(".hm-settings input", "it => it.matches(':disabled')")
    places = page.eval_on_selector("canvas", PLACES)
    x, y = max(places, key=lambda place: place[0] - place[1])  # token 0 is to the upper right
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 40)
    page.mouse.up()
    page.keyboard.press("a")
    assert page.input_value(".hm-quiz input").strip("a") == "0"
    page.fill(".hm-quiz input", "0")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Score: 1 of 1")
    page.keyboard.press("t")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 40)
    page.mouse.up()
    state_of(page, tokens=EXERCISE["tokens"])
    assert page.is_hidden("button:text-is('Leave the exercise')")


def test_a_teacher_sets_an_exercise_and_copies_its_link(browser, files):
    allowed = ["clipboard-read", "clipboard-write"]
    with Watched(browser, permissions=allowed) as watched:
        page = watched.open(files["plain"], "cloud=triangle&selected=7&layer=1")
        proved(page)
        page.click("summary:has-text('Exercise')")
        page.select_option("select:has(option[value=ends])", "ends")
        page.click("button:text-is('Start')")
        page.click(".hm-quiz button:text-is('Copy link')")
        link = page.evaluate("navigator.clipboard.readText()")
        found = {name: value for name, (value, *_) in parse_qs(link.partition("#")[2]).items()}
        given = ("cloud", "ask", "lock", "layer")
        assert [found[name] for name in given] == ["triangle", "ends:7", "yes", "1"]
        page.click("text=Leave the exercise")
        assert "3 leaders" in proved(page)
        # While it plays, a link is to the layer that it stops at.
        page.click("button:text-is('Play')")
        page.wait_for_timeout(1500)
        page.click(".hm-row button:text-is('Copy link') >> visible=true")
        link = page.evaluate("navigator.clipboard.readText()")
        layer = parse_qs(link.partition("#")[2])["layer"][0]
        assert layer not in ("0", "1", "limit")
        assert page.inner_text(".hm-grow").startswith(f"Layer {layer} of")
        assert page.is_visible("button:text-is('Play')")
        assert "works on this computer only" in page.inner_text("[role=status]")
        # An exercise does not begin at a layer that nobody has chosen.
        page.click("button:text-is('Play')")
        page.wait_for_timeout(1500)
        page.click("button:text-is('Start')")
        assert state_of(page, layer="0", ask="ends:7")
        assert watched.heard == []


def test_a_link_from_the_source_of_a_document_works_and_what_is_unknown_is_told(files, watched):
    page = watched.open(files["plain"], "tokens=1,1;-1,1;0,-1&amp;ask=leaders&amp;ask_me=1")
    page.wait_for_selector(".hm-quiz:not([hidden])")
    assert "“ask_me”" in problem(page)


def test_reset_can_be_undone(files, watched):
    page = watched.open(files["plain"], urlencode({"tokens": SMALL}))
    page.click("button:text-is('Reset')")
    state_of(page, cloud="random:60,2,71")
    page.click("button:text-is('Undo reset')")
    state_of(page, tokens=SMALL)
    assert page.is_visible("button:text-is('Reset')")


def test_the_scores_name_copies_of_a_token(files, watched):
    state = {"tokens": "2,2;2,2;2,-2;1,0", "layer": "0", "selected": "3"}
    page = watched.open(files["plain"], urlencode(state))
    page.wait_for_selector("text=2 for 0 and 1, 2 for 2, 1 for 3")


def test_on_a_phone_the_picture_stays_and_errors_and_questions_are_seen(browser, files):
    with Watched(browser, PHONE, reduced_motion="reduce") as watched:
        names = "Antonia Maximiliane,Benedikt Ferdinand,Clementine Dorothea"
        state = {"tokens": "1,1;-1,1;0,-1", "names": names, "layer": "0"}
        page = watched.open(files["plain"], urlencode(state))
        proved(page)
        top = "document.querySelector('canvas').getBoundingClientRect().top + scrollY"
        before = page.evaluate(top)
        page.focus("canvas")
        page.keyboard.press("n")
        page.wait_for_selector("[role=status]:has-text('leads since')")
        assert page.evaluate(top) == before
        seen = """name => {
            const { top, bottom } = document.querySelector(name).getBoundingClientRect()
            return top > -1 && bottom < innerHeight + 1
        }"""
        page.click("summary:has-text('Names and coordinates')")
        page.fill("textarea[placeholder*='1/3']", "Ann = 1, 0")
        page.click("text=Use these tokens")
        assert "colon" in problem(page)
        assert page.evaluate(seen, ".hm-problem")
        page.click("summary:has-text('Exercise')")
        page.click("button:text-is('Start')")
        assert page.evaluate(seen, ".hm-quiz")
        assert watched.heard == []


def test_whole_layers_are_told_in_fractions_and_a_choice_by_its_scores(files, watched):
    tokens = [["1", "1"], ["1/2", "-1/2"], ["-1", "-1"], ["0.3", "-0.2"]]
    text = ";".join(map(",".join, tokens))
    page = watched.open(files["plain"], urlencode({"tokens": text, "layer": "2", "selected": "3"}))
    proved(page)
    assert "1/4 for 1, " not in page.inner_text("#hm-dynamics")
    page.keyboard.press("Home")
    page.wait_for_selector("text=1/4 for 1, 13/100 for 3, 1/10 for 0, -1/10 for 2")
    rows_of(page)
    page.click("text=Every layer")
    run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=5, arithmetic="exact")
    for layer, row in enumerate(rows_of(page)[1:6], start=1):
        cells = [[Fraction(x) for x in numbers(cell)] for cell in row[1:]]
        assert cells == run.at(layer, exact=True).tolist()


# ---------------------------------------------------------------- what the room says and offers


# ---------------------------------------------------------------- keyboard, reading aloud, sizes


def test_everything_can_be_done_with_the_keyboard(files, watched):
    page = watched.open(files["plain"], urlencode({"tokens": SMALL, "layer": "0"}))
    proved(page)
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.localName") == "canvas":
            break
    assert page.evaluate("document.activeElement.localName") == "canvas"
    for key in ("n", "n", "n"):
        page.keyboard.press(key)
    page.keyboard.press("Shift+ArrowDown")
    before, after = SMALL.split(";"), state_of(page, before=SMALL)["tokens"].split(";")
    assert after[:2] == before[:2]
    assert after[2] == "0.3,0"  # in tenths
    assert "token 2 at" in page.inner_text("[role=status]")
    for key in ("Escape", "a", "Delete", "Escape", "End"):
        page.keyboard.press(key)
    state_of(page, layer="limit")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog[open]").count()
    page.focus("[role=tab][aria-selected=true]")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#hm-tab-reviews", "aria-selected") == "true"


@pytest.mark.parametrize(
    ("width", "scheme", "media"),
    [
        (1200, "light", "screen"),
        (1200, "dark", "screen"),
        (PHONE, "light", "screen"),
        (1200, "light", "print"),
    ],
)
def test_axe_finds_nothing(width, scheme, media, browser, files):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-core is not installed"
    )
    with Watched(browser, width, color_scheme=scheme, reduced_motion="reduce") as watched:
        page = watched.page
        page.emulate_media(media=media)
        for fragment in (
            "room=reviews",
            "tour=5",
            "cloud=cube&attention=softmax:10",
            "cloud=cube&ask=leaders",
        ):
            page.goto("about:blank")
            watched.open(files["model"], fragment)
            page.wait_for_selector("details, .hm-marked mark", state="attached")
            page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true })")
            found = axe.Axe().run(page).response["violations"]
            told = [(one["id"], one["nodes"][0]["html"]) for one in found]
            assert told == [], fragment
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_pages_are_small(files):
    assert files["plain"].stat().st_size <= 145_000
    model = sum(len(one["data"]) for one in [pack(MODEL)])
    assert files["model"].stat().st_size <= 150_000 + model


# ---------------------------------------------------------------- what is saved


def save(page: Any, name: str) -> bytes:
    with page.expect_download() as caught:
        page.click(f"button:text-is('{name}')")
    return caught.value.path().read_bytes()


def test_every_export_is_what_is_shown(files, browser):
    imread = pytest.importorskip("matplotlib.image", reason="matplotlib is not installed").imread
    with Watched(
        browser, reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    ) as watched:
        page = watched.open(files["plain"], "cloud=nonleader&layer=limit")
        proved(page)
        page.click("summary:has-text('Save and share')")
        tokens = [line.split(",") for line in save(page, "CSV").decode().split()]
        assert tokens == [numbers(row[1]) for row in rows_of(page)]
        lim = hm.limit(tokens, hm.Dynamics("1/2"))
        certificate = json.loads(save(page, "Certificate"))
        assert hm.verify(certificate)
        theirs = json.loads(lim.prove().to_json())
        for key in ("cloud", "layer", "attended", "leaders"):
            assert certificate[key] == theirs[key]
        svg = save(page, "SVG").decode()
        assert len(ElementTree.fromstring(svg).findall(".//{*}path")) >= len(tokens)
        png = save(page, "PNG")
        picture = imread(BytesIO(png))
        colours = picture[::9, ::9, :3].reshape(-1, 3)
        assert len(np.unique(colours, axis=0)) > 10
        assert [*picture.shape[1::-1]] == page.eval_on_selector(
            "canvas", "it => [2 * it.clientWidth, 2 * it.clientHeight]"
        )
        page.click("button:text-is('Copy Python')")
        lines = page.evaluate("navigator.clipboard.readText()")
        names: dict[str, Any] = {}
        exec(lines, names)
        assert np.array_equal(names["lim"].exact_limit_points(), lim.exact_limit_points())
        assert watched.heard == []


def test_the_script_of_the_guide_runs_in_the_page(files, watched):
    guide = (Path(__file__).parents[2] / "docs" / "page.md").read_text(encoding="utf-8")
    lines = re.findall("```js\n(.*?)```", guide, re.DOTALL)[0].splitlines()
    page = watched.open(files["model"])
    page.wait_for_function("() => window.hardmax")
    script = f"async () => {{ {lines[1]}; return [{lines[0]}, {lines[2]}, {lines[3]}] }}"
    stepped, verdict, classified = page.evaluate(script)
    tokens = [["1", "1"], ["1", "-1"], ["1/3", "0"]]
    cloud = np.array(hm.io.parse_decimals(tokens))
    expected = hm.step(cloud, hm.Dynamics("1/2"))
    assert np.array_equal(stepped, expected.astype(float))
    assert verdict["accepted"]
    text = re.search('"(.*)"', lines[3])
    assert text
    assert classified["label"] == MODEL.explain(text[1]).label


# ---------------------------------------------------------------- reviews


def test_a_review_is_explained_as_python_does(files, watched):
    page = watched.open(files["model"])
    page.wait_for_selector(".hm-marked mark")
    for text in (
        REVIEW,
        "It never gets boring.",
        "A great film. Wonderful!",
        "xyzzy",
        "qwxz zrtpl kkvbn wprtz great",
        "<script>alert('great')</script> <b>awful</b>",
    ):
        page.fill("#hm-reviews textarea", text)
        why = MODEL.explain(text)
        page.wait_for_function(
            "text => document.querySelector('.hm-marked')?.textContent === text", arg=text
        )
        assert str(why.answer) in page.inner_text("#hm-reviews")
        assert page.locator(".hardmax-warning").all_inner_texts() == list(why.notes)
        marked = page.eval_on_selector_all(
            ".hm-marked mark", "all => all.map(each => each.textContent)"
        )
        assert {each.lower() for each in marked} == {entry.word for entry in why.active}
        found = page.evaluate("text => hardmax.classify(text)", text)
        assert (found["label"], found["decided"]) == (why.label, why.decided)
        assert found["probability"] == pytest.approx(why.probability, abs=1e-12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of four classes."""
    path = tmp_path_factory.mktemp("models") / "four <b>classes"
    many_classes(4).save(path)
    return path


def test_a_certificate_that_is_dropped_is_checked_and_may_be_stopped(files, watched):
    page = watched.open(files["plain"])
    proof = hm.limit(hm.clouds.gaussian(12_000, 2), hm.Dynamics("1/2")).prove()
    content = proof.to_json().encode()
    forged = content.replace(b'"settled_at": ', b'"settled_at": 1')

    def told(words: str, dropped: bytes) -> str:
        drop(page, {"proof.json": dropped})
        box = page.locator(".hm-verdict").nth(1)
        box.get_by_text(words).first.wait_for()
        return box.inner_text()

    assert "The cloud has 12,000 tokens" in told("accepted", content)
    assert "sha256: not the digest" in told("refused", forged)
    drop(page, {"proof.json": content})
    page.get_by_role("button", name="Stop").click()
    assert "nothing is proved or refuted" in page.locator(".hm-verdict").nth(1).inner_text()


def test_a_model_folder_that_is_dropped_answers_as_python_does(files, watched, folder):
    page = watched.open(files["plain"])  # dropped on the other room, it opens this one
    drop(page, {path.name: path.read_bytes() for path in folder.iterdir()}, folder.name)
    page.wait_for_function("() => document.querySelector('#hm-reviews select')?.value")
    text = "a great film, very witty but the plot is awful"
    page.fill("#hm-reviews textarea", text)
    page.wait_for_selector(".hm-marked mark")
    why = hm.load_model(folder).explain(text)
    found = page.evaluate("([text, name]) => hardmax.classify(text, name)", [text, folder.name])
    assert found["label"] == why.label
    assert found["probabilities"] == pytest.approx(list(why.probabilities.values()), abs=1e-12)
    assert page.locator("b:text-is('classes')").count() == 0
