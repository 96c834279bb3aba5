"""Writes a folder of samples with the hardmax that it is run with: `python tests/samples/make.py FOLDER`.

Public calls and commands of 0.1 alone, which later versions have too: so that the same script writes for all of them.
Beside the files, expected.json says what was asked for and what the code that wrote them answered.
"""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from wanted import ASKED, BATCHES, CERTIFICATES, PHRASES, QUICK, RECIPES, RUNS, STOPPED_AFTER, TRAININGS

import hardmax as hm
from hardmax.text import TextModel, plant
from hardmax.train import Recipe, fit


def plain(table: Any) -> list[list[str]]:
    return [[str(Fraction(value)) for value in row] for row in table]


def cloud_of(table: list) -> np.ndarray:
    return np.array([[Fraction(value) for value in row] for row in table], dtype=object)


def dynamics_in(options: dict[str, Any]) -> dict[str, Any]:
    metric = options.get("metric")
    return {"alpha": str(Fraction(options["alpha"])), "metric": None if metric is None else plain(metric)}


def told(run: Any) -> dict[str, Any]:
    """What a run answers."""
    return {
        "arithmetic": run.arithmetic,
        "recorded": list(run.recorded),
        "settled_at": run.settled_at,
        "stopped": run.stopped,
        "leaders": run.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
    }


def write_runs(folder: Path) -> dict[str, Any]:
    expected = {}
    for name, (tokens, dynamics, options) in RUNS.items():
        run = hm.simulate(cloud_of(tokens), hm.Dynamics(**dynamics), **options)
        run.save(folder / name)
        expected[name] = {"tokens": plain(tokens)} | dynamics_in(dynamics) | told(run)
    return expected


def write_batches(folder: Path) -> dict[str, Any]:
    expected = {}
    for name, (clouds, counts, is_stack, dynamics, options) in BATCHES.items():
        given: Any = np.array(clouds, dtype=float) if is_stack else [np.array(cloud, dtype=float) for cloud in clouds]
        if counts is not None:
            offsets = np.cumsum([0, *map(len, clouds)])
            given = hm.Ragged(np.concatenate(given), offsets, np.concatenate(counts))
        runs = hm.simulate(given, hm.Dynamics(**dynamics), **options)
        runs.save(folder / name)
        each = [{"tokens": plain(cloud)} | told(run) for cloud, run in zip(clouds, runs, strict=True)]
        expected[name] = dynamics_in(dynamics) | {"multiplicities": counts, "runs": each}
    return expected


def command(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "hardmax", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def write_certificates(folder: Path) -> dict[str, Any]:
    expected = {}
    for name, (tokens, dynamics) in CERTIFICATES.items():
        points = folder / "points.csv"
        points.write_text("".join(",".join(row) + "\n" for row in plain(tokens)))
        said = dynamics_in(dynamics)
        metric = ["--metric", ";".join(",".join(row) for row in said["metric"])] if said["metric"] else []
        command("limit", points, "--alpha", said["alpha"], *metric, "--certificate", folder / name)
        points.unlink()
        lim = hm.limit(cloud_of(tokens), hm.Dynamics(**dynamics))
        found = {"settled_at": lim.settled_at, "leaders": lim.leaders.tolist(), "limits": lim.points.tolist()}
        expected[name] = {"tokens": plain(tokens)} | said | found
    return expected


def texts_of(classes: int) -> tuple[list[str], list[Any]]:
    """Planted texts with a phrase and a word that is not ASCII; three classes are numbers."""
    if classes == 3:
        planted = plant(60, classes=("red", "green", "blue"), words=4, length=6, seed=2)
        return planted.texts, [("red", "green", "blue").index(label) for label in planted.labels]
    planted = plant(60, words=6, length=6, disturbed=0.1, seed=1)
    ends = {"negative": " Not good at all.", "positive": " Très bien!"}
    pairs = zip(planted.texts, planted.labels, strict=True)
    return [text + ends[label] if n % 4 < 2 else text for n, (text, label) in enumerate(pairs)], planted.labels


def write_corpus(path: Path, texts: list[str], labels: list[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("text", "label"), *zip(texts, labels, strict=True)])


def by_command(folder: Path) -> None:
    """A model that `hardmax train` wrote, less its picture, which no code reads."""
    write_corpus(folder / "corpus.csv", *texts_of(2))
    (folder / "recipe.json").write_text(json.dumps(QUICK))
    command("train", folder / "corpus.csv", "--recipe", folder / "recipe.json", "-o", folder / "by-command")
    for path in (folder / "corpus.csv", folder / "recipe.json", folder / "by-command" / "training.png"):
        path.unlink()


def write_models(folder: Path) -> dict[str, Any]:
    by_command(folder)
    three = fit(*texts_of(3), Recipe.from_dict(QUICK))
    phrases = fit(*texts_of(2), Recipe.from_dict(PHRASES))
    three.save(folder / "three-classes")
    phrases.save(folder / "extra-token-and-phrases")
    replace(three, metric=np.array([[1.5, 0.25], [0.25, 0.5]])).save(folder / "three-classes-and-metric")
    expected = {}
    for path in sorted(folder.iterdir()):
        model = TextModel.load(path)
        asked = [*ASKED, *texts_of(len(model.classes))[0][:6]]
        said = {"classes": list(model.classes), "texts": asked, "probabilities": model.predict_proba(asked).tolist()}
        leaders = [[leader.word for leader in model.explain(text).leaders] for text in asked]
        known = {"tokens": len(model.vocabulary), "extra": model.extra is not None}
        expected[path.name] = said | known | {"leaders": leaders}
    return expected


class Enough(Exception):
    """Ends a training in the middle."""


def write_trainings(folder: Path) -> dict[str, Any]:
    expected = {}
    for name, recipe in TRAININGS.items():
        here = folder / name
        texts, labels = texts_of(3 if name == "three-classes" else 2)

        def stop(report: Any) -> None:
            if report.epoch == STOPPED_AFTER:
                raise Enough

        try:
            fit(texts, labels, Recipe.from_dict(recipe), folder=here, progress=stop)
        except Enough:
            write_corpus(here / "corpus.csv", texts, labels)
            (here / "recipe.json").write_text(Recipe.from_dict(recipe).to_json())
        whole = fit(texts, labels, Recipe.from_dict(recipe))
        expected[name] = {
            "done": STOPPED_AFTER,
            "epochs": len(whole.metrics["training"]),
            "losses": [report["loss"] for report in whole.metrics["training"]],
            "texts": texts[:8],
            "probabilities": whole.predict_proba(texts[:8]).tolist(),
        }
    return expected


def write_recipes(folder: Path) -> dict[str, Any]:
    """`quick.json` as people write them, with some of the entries; the others as `to_json` does."""
    expected = {}
    for name, entries in RECIPES.items():
        recipe = Recipe.from_dict(entries)
        (folder / name).write_text(json.dumps(entries, indent=1) if name == "quick.json" else recipe.to_json())
        expected[name] = json.loads(recipe.to_json())
    return expected


KINDS = {
    "runs": write_runs,
    "batches": write_batches,
    "certificates": write_certificates,
    "models": write_models,
    "trainings": write_trainings,
    "recipes": write_recipes,
}


def main(folder: Path) -> None:
    expected: dict[str, Any] = {"hardmax": hm.__version__}
    for kind, write in KINDS.items():
        (folder / kind).mkdir(parents=True)
        expected[kind] = write(folder / kind)
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
