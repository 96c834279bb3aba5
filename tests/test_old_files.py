"""Files that earlier versions wrote still load, and say what is true: samples/README.md tells how they were made."""

import csv
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest

import hardmax as hm
from hardmax.text import TextModel
from hardmax.train import Recipe

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in SAMPLES.glob("*/expected.json")}
SCRIPTS = {"README.md", "make.py", "wanted.py"}
MODEL = {"config.json", "model.safetensors", "vocabulary.txt", "metrics.json", "README.md", "hashes.json"}
BY_COMMAND = {"training.jsonl"}
TRAINING = {"checkpoint.safetensors", "log.jsonl", "corpus.csv", "recipe.json"}


def samples(kind: str) -> pytest.MarkDecorator:
    """One test for every sample of a kind, of every version."""
    found = [(version, name) for version in sorted(EXPECTED) for name in EXPECTED[version][kind]]
    return pytest.mark.parametrize(("version", "name"), found, ids=[f"{version}-{name}" for version, name in found])


def test_every_file_is_tried():
    tried = set(SCRIPTS)
    for version, kinds in EXPECTED.items():
        tried.add(f"{version}/expected.json")
        for kind in ("runs", "batches", "certificates", "recipes"):
            tried |= {f"{version}/{kind}/{name}" for name in kinds[kind]}
        tried |= {f"{version}/trainings/{name}/{part}" for name in kinds["trainings"] for part in TRAINING}
        for name in kinds["models"]:
            parts = MODEL | BY_COMMAND if name == "by-command" else MODEL
            tried |= {f"{version}/models/{name}/{part}" for part in parts}
    there = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert {path for path in there if "__pycache__" not in path} == tried


def test_there_are_samples_of_the_first_version_and_of_a_later_one():
    assert {said["hardmax"] for said in EXPECTED.values()} >= {"0.1.0", "0.2.0.dev0"}


def fractions(rows: list[list[str]] | None) -> Any:
    return None if rows is None else [[Fraction(value) for value in row] for row in rows]


def check_run(run: hm.Trajectory, said: dict[str, Any], dynamics: dict[str, Any], counts: list[int] | None) -> None:
    """What the run tells is what fractions in plain loops find, from the tokens that went in when it was made."""
    tokens, last = fractions(said["tokens"]), run.layers
    every = [place for place, count in enumerate(counts or [1] * len(tokens)) for _ in range(count)]
    first = [every.index(place) for place in range(len(tokens))]
    beyond = last + 3 if said["settled_at"] is not None else last
    alpha, metric = Fraction(dynamics["alpha"]), fractions(dynamics["metric"])
    history = list(oracle.walk([tokens[place] for place in every], alpha, metric, beyond))

    assert list(run.recorded) == said["recorded"]
    assert run.tokens.shape == (len(said["recorded"]), len(tokens), len(tokens[0]))
    for layer, (cloud, sets) in enumerate(history):
        truth = [cloud[place] for place in first]
        assert np.allclose(run.at(layer), np.array(truth, dtype=float), rtol=0, atol=1e-13)
        assert [set(attended) for attended in run.attended(layer).tolist()] == [
            {every[other] for other in sets[place]} for place in first
        ]
        if run.arithmetic == "exact":
            assert run.exact_at(layer).tolist() == truth
    since = oracle.leaders_of(history[: last + 1])
    assert dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)) == {
        place: since[at] for place, at in enumerate(first) if at in since
    }
    assert run.leaders.tolist() == said["leaders"]
    assert run.leader_layers.tolist() == said["leader_layers"]
    assert run.settled_at == said["settled_at"]
    assert run.stopped == said["stopped"]
    assert run.certified == (said["arithmetic"] != "float")
    assert (run.dynamics.alpha, run.dynamics.metric is None) == (alpha, metric is None)


@samples("runs")
def test_a_run_is_what_it_was(version: str, name: str):
    said = EXPECTED[version]["runs"][name]
    run = hm.Trajectory.load(SAMPLES / version / "runs" / name)
    assert run.arithmetic == said["arithmetic"]
    check_run(run, said, said, None)
    dynamics = hm.Dynamics(said["alpha"], said["metric"])
    cloud = np.array(fractions(said["tokens"]), dtype=object)
    again = hm.simulate(cloud, dynamics, layers=run.layers, arithmetic=said["arithmetic"])
    for layer in range(run.layers + 1):
        assert np.allclose(run.at(layer), again.at(layer), rtol=0, atol=1e-13)


@samples("batches")
def test_the_runs_of_a_batch_are_what_they_were(version: str, name: str):
    said = EXPECTED[version]["batches"][name]
    runs = hm.Trajectories.load(SAMPLES / version / "batches" / name)
    counts = said["multiplicities"] or [None] * len(runs)
    for run, of_run, of_cloud in zip(runs, said["runs"], counts, strict=True):
        check_run(run, of_run, said, of_cloud)
    assert runs.settled_at == [each["settled_at"] for each in said["runs"]]
    assert [leaders.tolist() for leaders in runs.leaders] == [each["leaders"] for each in said["runs"]]
    last = runs[0].layers
    assert np.array_equal(np.asarray(runs.at(last)[0]), runs[0].at(last))


