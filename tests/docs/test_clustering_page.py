"""Numbers in docs/clustering.md are those of examples/paper/data/clustering.json."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "paper" / "data"
PAGE = (ROOT / "docs" / "clustering.md").read_text(encoding="utf-8")
SENTENCES = " ".join(PAGE.split())
DIMENSIONS = (2, 4, 8, 16)
TABLE = json.loads((DATA / "clustering.json").read_text("utf-8"))
CELLS = {(row["attention"], row["layers"], row["d"]): row["ends"] for row in TABLE["cells"]}
CHANGES = {
    (row["name"], row["layers"], row["d"]): row["ends"][str(row["epochs"])]
    for row in TABLE["changes"]
}
# As the page names them.
NAMES = {
    "none": "no layers",
    "none, longer": "no layers, 22 epochs",
    "plain": "the authors' layer",
    "hard": "1. truly hard",
    "straight": "2. gradients reach the choice",
    "falling": "3. temperature falls from 1",
    "bag": "4. from a bag",
    "bag, hard": "4. from a bag, truly hard",
    "bag, straight": "4. from a bag, gradients reach the choice",
    "leaders": "5. leaders alone are decoded",
    "few leaders": "5. the same, few leaders asked for",
    "fewest leaders": "5. the same, fewer still",
    "neutral, hard": "6. a neutral token, truly hard",
    "neutral, straight": "6. a neutral token, gradients reach the choice",
    "metric": "7. a learned metric",
}


def percent(values: Any, digits: int = 1) -> str:
    return f"{100 * np.mean(values):.{digits}f}"


def line(*parts: str) -> str:
    return f"| {' | '.join(parts)} |"


def accuracies(attention: str, layers: int, epochs: str) -> list[str]:
    """Mean, least and largest of five orders in each dimension."""
    orders = [CELLS[attention, layers, d][epochs]["best"] for d in DIMENSIONS]
    return [f"{percent(o)} ({percent(min(o))}–{percent(max(o))})" for o in orders]


@pytest.mark.parametrize(
    ("name", "attention", "layers", "epochs"),
    [
        *((str(layers), "softmax", layers, "25") for layers in (0, 1, 2, 8, 32)),
        ("1, truly hard", "hard", 1, "25"),
        ("8, truly hard", "hard", 8, "25"),
        ("0, 101 epochs", "softmax", 0, "101"),
        ("8, 101 epochs", "softmax", 8, "101"),
    ],
)
def test_accuracies_are_the_kept_ones(name, attention, layers, epochs):
    assert line(name, *accuracies(attention, layers, epochs)) in PAGE


def of_leaders(name: str, digits: int = 0, layers: int = 8) -> list[str]:
    """A property of the leaders in each dimension, in percent."""
    return [percent(CELLS["softmax", layers, d]["25"][name], digits) for d in DIMENSIONS]


def test_what_leads_is_as_kept():
    ends = [CELLS["softmax", 8, d]["25"] for d in DIMENSIONS]
    rows = {
        "leaders a review": [f"{np.mean(end['leaders']):.0f}" for end in ends],
        "they are in VADER's lexicon, %": of_leaders("vader, leaders", 1),
        "they are in AFINN, %": of_leaders("afinn, leaders", 1),
        "they lead at layer 0 already, %": of_leaders("since layer 0", 1),
        "accuracy from leaders alone": of_leaders("leaders alone", 1),
        "from as many words at random": of_leaders("as many at random", 1),
        "without leaders": of_leaders("without leaders", 1),
        "without as many words at random": of_leaders("without as many", 1),
        "no layers: words that would lead are in VADER's, %": of_leaders("vader, leaders", 1, 0),
    }
    for name, values in rows.items():
        assert line(name, *values) in PAGE
    words = [[word for word in end["top"] if word][:4] for end in ends]
    assert line("most often", *(f"*{', '.join(some)}*" for some in words)) in PAGE
    vader, afinn = (percent(ends[0][f"{name}, words"]) for name in ("vader", "afinn"))
    assert f"Of all words {vader} % are in VADER's lexicon and {afinn} % in AFINN" in SENTENCES


def change(name: str) -> str:
    """A row of the table of changes: accuracy in each cell that was trained, and what leads in the
    plane."""
    places = [(1, 2), (8, 2), (1, 4), (1, 16), (8, 16)]
    if name.startswith("none"):
        places = [(0, d) for _, d in places]
    cells = [CHANGES.get((name, *place)) for place in places]
    values = [percent(cell["best"]) if cell else "–" for cell in cells]
    leads = cells[0] if cells[0] and "leaders" in cells[0] else None
    leaders = (
        [f"{np.mean(leads['leaders']):.0f}", percent(leads["vader, leaders"], 0)]
        if leads
        else ["–", "–"]
    )
    return line(NAMES[name], *values, *leaders)


@pytest.mark.parametrize("name", NAMES)
def test_changes_are_judged_as_kept(name):
    assert change(name) in PAGE


def test_every_change_that_was_trained_is_on_the_page():
    assert {name for name, *_ in CHANGES} == set(NAMES)


def test_the_test_reviews_were_asked_for_the_chosen_changes_alone():
    losses = []
    for d in (2, 4, 16):
        rows = {row["name"]: row for row in TABLE["chosen"] if row["d"] == d}
        none, longer = rows.pop("none"), rows.pop("none, longer")
        ((name, best),) = rows.items()
        layers = "one layer" if best["layers"] == 1 else f"{best['layers']} layers"
        tests = (percent(row["test"]) for row in (best, longer, none))
        chosen = f"{NAMES[name].removeprefix('4. ')}, {layers}"
        assert line(str(d), chosen, percent(best["validation"]), *tests) in PAGE
        losses.append(100 * (np.mean(longer["test"]) - np.mean(best["test"])))
    assert min(losses) > 0
    assert f"The differences, {min(losses):.1f} to {max(losses):.1f} points" in SENTENCES
    assert f"makes leaders meaningful and costs at most {max(losses):.1f} points" in SENTENCES


def best(attention: str, layers: int, d: int, epochs: str = "25") -> float:
    return 100 * float(np.mean(CELLS[attention, layers, d][epochs]["best"]))


def test_the_answer_says_what_layers_cost():
    costs = {
        (kind, d): f"{best('softmax', 0, d) - best(kind, 8, d):.1f}"
        for kind in ("softmax", "hard")
        for d in (2, 16)
    }
    soft, hard = ([costs[kind, d] for d in (2, 16)] for kind in ("softmax", "hard"))
    assert f"eight cost {soft[0]} points in the plane (d = 2), and {soft[1]} with" in SENTENCES
    assert f"eight layers cost {hard[0]} points in the plane, and {hard[1]} with" in SENTENCES
    for kind, layers, d in CELLS:
        assert layers == 0 or best(kind, layers, d) < best("softmax", 0, d)


def test_the_answer_says_what_leads():
    plane, most = (CELLS["softmax", 8, d]["25"] for d in (2, 16))
    told = (
        f"{np.mean(plane['leaders']):.0f} words of a review lead, and "
        f"{percent(plane['vader, leaders'])} % of them are in VADER's lexicon of sentiment, "
        f"as are {percent(plane['vader, words'])} % of all words; with d = 16 there are "
        f"{np.mean(most['leaders']):.0f}, and {percent(most['vader, leaders'])} %."
    )
    assert told in SENTENCES
    bag = CHANGES["bag, hard", 1, 2]
    assert f"have {np.mean(bag['leaders']):.0f} leaders a review in the plane, " in SENTENCES
    assert f"{percent(bag['vader, leaders'], 0)} % of them in the lexicon" in SENTENCES


def chance(share: float, reviews: int) -> float:
    """Half a 95 % interval."""
    return 1.96 * np.sqrt(share * (1 - share) / reviews)


def test_no_change_is_more_accurate_than_a_bag_trained_as_long():
    for (name, _, d), cell in CHANGES.items():
        without = np.mean(CHANGES["none, longer", 0, d]["best"])
        assert np.mean(cell["best"]) < without + chance(without, 5250), name
    assert f"(± {100 * chance(0.87, 5250):.1f} near 87 %)" in SENTENCES
    least, most = (100 * chance(share, 15_000) for share in (0.88, 0.74))
    assert f"15,000 of them leaves ± {least:.1f} to {most:.1f}" in SENTENCES


def test_the_authors_figures_are_within_our_range_or_near_it():
    theirs = json.loads((DATA / "authors.json").read_text("utf-8"))["training"]
    bests = [max(theirs[str(d)]["test_acc"]) for d in DIMENSIONS]
    told = [f"{100 * accuracy:.2f}" for accuracy in bests]
    assert f"{told[0]}, {told[1]}, {told[2]} and {told[3]} %: within our range" in SENTENCES
    ours = [CELLS["softmax", 8, d]["101"]["best"] for d in DIMENSIONS]
    assert all(min(o) < t < max(o) for o, t in zip(ours[:3], bests[:3], strict=True))
    assert f"and {100 * (bests[3] - max(ours[3])):.1f} points above it for d = 16" in SENTENCES


def test_leaders_say_more_than_chance_in_the_plane_alone():
    for d in DIMENSIONS:
        end = CELLS["softmax", 8, d]["25"]
        assert (np.mean(end["leaders alone"]) > np.mean(end["as many at random"])) == (d == 2)
        would = np.mean(CELLS["softmax", 0, d]["25"]["vader, leaders"])
        assert (would > np.mean(end["vader, leaders"])) == (d <= 4)


def test_the_exact_limit_reads_as_eight_layers_do():
    gaps = [
        abs(TABLE["limit"][f"softmax-8-{d}"]["accuracy"] - CELLS["softmax", 8, d]["25"]["hard"][0])
        for d in DIMENSIONS
    ]
    assert f"by {100 * max(gaps):.2f} points at most" in SENTENCES


def test_training_all_but_turns_the_chosen_layer_off():
    one, eight = (CHANGES["bag, hard", layers, 2] for layers in (1, 8))
    alphas = [f"{np.mean(cell['alpha']):.2f}" for cell in (one, eight)]
    assert f"from 0.5 to {alphas[0]}, with eight layers to {alphas[1]}" in SENTENCES
    assert f"leaders alone read {percent(one['leaders alone'], 0)} % of the" in SENTENCES


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("docs/claims.md", "by {0} points with d = 2 and 8 layers, by {1} with d = 16"),
        ("paper.md", "cost {0} percentage points in two dimensions, and {1} in sixteen"),
    ],
)
def test_other_pages_say_what_layers_cost(page, told):
    costs = [f"{best('softmax', 0, d) - best('softmax', 8, d):.1f}" for d in (2, 16)]
    assert told.format(*costs) in " ".join((ROOT / page).read_text(encoding="utf-8").split())


def test_the_page_of_claims_says_what_leads():
    text = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    shares = [percent(CELLS["softmax", 8, d]["25"]["vader, leaders"]) for d in (2, 16)]
    words = percent(CELLS["softmax", 8, 2]["25"]["vader, words"])
    assert f"{shares[0]} % and {shares[1]} % of the leaders are in VADER's lexicon" in text
    assert f"lexicon of sentiment, {words} % of all words" in text
    bag = percent(CHANGES["bag, hard", 1, 2]["vader, leaders"], 0)
    assert f"{bag} % of the leaders are in the lexicon with d = 2" in text
