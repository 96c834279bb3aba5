"""The ten exercises: their links open the page with the question, and their solutions are those of
exact arithmetic."""

import re
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from browser import Watched, in_browser

import hardmax as hm
from hardmax.page import write_page

PAGE = Path(__file__).parents[2] / "docs" / "exercises.md"
SECTIONS = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
CLOUDS = {"rotated": hm.clouds.rotated(hm.clouds.nonleader_clusters())}


def state_in(section: str) -> dict[str, str]:
    """What the link of an exercise says."""
    (link,) = re.findall(r'<a href="live\.html#(.*?)">', section)
    return {name: value for name, (value,) in parse_qs(unescape(link)).items()}


def listed(tokens: list[int]) -> str:
    """For example "tokens 0, 1 and 2"."""
    names = re.sub(r", (\d+)$", r" and \1", ", ".join(map(str, tokens)))
    return f"token{'s' if len(tokens) > 1 else ''} {names}"


def rows_of(text: str) -> Any:
    return np.array([[Fraction(x) for x in row.split(",")] for row in text.split(";")])


def answers_of(state: dict[str, str]) -> dict[str, Any]:
    """The answer to each question: tokens, or a place."""
    tokens = CLOUDS[state["cloud"]] if "cloud" in state else rows_of(state["tokens"])
    metric = rows_of(state["metric"]) if "metric" in state else None
    lim = hm.limit(tokens, hm.Dynamics(state.get("alpha", "1/2"), metric), arithmetic="exact")
    answers: dict[str, Any] = {}
    for question in state["ask"].split(";"):
        kind, _, token = question.partition(":")
        answers[question] = {
            "leaders": lambda _: lim.leaders.tolist(),
            "attends": lambda i: lim.run.attended(int(state.get("layer", 0)))[int(i)].tolist(),
            "ends": lambda i: lim.exact_limit_points()[int(i)].tolist(),
        }[kind](token)
    return answers


def scores_of(state: dict[str, str], token: int) -> list[str]:
    """Of all tokens, at the layer of the question."""
    tokens = CLOUDS[state["cloud"]] if "cloud" in state else rows_of(state["tokens"])
    metric = rows_of(state["metric"]) if "metric" in state else np.eye(tokens.shape[1], dtype=int)
    for _ in range(int(state.get("layer", 0))):
        tokens = hm.step(tokens, hm.Dynamics(state.get("alpha", "1/2"), metric))
    return [str(score) for score in tokens @ (metric @ tokens[token])]


def solutions_of(state: dict[str, str]) -> list[str]:
    """The sentences of a solution."""
    sentences = []
    for question, answer in answers_of(state).items():
        kind, _, token = question.partition(":")
        if kind == "leaders":
            sentences.append(f"{listed(answer).capitalize()} lead.")
        elif kind == "ends":
            sentences.append(f"Token {token} ends at ({', '.join(map(str, answer))}).")
        else:
            scores = ", ".join(scores_of(state, int(token))[:5])
            sentences.append(f"Token {token} attends to {listed(answer)}: the scores are {scores}.")
    return sentences


@pytest.mark.parametrize("section", SECTIONS, ids=[each.split("\n")[0] for each in SECTIONS])
def test_a_solution_is_that_of_exact_arithmetic(section):
    words = " ".join(section.split())
    state = state_in(section)
    for sentence in solutions_of(state):
        assert sentence in words.partition("<summary>Solution</summary>")[2]
    if "tokens" in state:
        places = [f"({row.replace(',', ', ')})" for row in state["tokens"].split(";")]
        assert f"Tokens: {', '.join(f'{i} = {row}' for i, row in enumerate(places))}." in words


def test_there_are_ten():
    assert [section.split(".")[0] for section in SECTIONS] == [str(k) for k in range(1, 11)]


@in_browser
@pytest.mark.check
def test_the_page_accepts_every_solution(browser: Any, tmp_path):
    write_page(tmp_path / "live.html", {})
    with Watched(browser, reduced_motion="reduce") as watched:
        for section in SECTIONS:
            state = state_in(section)
            watched.page.goto("about:blank")
            page = watched.open(tmp_path / "live.html", urlencode(state))
            for answer in answers_of(state).values():
                page.fill(".hm-quiz input", ", ".join(map(str, answer)))
                page.click("text=Check")
                page.wait_for_selector("text=Right: ")
                if page.is_visible("text=Next question"):
                    page.click("text=Next question")
            count = state["ask"].count(";") + 1
            assert f"Score: {count} of {count}" in page.inner_text(".hm-quiz")
        assert watched.heard == []