@samples("certificates")
def test_a_certificate_is_accepted_and_says_what_a_fresh_limit_says(version: str, name: str):
    said = EXPECTED[version]["certificates"][name]
    certificate = json.loads((SAMPLES / version / "certificates" / name).read_text(encoding="utf-8"))
    assert hm.verify(certificate), hm.verify(certificate).reason
    assert not hm.verify(certificate | {"settled_at": certificate["settled_at"] + 1})
    cloud = np.array(fractions(said["tokens"]), dtype=object)
    lim = hm.limit(cloud, hm.Dynamics(said["alpha"], said["metric"]))
    assert np.allclose(lim.points, said["limits"], rtol=0, atol=1e-13)
    assert (lim.settled_at, lim.leaders.tolist()) == (said["settled_at"], said["leaders"])
    fresh = lim.certificate
    told = ("alpha", "metric", "denominator", "points", "multiplicities", "attended", "settled_at", "leaders", "limits")
    assert {key: certificate[key] for key in told} == {key: fresh[key] for key in told}


@samples("models")
def test_a_model_answers_what_it_answered(version: str, name: str):
    said, folder = EXPECTED[version]["models"][name], SAMPLES / version / "models" / name
    for model in (TextModel.load(folder), hm.load(folder)):
        assert list(model.classes) == said["classes"]
        assert len(model.vocabulary) == said["tokens"]
        assert (model.extra is not None) == said["extra"]
        assert np.allclose(model.predict_proba(said["texts"]), said["probabilities"], rtol=0, atol=1e-12)
        winners = np.argmax(said["probabilities"], axis=1)
        assert model.predict(said["texts"]).tolist() == [said["classes"][winner] for winner in winners]
        found = [[leader.word for leader in model.explain(text).leaders] for text in said["texts"]]
        assert found == said["leaders"]
        if name == "by-command":
            log = (folder / "training.jsonl").read_text(encoding="utf-8").splitlines()
            assert [json.loads(line) for line in log] == model.metrics["training"]


@pytest.mark.parametrize("version", sorted(EXPECTED))
def test_the_models_have_all_that_a_model_can_have(version: str):
    models = [TextModel.load(SAMPLES / version / "models" / name) for name in EXPECTED[version]["models"]]
    assert {len(model.classes) for model in models} == {2, 3}
    assert {model.extra is None for model in models} == {model.metric is None for model in models} == {True, False}
    assert {model.binary for model in models} == {True, False}
    assert any(" " in token for model in models for token in model.vocabulary.surfaces)
    assert any(not token.isascii() for model in models for token in model.vocabulary.surfaces)


def read_corpus(path: Path, name: str) -> tuple[list[str], list[Any]]:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    labels = [row["label"] for row in rows]
    return [row["text"] for row in rows], [int(label) for label in labels] if name == "three-classes" else labels


@samples("trainings")
def test_a_training_that_was_cut_short_goes_on_to_its_end(version: str, name: str, tmp_path: Path):
    pytest.importorskip("torch", reason="the extra `train` is not installed")
    from hardmax.train import fit

    said, folder = EXPECTED[version]["trainings"][name], tmp_path / name
    shutil.copytree(SAMPLES / version / "trainings" / name, folder)
    begun = (folder / "log.jsonl").read_text(encoding="utf-8")
    recipe, later = Recipe.from_json((folder / "recipe.json").read_text(encoding="utf-8")), []
    model = fit(*read_corpus(folder / "corpus.csv", name), recipe, folder=folder, progress=later.append)

    assert [report.epoch for report in later] == list(range(said["done"] + 1, said["epochs"] + 1))
    assert (folder / "log.jsonl").read_text(encoding="utf-8").startswith(begun)
    losses = [report["loss"] for report in model.metrics["training"]]
    assert losses[: said["done"]] == said["losses"][: said["done"]]
    # Another processor may round otherwise, and a training carries that on.
    assert np.allclose(losses, said["losses"], rtol=0, atol=1e-2)
    assert np.allclose(model.predict_proba(said["texts"]), said["probabilities"], rtol=0, atol=1e-2)


@samples("recipes")
def test_a_recipe_has_every_entry_as_it_was(version: str, name: str):
    text = (SAMPLES / version / "recipes" / name).read_text(encoding="utf-8")
    assert json.loads(Recipe.from_json(text).fingerprint()) == EXPECTED[version]["recipes"][name]
    assert Recipe.from_dict(json.loads(text)) == Recipe.from_json(text)


@pytest.mark.parametrize("version", sorted(EXPECTED))
def test_the_recipes_tell_every_entry_apart_from_the_usual(version: str):
    recipes = EXPECTED[version]["recipes"]
    usual, other = recipes["usual.json"], recipes["all-entries.json"]
    assert [name for name in usual if usual[name] == other[name]] == []
