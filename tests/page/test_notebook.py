"""The page in notebooks: the widget in a real JupyterLab, and what takes its place where no kernel
runs."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from browser import PLACES, Watched, in_browser
from door.bad_values import BAD

import hardmax as hm

pytest.importorskip("anywidget", reason="anywidget is not installed")
TraitError = pytest.importorskip("traitlets").TraitError
TOKENS = [[0.5, 1.0], [-1.0, 0.25], [0.25, 0.125]]
CELLS = [
    "import hardmax as hm\n"
    "explorer = hm.Explorer([[0.5, 1.0], [-1.0, 0.25], [0.25, 0.125]])\nexplorer",
    "print('seen', explorer.tokens, hm.limit(explorer.tokens, explorer.dynamics).leaders.tolist())",
    "explorer.tokens = [[2.0, 1.0], [-1.0, 0.25], [0.25, 0.125]]\n"
    "explorer.alpha = '1/3'\nexplorer.layer = 'limit'",
    "reading = hm.Explorer.of_model(hm.load_model('sentiment-en'), 'An awful script.')\nreading",
    "print('read', reading.text)",
    "reading.text = 'A wonderful film.'",
    "explorer  # again",
    "print('dragged', explorer.tokens)",
]


def test_traits_keep_what_they_are_given_and_refuse_the_rest():
    explorer = hm.Explorer(np.array(TOKENS), hm.Dynamics(0.1))
    seen: list[Any] = []
    explorer.observe(lambda change: seen.append(change.new), "tokens")
    explorer.tokens = np.array(TOKENS) + 1
    # Exactly as the page sends them, so that nothing is sent back.
    explorer.tokens = [[0.5, "1/3"], [1, 2]]
    assert seen == [(np.array(TOKENS) + 1).tolist(), [[0.5, "1/3"], [1, 2]]]
    explorer.dynamics = hm.Dynamics("1/3", [[2, 1], [1, 1]])
    assert (explorer.alpha, explorer.metric) == ("1/3", [["2", "1"], ["1", "1"]])
    assert explorer.dynamics == hm.Dynamics("1/3", [[2, 1], [1, 1]])
    wrong = [
        ("tokens", "x"),
        ("alpha", -1),
        ("alpha", 5000),
        ("metric", [[1, 2]]),
        ("layer", -1),
        ("text", 3),
    ]
    for name, value in wrong:
        before = getattr(explorer, name)
        with pytest.raises(hm.InputError, match=name):
            setattr(explorer, name, value)
        assert getattr(explorer, name) == before


TRAITS = ("_data", "tokens", "alpha", "metric", "layer", "text")
GOOD = {"tokens": [[3, 4]], "alpha": "1/7", "metric": [[2, 0], [0, 1]], "layer": 3, "text": "Ah."}


def is_json(value: Any) -> bool:
    try:
        return bool(json.dumps(value))
    except (TypeError, ValueError, RuntimeError, RecursionError):
        return False


def in_messages() -> Iterator[tuple[str, Any]]:
    """Everything that a message can have and no argument expects, for each trait."""
    values = [make() for kind in BAD.values() for make in kind.values()]
    for name in TRAITS:
        yield from ((name, value) for value in values if is_json(value))


@pytest.mark.parametrize("others", [{}, GOOD], ids=["alone", "last of many"])
def test_a_message_is_taken_as_a_whole_or_leaves_everything_as_it_was(others):
    """A refused value once stayed, and None in place of tokens broke `repr`."""
    refused = []
    for name, value in in_messages():
        explorer, seen = hm.Explorer(TOKENS), []
        explorer.observe(seen.append, TRAITS)
        before = json.dumps([getattr(explorer, trait) for trait in TRAITS])
        first = {trait: good for trait, good in others.items() if trait != name}
        try:
            explorer.set_state({**first, name: value})
        except TraitError:
            refused.append(name)
            after = json.dumps([getattr(explorer, trait) for trait in TRAITS])
            assert after == before, (name, value)
            assert seen == []
        assert repr(explorer).startswith("Explorer(")
        assert hm.limit(explorer.tokens, hm.Dynamics(explorer.alpha)).settled_at is not None
        assert is_json(explorer.get_state())
    assert {*refused} == {*TRAITS}


@pytest.mark.parametrize("name", TRAITS[1:])
def test_what_a_trait_refuses_in_python_leaves_it_as_it_was(name):
    explorer, refused = hm.Explorer(TOKENS), 0
    before = getattr(explorer, name)
    for make in (make for kind in BAD.values() for make in kind.values()):
        try:
            setattr(explorer, name, make())
        except hm.InputError:
            refused += 1
            assert getattr(explorer, name) == before
        before = getattr(explorer, name)
        assert repr(explorer).startswith("Explorer(")
    assert refused > 10


def frame_of(bundle: dict[str, str]) -> str:
    """The page in the frame that takes the place of the widget."""
    found = re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', bundle["text/html"])
    assert found
    return unescape(found[1])


def test_the_page_in_place_of_the_widget_has_its_values():
    explorer = hm.Explorer(TOKENS)
    explorer.tokens, explorer.alpha = [[1.0, "1/3"], [2.0, 3.0]], "1/3"
    page = frame_of(explorer._repr_mimebundle_()[0])
    cloud = json.loads(re.findall('id="hm-data">(.*?)</script>', page)[0])["cloud"]
    assert cloud == {"tokens": [[1.0, "1/3"], [2.0, 3.0]], "alpha": "1/3", "metric": None}
    reading = hm.Explorer.of_model(hm.load_model("sentiment-en"), "x")
    reading.text = "A <b>great</b> film."
    data = json.loads(
        re.findall('id="hm-data">(.*?)</script>', frame_of(reading._repr_mimebundle_()[0]))[0]
    )
    assert (data["room"], data["text"]) == ("reviews", "A <b>great</b> film.")


def notebook(cells: list[str]) -> dict[str, Any]:
    made = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "metadata": {},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for n, cell in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


@in_browser
@pytest.mark.slow
def test_an_exported_notebook_has_the_page_in_a_frame_that_works(browser, tmp_path):
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    done = nbformat.from_dict(notebook(CELLS[:1]))
    NotebookClient(done, timeout=1200, store_widget_state=False).execute()
    html, _ = HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(done)
    (tmp_path / "exported.html").write_text(html, encoding="utf-8")
    with Watched(browser, reduced_motion="reduce") as watched:
        page = watched.open(tmp_path / "exported.html")
        inside = page.frame_locator("iframe")
        inside.locator(".hm-verdict:has-text('Proved')").wait_for()
        assert "2 leaders" in inside.locator(".hm-verdict").inner_text()
        inside.locator("button:text-is('To the limit')").click()
        page.wait_for_timeout(600)  # in which the URL of the frame would follow
        assert inside.locator("canvas").count() == 1
        assert [line for line in watched.heard if "mathjax" not in line.lower()] == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab of its own, with a notebook."""
    if find_spec("jupyterlab") is None:
        pytest.skip("jupyterlab is not installed (`make page-test` installs it)")
    folder = tmp_path_factory.mktemp("lab")
    (folder / "try.ipynb").write_text(json.dumps(notebook(CELLS)))
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--port=0",
        f"--notebook-dir={folder}",
    ]
    home = {
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "run"),
    }
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=os.environ | home, stdout=log, stderr=log)
    try:
        found = []
        for _ in range(600):
            found = list((folder / "run").glob("jpserver-*.json"))
            if found or server.poll() is not None:
                break
            time.sleep(0.1)
        about = (
            json.loads(found[0].read_text()) if found else pytest.fail((folder / "log").read_text())
        )
        yield f"{about['url']}lab/tree/try.ipynb?token={about['token']}"
    finally:
        server.terminate()
        server.wait(600)


