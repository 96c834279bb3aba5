"""The shipped models: trained on IMDb by their recipes, three seeds each, and measured once on the test split.

python benchmarks/imdb.py train TRAIN.parquet TRAINED [imdb_2d imdb_2d_best imdb_16d]
python benchmarks/imdb.py measure TEST.parquet TRAINED SHIPPED [ERASER-MOVIES.parquet]

The first writes a folder for each recipe and seed to TRAINED, and goes on where it was cut short; the second measures
all of them, writes rows to results/imdb.csv, and the models of seed 0 to SHIPPED, with their figures in their cards.
With the movies of ERASER (words, spans as pairs of numbers of words, split "val") it is asked how often the words that
lead stand in what people marked. Where `vaderSentiment` and `afinn` are installed, how many leaders are in their
lexicons is measured, too. Choices were made on validation data: nothing here chooses.
"""

# pyright: reportMissingImports=false
import csv
import importlib.util
import io
import sys
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from harness import RESULTS, read_rows

from hardmax._files import write_whole
from hardmax.text.evaluation.measuring import Evaluation, evaluate_model
from hardmax.text.evaluation.standing import measure_inside, measure_standing
from hardmax.text.shipped import load
from hardmax.text.text_model import TextModel
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
COLUMNS += ("calibration_error", "leaders_per_text", "mass_on_leaders", "words_that_count", "leaders_alone")
COLUMNS += ("counting_alone", "without_counting", "without_others", "in_lexicons", "eraser_accuracy", "eraser_first")
COLUMNS += ("eraser_first_two", "leaders")


def read(path: str) -> tuple[list[str], list[str]]:
    table = parquet.read_table(path)
    return table["text"].to_pylist(), CLASSES[table["label"].to_numpy()].tolist()


def train(train_file: str, folder: str, *names: str) -> None:
    texts, labels = read(train_file)
    for seed in SEEDS:
        for name in names or PRESETS:
            path = Path(folder) / f"{name}-{seed}"
            if path.exists():
                continue
            began = time.perf_counter()
            model = fit(texts, labels, replace(PRESETS[name], seed=seed))
            seconds = time.perf_counter() - began
            replace(model, metrics=model.metrics | {"seconds": seconds}).save(path)
            print(f"{name} seed {seed}: trained in {seconds:.0f} s", flush=True)


def lexicon() -> set[str]:
    """The words of two lexicons of sentiment; none where they are not installed."""
    found: set[str] = set()
    for package, path in (("vaderSentiment", "vader_lexicon.txt"), ("afinn", "data/AFINN-en-165.txt")):
        if importlib.util.find_spec(package) is None:
            return set()
        lines = files(package).joinpath(path).read_text("utf-8").splitlines()
        found |= {line.split("\t")[0].strip().lower() for line in lines}
    return found


def in_lexicons(found: Evaluation) -> float | str:
    """The share of leaders, as often as they lead, with a word in the lexicons."""
    words, total = lexicon(), sum(leader.texts for leader in found.leaders)
    known = sum(leader.texts for leader in found.leaders if words & set(leader.word.split()))
    return known / total if words and total else ""


def read_eraser(path: str) -> tuple[list[str], list[str], list[list[tuple[int, int]]]]:
    """Texts, labels, and what people marked, by characters; of the part that is there to choose by."""
    texts, labels, spans = [], [], []
    for each in parquet.read_table(path).to_pylist():
        if each["split"] != "val":
            continue
        starts = np.concatenate([[0], np.cumsum([len(word) + 1 for word in each["words"]])]).tolist()
        texts.append(" ".join(each["words"]))
        labels.append(each["label"])
        spans.append([(starts[first], starts[last] - 1) for first, last in each["spans"]])
    return texts, labels, spans


def measure_eraser(model: TextModel, eraser: str | None) -> dict[str, float]:
    if eraser is None:
        return {}
    texts, labels, spans = read_eraser(eraser)
    inside = measure_inside(model, texts, spans)
    accuracy = evaluate_model(model, texts, labels).metrics["accuracy"]
    return {"eraser_accuracy": accuracy, "eraser_first": inside.first, "eraser_first_two": inside.first_two}


def row(name: str, seed: int, model: TextModel, found: Evaluation) -> dict[str, Any]:
    numbers = {key: f"{found.metrics[key]:.4f}" for key in COLUMNS if isinstance(found.metrics.get(key), float)}
    words = ", ".join(f"{leader.word} {leader.texts}" for leader in found.leaders[:30])
    about = {"recipe": name, "seed": seed, "layers": model.layers, "alpha": model.alpha, "dimension": model.dimension}
    return about | {"seconds": f"{model.metrics['seconds']:.1f}"} | numbers | {"leaders": words}


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
        "leaders a review, the neutral one among them": found[0].metrics["leaders_per_text"],
        "words that count, a review": found[0].metrics["words_that_count"],
        "same label from the leaders alone": found[0].metrics["leaders_alone"],
        "same label from the words that count alone": found[0].metrics["counting_alone"],
        "same label without the words that count": found[0].metrics["without_counting"],
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


def measure(test_file: str, trained: str, shipped: str, eraser: str | None = None) -> None:
    texts, labels = read(test_file)
    rows = []
    for name in PRESETS:
        several = []
        models = [load(Path(trained) / f"{name}-{seed}") for seed in SEEDS]
        for seed, model in zip(SEEDS, models, strict=True):
            found = evaluate_model(model, texts, labels)
            more = measure_standing(model, texts).to_dict() | measure_eraser(model, eraser)
            found.metrics.update({key: value for key, value in more.items() if key in COLUMNS})
            found.metrics["in_lexicons"] = in_lexicons(found)
            several.append(found)
            rows.append(row(name, seed, model, found))
            print(rows[-1], flush=True)
        with_metrics(models[0], several).save(Path(shipped) / name.replace("_", "-"))
        print(f"{name}: accuracy {np.mean([each.metrics['accuracy'] for each in several]):.4f} in the mean", flush=True)
    write(rows)


if __name__ == "__main__":
    {"train": train, "measure": measure}[sys.argv[1]](*sys.argv[2:])
