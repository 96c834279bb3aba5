"""Numbers in README.md and docs/ are those of the newest rows in benchmarks/results."""

# pyright: reportMissingImports=false
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
Importer = Callable[[str], ModuleType]
Reader = Callable[[str], list[dict[str, str]]]


def says(page: str, sentence: str) -> bool:
    """Whether the page has the sentence, wherever its lines end."""
    return sentence in " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Imports a module of the benchmarks."""
    pytest.importorskip("matplotlib")
    # At the end: the folder has a text.py, and so have the tests.
    monkeypatch.setattr(sys, "path", [*sys.path, str(BENCHMARKS)])
    return importlib.import_module


@pytest.fixture
def rows(module: Importer) -> Reader:
    """Reads the rows of one benchmark, oldest first."""
    read = module("harness").read_rows
    return lambda name: read(BENCHMARKS / "results" / f"{name}.csv")


def test_every_table_is_what_the_rows_say(module: Importer):
    table = module("table")
    pages = {path.name for path in table.TABLES}
    assert pages == {"README.md", "limits.md", "models.md", "speed.md"}
    for path, makers in table.TABLES.items():
        text = path.read_text(encoding="utf-8")
        assert table.with_tables(text, makers) == text, f"{path.name}: run benchmarks/table.py"


def test_another_number_in_the_table_of_the_readme_is_noticed(module: Importer):
    table, path = module("table"), ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^\| \[.*", text, flags=re.M)
    assert len(lines) == 7
    for line in lines:
        last = max(place for place, letter in enumerate(line) if letter.isdigit())
        other = str((int(line[last]) + 1) % 10)
        forged = text.replace(line, line[:last] + other + line[last + 1 :])
        assert table.with_tables(forged, table.TABLES[path]) == text != forged


def test_the_first_page_says_how_long_a_layer_takes(module: Importer):
    results = module("cpu_results")
    run = results.CPU["n 1,000,000, d 2: one layer"]
    time = results.duration(float(run["hardmax"]["seconds"]))
    assert says("docs/index.md", f"take {time} per layer on two cores")


def test_speed_says_how_times_grow(module: Importer, rows: Reader):
    scaling, page = module("scaling"), "docs/speed.md"
    times = scaling.times(rows("scaling"))
    slopes = {key: scaling.slope(sizes) for key, sizes in times.items()}
    least, most = slopes[2, "hardmax"], slopes[64, "hardmax"]
    assert says(page, f"slopes from {least:.2f} (d 2) to {most:.2f} (d 64)")
    flat = sorted(slope for (_, name), slope in slopes.items() if name == "faiss")
    assert says(page, f"slopes of {flat[0]:.2f} to {flat[-1]:.2f}")
    assert says(page, "faster from about 3,000 tokens on")
    for d in (2, 3, 8, 16, 64):
        ours, peer = times[d, "hardmax"], times[d, "faiss"]
        assert all(ours[n] < peer[n] for n in peer if n >= 3000)


def test_speed_says_what_a_sphere_costs(module: Importer, rows: Reader):
    results, scaling = module("cpu_results"), module("scaling")
    run = results.CPU["n 100,000, d 3, on a sphere: one layer"]
    sphere = results.duration(float(run["hardmax"]["seconds"]))
    gaussian = results.duration(scaling.times(rows("scaling"))[3, "hardmax"][100_000])
    assert says("docs/speed.md", f"takes {sphere} there, and {gaussian} for a Gaussian cloud")


def test_speed_says_what_a_command_costs(rows: Reader):
    work, page = "hardmax explain, later: processor time", "docs/speed.md"
    newest = {row["peer"]: row for row in rows("everyday") if row["work"] == work}
    numpy, sklearn = newest["python with numpy"], newest["python with scikit-learn"]
    of_numpy, of_sklearn = (float(row["seconds"]) / float(row["ratio"]) for row in (numpy, sklearn))
    assert says(page, f"takes {float(numpy['seconds']):.2f} s of CPU time")
    assert says(page, f"numpy takes {of_numpy:.2f} s")
    assert says(page, f"in scikit-learn needs takes {of_sklearn:.1f} s")
    assert says(page, f"(`python benchmarks/everyday.py starting`, {numpy['date']})")


def test_speed_says_where_the_time_goes(rows: Reader):
    newest = {(row["of"], row["what"]): row for row in rows("limit_of_machine")}
    page, plane = "docs/speed.md", "plane, n 1,000,000"

    def share(of: str, what: str) -> str:
        return f"{100 * float(newest[of, what]['share']):.0f} %"

    polygons, angles = share(plane, "two polygons"), share(plane, "winners by angle")
    assert says(page, f"the two polygons take {polygons}, the table of angles {angles}")
    merging, bounds = share(plane, "merging equal tokens"), share(plane, "lengths and slack")
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


def test_limits_say_how_many_layers_are_walked(rows: Reader):
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


def test_limits_say_what_exact_layers_cost(rows: Reader):
    exact = [row for row in rows("arithmetics") if row["contestant"] == "exact with flint"]
    newest = {row["work"].split()[1]: f"{1e3 * float(row['seconds']):.0f} ms" for row in exact}
    gaussian = f"takes {newest['gaussian']} for 200 Gaussian tokens in the plane and 30 layers"
    assert says("docs/limits.md", f"{gaussian}, and {newest['lattice']} for a lattice")


def test_text_says_how_many_texts_are_flipped(rows: Reader):
    row, page = rows("flips")[-1], "docs/text.md"
    flipped = f"{row['found']} are flipped"
    assert says(page, f"Of {row['reviews']} reviews of the IMDb test split, {flipped}")
    assert float(row["median_words"]) == 4
    assert says(page, "half of them by at most four words")
    assert says(page, f"for {row['shown_smallest']} the number is proved to be the smallest")
    assert says(page, f"The median time is {float(row['median_seconds']):.2f} s")


def test_text_says_how_long_a_million_reviews_take(rows: Reader):
    million = [row for row in rows("score") if row["work"].startswith("1,000,000 reviews")]
    seconds = {row["contestant"]: f"{float(row['seconds']):.0f} s" for row in million}
    peer = seconds["TF-IDF (1, 2) + LogisticRegression"]
    ours = seconds["hardmax score"]
    assert says("docs/text.md", f"take {ours} on two cores, beside {peer} for TF-IDF")


def test_models_say_who_ranks_words_better(module: Importer):
    tables, page = module("text_tables"), "docs/models.md"
    rankings, pairs = tables.newest_rankings(), tables.newest_pairs()
    lime, shap = tables.PEERS.values()

    def interval(own: str, peer: str, file: str, measure: str) -> tuple[float, float]:
        row = pairs[own, peer][file, measure]
        return float(row["low"]), float(row["high"])

    votes = {
        (peer, file): interval("votes", peer, file, "comprehensiveness")
        for peer in (lime, shap)
        for file in ("test", "mr")
    }
    assert max(votes[lime, "test"] + votes[lime, "mr"]) < 0
    assert max(votes[shap, "mr"]) < 0 < min(votes[shap, "test"])
    assert says(page, "ranks words better than the votes, on reviews and on sentences")
    assert says(page, "The votes are ahead of SHAP on reviews and behind it on sentences")
    for peer in (lime, shap):
        for file in ("test", "mr"):
            assert min(interval("removals", peer, file, "comprehensiveness")) > 0
            assert max(interval("removals", peer, file, "sufficiency")) < 0
    told = "`removals` is ahead of LIME and SHAP in both measures, on reviews and on sentences"
    assert says(page, told)
    assert 5.5 < float(rankings[lime]["test"]["times_ours"]) < 6.6
    assert says(page, "takes a sixth of LIME's time on reviews")
    reviews, sentences = (rankings["votes"][file]["texts"] for file in ("test", "mr"))
    assert says(page, f"{reviews} reviews of the IMDb test split and {sentences} sentences of MR")
    assert says("README.md", "LIME ranks words better than the votes")


def test_models_say_which_accuracies_are_distinguishable(module: Importer):
    tables, page = module("text_tables"), "docs/models.md"
    apart = {}
    for name, found in tables.newest_models().items():
        ours, peer = tables.mean_of(found, "accuracy"), tables.mean_of(found, "peer_accuracy")
        apart[name] = tables.standard_errors(ours, peer, tables.IMDB_TEST)
    assert abs(apart["imdb-2d"]) < 1.96 < apart["imdb-2d-best"] < 2.2
    assert says(page, "`imdb-2d` is not distinguishable from its peer")
    assert says(page, "the difference of `imdb-2d-best` is just large enough")


def test_models_say_how_close_the_other_corpora_are(module: Importer):
    tables, errors, differences = module("text_tables"), {}, []
    corpora = tables.newest_corpora()
    for name, (peer, found) in corpora.items():
        ours, theirs = tables.mean_of(found, "accuracy"), float(peer["accuracy"])
        errors[name] = f"{100 * tables.standard_error(ours, int(peer['judged'])):.1f}"
        differences.append(abs(ours - theirs))
        assert abs(tables.standard_errors(ours, theirs, int(peer["judged"]))) < 1.96
    least, most = min(errors.values()), max(errors.values())
    assert (errors["sms"], errors["cr"], errors["trec"]) == (least, most, most)
    told = f"is {least} (sms) to {most} points (cr, trec), and none of the seven differences"
    assert len(corpora) == 7
    assert says("docs/models.md", f"{told} is distinguishable from 0")
    within = f"within {100 * max(differences):.1f} points of us on seven corpora"
    assert says("docs/alternatives.md", within)


def test_single_sentences_are_read_rightly_three_times_out_of_four(module: Importer):
    models = module("text_tables").newest_models()
    for name in ("imdb-2d", "imdb-2d-best"):
        assert all(0.74 < float(row["mr_accuracy"]) < 0.77 for row in models[name])
    assert says("docs/limitations.md", "On single sentences they are right three times out of four")


def test_the_attention_of_pytorch_is_faster_up_to_16_384_tokens(module: Importer):
    ratios = {
        work: float(row["ratio"])
        for (work, contestant, peer), row in module("cpu_results").GPU.items()
        if (contestant, peer) == ("hardmax", "SDPA bf16")
    }
    assert ratios["one layer n 1024 d 64"] < 1
    assert ratios["one layer n 16384 d 64"] < 1 < ratios["one layer n 65536 d 64"]
    assert says("docs/alternatives.md", "on an H200, faster up to 16,384 tokens (d 64)")
