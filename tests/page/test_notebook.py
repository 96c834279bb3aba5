"""The page in notebooks: what the widget takes and refuses, and what replaces it where no kernel
runs."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np
import pytest
from browser import Watched, in_browser
from door.bad_values import BAD

import hardmax as hm

pytest.importorskip("anywidget", reason="anywidget is not installed")
TraitError = pytest.importorskip("traitlets").TraitError
TOKENS = [[0.5, 1.0], [-1.0, 0.25], [0.25, 0.125]]
CELL = "import hardmax as hm\nhm.Explorer([[0.5, 1.0], [-1.0, 0.25], [0.25, 0.125]])"


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
    explorer.layer = "limit"
    assert explorer.layer == "limit"
    wrong = [
        ("tokens", "x"),
        ("alpha", -1),
        ("alpha", 5000),
        ("metric", [[1, 2]]),
        ("layer", -1),
        ("layer", "end"),
        ("layer", "zero"),
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


def test_a_message_is_taken_as_a_whole_or_leaves_everything_as_it_was():
    """A refused value once stayed, and None in place of tokens broke `repr`."""
    refused = []
    for name, value in in_messages():
        explorer, seen = hm.Explorer(TOKENS), []
        explorer.observe(seen.append, TRAITS)
        before = json.dumps([getattr(explorer, trait) for trait in TRAITS])
        first = {trait: good for trait, good in GOOD.items() if trait != name}
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


def notebook(cell: str) -> dict[str, Any]:
    code = {"cell_type": "code", "id": "c", "metadata": {}, "source": cell}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [code | {"outputs": [], "execution_count": None}]
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


@in_browser
@pytest.mark.check
def test_an_exported_notebook_has_the_page_in_a_frame_that_works(browser, tmp_path):
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    done = nbformat.from_dict(notebook(CELL))
    NotebookClient(done, timeout=1200, store_widget_state=False).execute()
    html, _ = HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(done)
    (tmp_path / "exported.html").write_text(html, encoding="utf-8")
    with Watched(browser, reduced_motion="reduce") as watched:
        page = watched.open(tmp_path / "exported.html")
        inside = page.frame_locator("iframe")
        inside.locator(".hm-verdict:has-text('Proved')").wait_for()
        assert "2 leaders" in inside.locator(".hm-verdict").first.inner_text()
        inside.locator("button:text-is('To the limit')").click()
        page.wait_for_timeout(600)  # in which the URL of the frame would follow
        assert inside.locator("canvas").count() == 1
        assert [line for line in watched.heard if "mathjax" not in line.lower()] == []
