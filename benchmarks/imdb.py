"""The shipped models: trained on IMDb by their recipes, three seeds each, and measured once on the test split.

python benchmarks/imdb.py TRAIN.parquet TEST.parquet MODELS [imdb_2d imdb_2d_best imdb_16d]

Every model is trained before any is measured. Rows go to results/imdb.csv; the models of seed 0 are written to MODELS,
with what was measured in their cards. Choices were made on validation data: nothing here chooses.
"""

# pyright: reportMissingImports=false
import csv
import io
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from harness import RESULTS, read_rows

from hardmax.text.evaluation.measuring import Evaluation, evaluate_model
from hardmax.text.text_model import TextModel
from hardmax.tokens.files import write_whole
from hardmax.train import PRESETS, fit

SEEDS = (0, 1, 2)
CLASSES = np.array(["negative", "positive"])
COLUMNS: tuple[str, ...] = (
    "recipe",
    "seed",
    "layers",
    "alpha",
    "dimension",
    "seconds",
    "accuracy",
    "f1_binary",
    "log_loss",
    "brier",
)
COLUMNS += ("calibration_error", "leaders_per_text", "mass_on_leaders", "leaders")


def read(path: str) -> tuple[list[str], list[str]]:
    table = parquet.read_table(path)
    return table["text"].to_pylist(), CLASSES[table["label"].to_numpy()].tolist()


def train_all(names: list[str], texts: list[str], labels: list[str]) -> dict[tuple[str, int], tuple[TextModel, float]]:
    models = {}
    for name in names:
        for seed in SEEDS:
            began = time.perf_counter()
            model = fit(texts, labels, replace(PRESETS[name], seed=seed))
            models[name, seed] = model, time.perf_counter() - began
            print(f"{name} seed {seed}: trained in {models[name, seed][1]:.0f} s")
    return models


def row(name: str, seed: int, model: TextModel, seconds: float, found: Evaluation) -> dict[str, Any]:
    numbers = {key: f"{found.metrics[key]:.4f}" for key in COLUMNS if key in found.metrics}
    words = ", ".join(f"{leader.word} {leader.texts}" for leader in found.leaders[:30])
    about = {"recipe": name, "seed": seed, "layers": model.layers, "alpha": model.alpha, "dimension": model.dimension}
    return about | {"seconds": f"{seconds:.1f}"} | numbers | {"leaders": words}


def with_metrics(model: TextModel, found: list[Evaluation]) -> TextModel:
    """The model with what was measured, in the words of its card."""
    measured = {
        "trained on": "IMDb, 25,000 reviews (Maas et al., ACL 2011)",
        "measured on": "its 25,000 test reviews, looked at once",
        "accuracy": found[0].metrics["accuracy"],
        "accuracy, mean of three seeds": float(np.mean([each.metrics["accuracy"] for each in found])),
        "calibration error": found[0].metrics["calibration_error"],
        "log-loss": found[0].metrics["log_loss"],
        "Brier score": found[0].metrics["brier"],
        "leaders a review": found[0].metrics["leaders_per_text"],
        "share of the mass on leaders": found[0].metrics["mass_on_leaders"],
        "most frequent leaders": ", ".join(leader.word for leader in found[0].leaders[:30]),
    }
    return replace(model, metrics=measured | {"recipe": model.metrics["recipe"]})


def write(rows: list[dict[str, Any]]) -> None:
    """Put the rows in the place of those that were there for the same recipes."""
    path, fresh = RESULTS / "imdb.csv", {each["recipe"] for each in rows}
    kept = [each for each in read_rows(path) if each["recipe"] not in fresh]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(sorted([*kept, *rows], key=lambda each: (list(PRESETS).index(each["recipe"]), int(each["seed"]))))
    write_whole(path, text.getvalue().encode())


def main(train_file: str, test_file: str, models_folder: str, *names: str) -> None:
    models = train_all(list(names or PRESETS), *read(train_file))
    test = read(test_file)
    found = {key: evaluate_model(model, *test) for key, (model, _) in models.items()}
    rows = [row(*key, *models[key], found[key]) for key in models]
    write(rows)
    for name in dict.fromkeys(key[0] for key in models):
        several = [found[name, seed] for seed in SEEDS]
        with_metrics(models[name, 0][0], several).save(Path(models_folder) / name.replace("_", "-"))
        print(f"{name}: accuracy {np.mean([each.metrics['accuracy'] for each in several]):.4f} in the mean")
    for each in rows:
        print(each)


if __name__ == "__main__":
    main(*sys.argv[1:])