@in_browser
@pytest.mark.slow
def test_the_widget_goes_both_ways_in_jupyterlab(browser, lab):
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, reduced_motion="reduce")
    context.route(
        lambda url: "//localhost" not in url and "//127.0.0.1" not in url,
        lambda route: route.abort(),
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(lab)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.nth(0).wait_for()

    def run(cell: int) -> str:
        cells.nth(cell).locator(".jp-Editor").first.click()
        page.keyboard.press("Control+Enter")
        page.wait_for_function(
            "cell => /\\[\\d+\\]/.test("
            "document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[cell]?.textContent)",
            arg=cell,
        )
        return cells.nth(cell).locator(".jp-OutputArea").inner_text()

    page.wait_for_selector("text=/ipykernel.*Idle/")
    run(0)
    widget = cells.nth(0).locator(".hm-widget")
    widget.locator(".hm-verdict:has-text('Proved')").wait_for()
    assert "2 leaders" in widget.locator(".hm-verdict").inner_text()
    widget.locator("canvas").focus()
    address = page.url
    for key in ("n", "n", "n", *["Shift+ArrowRight"] * 20):
        page.keyboard.press(key)
    widget.locator(".hm-verdict:has-text('3 leaders')").wait_for()
    assert page.url == address
    page.wait_for_timeout(500)
    seen = run(1)
    assert "[2.2, 0.1]] [0, 1, 2]" in seen  # from 0.35, which is below 7/20 as a float
    run(2)
    widget.locator("text=∞: the limit").wait_for()
    assert widget.locator("label:has-text('alpha') input").first.input_value() == "1/3"
    run(3)
    texts = cells.nth(3).locator(".hm-widget")
    texts.locator("mark:has-text('awful')").wait_for()
    texts.locator("textarea").fill("An awful, dull script.")
    texts.locator("mark:has-text('dull')").wait_for()
    page.wait_for_timeout(500)
    assert "An awful, dull script." in run(4)
    run(5)
    texts.locator("mark:has-text('wonderful')").wait_for()
    run(6)
    again = cells.nth(6).locator(".hm-widget")
    again.locator(".hm-verdict:has-text('Proved')").wait_for()
    assert again.locator("label:has-text('alpha') input").first.input_value() == "1/3"
    again.locator("canvas").scroll_into_view_if_needed()
    x, y = again.locator("canvas").evaluate(PLACES)[0]  # the leftmost, token 1
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 50, steps=5)
    page.mouse.up()
    page.wait_for_timeout(500)
    # Python has floats, and the first view follows the second.
    dragged = json.loads(run(7).removeprefix("dragged").strip())
    assert dragged[1] != [-1.0, 0.25]
    assert {type(value) for row in dragged for value in row} <= {int, float}
    widget.locator("summary:has-text('All numbers')").click()
    assert f"({dragged[1][0]}"[:5] in widget.locator("tbody tr").nth(1).inner_text()
    context.close()
