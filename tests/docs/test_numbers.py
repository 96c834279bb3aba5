"""Numbers in README.md and docs/ are those of the newest rows in benchmarks/results."""

# pyright: reportMissingImports=false
import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
Reader = Callable[[str], list[dict[str, str]]]


def says(page: str, sentence: str) -> bool:
    """Whether the page has the sentence, wherever its lines end."""
    return sentence in " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.fixture
def module(monkeypatch):
    """Imports a module of the benchmarks."""
    pytest.importorskip("matplotlib")
    # At the end: the folder has a text.py, and so have the tests.
    monkeypatch.setattr(sys, "path", [*sys.path, str(BENCHMARKS)])
    return importlib.import_module


@pytest.fixture
def rows(module):
    """Reads the rows of one benchmark, oldest first."""
    read = module("harness").read_rows
    return lambda name: read(BENCHMARKS / "results" / f"{name}.csv")


def test_every_table_is_what_the_rows_say(module):
    table = module("table")
    pages = {path.name for path in table.TABLES}
    assert pages == {"README.md", "growth.md", "limits.md", "models.md", "speed.md", "text.md"}
    for path, makers in table.TABLES.items():
        text = path.read_text(encoding="utf-8")
        assert table.with_tables(text, makers) == text, f"{path.name}: run benchmarks/table.py"


def test_the_shares_and_rights_of_corpora_are_those_of_the_training():
    source = ast.parse((BENCHMARKS / "sentiment.py").read_text(encoding="utf-8"))
    assigned = [node for node in source.body if isinstance(node, ast.Assign)]
    (value,) = [node.value for node in assigned if ast.unparse(node.targets[0]) == "CORPORA"]
    corpora = ast.literal_eval(value)
    assert len(corpora) == 10
    for share, what, rights in corpora.values():
        assert says("docs/models.md", f"| {what} | {share:g} | {rights} |")


def test_the_first_page_says_how_long_a_layer_takes(module):
    results = module("cpu_results")
    run = results.CPU["n 1,000,000, d 2: one layer"]
    time = results.duration(float(run["hardmax"]["seconds"]))
    assert says("docs/index.md", f"take {time} per layer on two cores")


def test_speed_says_how_times_grow(module, rows):
    scaling, page = module("scaling"), "docs/speed.md"
    times = scaling.times(rows("scaling"))
    slopes = {key: scaling.slope(sizes) for key, sizes in times.items()}
    least, most = slopes[2, "hardmax"], slopes[64, "hardmax"]
    assert says(page, f"slopes from {least:.2f} (d 2) to {most:.2f} (d 64)")
    flat = sorted(slope for (_, name), slope in slopes.items() if name == "faiss")
    assert says(page, f"slopes of {flat[0]:.2f} to {flat[-1]:.2f}")
    assert says(page, "faster from about 10,000 tokens on")
    for d in (2, 3, 8, 16, 64):
        ours, peer = times[d, "hardmax"], times[d, "faiss"]
        assert all(ours[n] < peer[n] for n in peer if n >= 10_000)


def test_speed_says_what_a_sphere_costs(module, rows):
    results, scaling = module("cpu_results"), module("scaling")
    run = results.CPU["n 100,000, d 3, on a sphere: one layer"]
    sphere = results.duration(float(run["hardmax"]["seconds"]))
    gaussian = results.duration(scaling.times(rows("scaling"))[3, "hardmax"][100_000])
    assert says("docs/speed.md", f"takes {sphere} there, and {gaussian} for a Gaussian cloud")


def test_speed_says_what_a_command_costs(rows):
    work, page = "hardmax explain, later: processor time", "docs/speed.md"
    newest = {row["peer"]: row for row in rows("everyday") if row["work"] == work}
    numpy, sklearn = newest["python with numpy"], newest["python with scikit-learn"]
    of_numpy, of_sklearn = (float(row["seconds"]) / float(row["ratio"]) for row in (numpy, sklearn))
    assert says(page, f"takes {float(numpy['seconds']):.2f} s of CPU time")
    assert says(page, f"numpy takes {of_numpy:.2f} s")
    assert says(page, f"in scikit-learn needs takes {of_sklearn:.1f} s")
    assert says(page, f"(`python benchmarks/everyday.py starting`, {numpy['date']})")


def test_speed_says_where_the_time_goes(rows):
    newest = {(row["of"], row["what"]): row for row in rows("limit_of_machine")}
    page, plane = "docs/speed.md", "plane, n 1,000,000"

    def share(of, what):
        return f"{100 * float(newest[of, what]['share']):.0f} %"

    polygons, angles = share(plane, "two polygons"), share(plane, "winners by angle")
    assert says(page, f"the two polygons take {polygons}, the table of angles {angles}")
    merging = share(plane, "merging equal tokens")
    bounds = share(plane, "lengths and slack")
    assert says(page, f"takes {merging}, the error bounds {bounds}")
    assert says(page, f"(copies, attended sets) {share(plane, 'the rest')}")
    moving = share(plane, "time to move in and out what must be, and its share")
    assert says(page, f"would take {moving}:")
    both = [f"rounded, n 100,000, d {d}" for d in (16, 64)]
    kernel = [share(of, "of it in the kernel") for of in both]
    assert says(page, f"spends {kernel[0]} (d 16) and {kernel[1]} (d 64)")
    unseen = [share(of, "points never looked at, of each direction's n") for of in both]
    assert says(page, f"skips {unseen[0]} and {unseen[1]} of the points")
    rate = [share(of, "rate, and its share of bytes in cache on 2 threads") for of in both]
    assert says(page, f"reaches {rate[0]} (d 16) and {rate[1]} (d 64)")
    scored = [float(newest[of, "points scored in float64, a direction"]["value"]) for of in both]
    assert says(page, f"{scored[0]:.0f} and {scored[1]:.0f} points per direction")


def test_limits_say_how_many_layers_are_walked(rows):
    settled: dict[str, list[int]] = {}
    for row in rows("layers_walked"):
        settled.setdefault(row["alpha"], []).extend([int(row["layers"])] * int(row["clouds"]))
    assert {len(layers) for layers in settled.values()} == {2500}
    assert len(settled) == 4
    half, tenth = settled["1/2"], settled["1/10"]
    page = "docs/limits.md"
    assert says(page, "For each of four step sizes, 2,500 Gaussian clouds")
    assert says(page, f"after {sum(half) / 2500:.1f} layers on average and {max(half)} at most")
    assert says(page, f"with alpha 1/10 after {sum(tenth) / 2500:.1f} and {max(tenth)}")
    few = sum(layer < 10 for layers in settled.values() for layer in layers)
    assert few > 0.95 * 10_000
    assert says("docs/index.md", "usually after computing fewer than ten")


def test_limits_say_what_exact_layers_cost(rows):
    exact = [row for row in rows("arithmetics") if row["contestant"] == "exact with flint"]
    newest = {row["work"].split()[1]: f"{1e3 * float(row['seconds']):.0f} ms" for row in exact}
    gaussian = f"takes {newest['gaussian']} for 200 Gaussian tokens in the plane and 30 layers"
    assert says("docs/limits.md", f"{gaussian}, and {newest['lattice']} for a lattice")


def test_text_says_how_long_a_million_reviews_take(rows):
    million = [row for row in rows("score") if row["work"].startswith("1,000,000 reviews")]
    seconds = {row["contestant"]: f"{float(row['seconds']):.0f} s" for row in million}
    peer = seconds["TF-IDF (1, 2) + LogisticRegression"]
    ours = seconds["hardmax score"]
    assert says("docs/text.md", f"take {ours} on two cores, beside {peer} for TF-IDF")


def test_streams_say_what_a_review_costs(rows):
    work = "25,000 reviews in a folder, processor time"
    spent = {row["contestant"]: row["seconds"] for row in rows("score") if row["work"] == work}
    assert len(spent) == 6
    for contestant, seconds in spent.items():
        name = f"`{contestant}`" if contestant.startswith("hardmax") else contestant
        assert says("docs/streams.md", f"| {name} | {float(seconds) / 25_000 * 1e6:.0f} |")


def test_text_says_what_a_sentence_costs_over_http(rows):
    spent = {row["contestant"]: f"{1e3 * float(row['seconds']):.1f} ms" for row in rows("serve")}
    ours = f"{spent['label and probability']} of processor time"
    assert says("docs/text.md", f"A sentence takes {ours}, its explanation {spent['explanation']},")
    peer = spent["FastAPI, always the same answer"]
    assert says("docs/text.md", f"and an answer that is always the same {peer}")


def test_the_attention_of_pytorch_is_faster_up_to_16_384_tokens(module):
    ratios = {
        work: float(row["ratio"])
        for (work, contestant, peer), row in module("cpu_results").GPU.items()
        if (contestant, peer) == ("hardmax", "SDPA bf16")
    }
    assert ratios["one layer n 1024 d 64"] < 1
    assert ratios["one layer n 16384 d 64"] < 1 < ratios["one layer n 65536 d 64"]
    assert says("docs/alternatives.md", "on an H200, faster up to 16,384 tokens (d 64)")
