"""The classifier as it comes, on several corpora, beside the peers of `corpora_peers.py`.

python benchmarks/corpora.py FOLDER [NAME …] [--validation | --few | --peers]

FOLDER/NAME.parquet has the columns text, label and split ("train", "test"); without names, all
tables in FOLDER are taken, and those without a text are passed over. Every contestant of a corpus
is trained before any is measured, on the test split; rows go to results/corpora.csv. With
--validation a quarter of the training part is held out and judged instead, the test split is not
read, and nothing is written: choices are made by that. With --few the contestants learn 100 and 300
texts of an English corpus, five times others; rows go to results/few_labels.csv. With --peers they
alone are trained and measured. Times are of the processor."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from corpora_peers import FOLDS, by_vectors, chances_of, peers_for
from harness import add_rows
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.model_selection import StratifiedKFold

from hardmax.sklearn import HardmaxClassifier
from hardmax.text.evaluation import calibration_error
from hardmax.text.text_model import TextModel

SEEDS, OURS = (0, 1, 2), "hardmax, as it comes"
COLUMNS = ("scikit_learn", "corpus", "texts", "judged", "classes", "contestant", "seed")
COLUMNS += ("accuracy", "f1_macro", "above_peer", "log_loss", "calibration_error")
COLUMNS += ("words_that_count", "share_that_counts", "leaders_per_text")
COLUMNS += ("seconds", "chosen")
FEW, DRAWS = (100, 300), 5
FEW_COLUMNS = ("corpus", "texts", "draw", "judged", "accuracy", "peer", "naive_bayes")
FEW_COLUMNS += ("mean_vectors", "vectors")


@dataclass(frozen=True)
class Part:
    """Texts with their labels."""

    texts: list[str]
    labels: list[str]

    def pick(self, rows: np.ndarray) -> "Part":
        return Part([self.texts[row] for row in rows], [self.labels[row] for row in rows])


@dataclass(frozen=True)
class Trained:
    """A contestant that has learned a corpus."""

    contestant: str
    seed: int | str
    classifier: Any
    seconds: float


@dataclass(frozen=True)
class Measured:
    """What a contestant reached; what only a hardmax model has is None for the others."""

    trained: Trained
    accuracy: float
    f1_macro: float
    log_loss: float
    calibration_error: float
    words_that_count: float | None = None
    share_that_counts: float | None = None
    leaders_per_text: float | None = None
    chosen: str = ""


def read_split(path: Path, split: str) -> Part:
    """The rows of one split; the others are not read."""
    table = parquet.read_table(path, columns=["text", "label"], filters=[("split", "==", split)])
    if not len(table):
        raise SystemExit(f"{path} has no rows of the split {split!r}.")
    return Part(table["text"].to_pylist(), [str(label) for label in table["label"].to_pylist()])


def parts_of(path: Path, validation: bool) -> tuple[Part, Part]:
    """What is learned, and what is judged."""
    train = read_split(path, "train")
    if not validation:
        return train, read_split(path, "test")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(train.texts, train.labels)
    learned, judged = next(iter(folds))
    return train.pick(learned), train.pick(judged)


def train_all(part: Part, seeds: Sequence[int]) -> list[Trained]:
    """The peers, and ours with these seeds."""
    contestants: list[tuple[str, int | str, Any]]
    contestants = [(name, "", peer) for name, peer in peers_for(part.texts, part.labels).items()]
    contestants += [(OURS, seed, HardmaxClassifier(random_state=seed)) for seed in seeds]
    trained = []
    for contestant, seed, classifier in contestants:
        began = time.process_time()
        classifier.fit(part.texts, part.labels)
        trained.append(Trained(contestant, seed, classifier, time.process_time() - began))
    return trained


def measure(trained: Trained, part: Part) -> Measured:
    """What it makes of texts that it has not learned."""
    classes, chances = chances_of(trained.classifier, part.texts, part.labels)
    truth, told = (
        np.searchsorted(classes, labels)
        for labels in (part.labels, trained.classifier.predict(part.texts))
    )
    found = Measured(
        trained,
        accuracy=accuracy_score(truth, told),
        f1_macro=f1_score(truth, told, average="macro"),
        log_loss=log_loss(truth, chances, labels=range(len(classes))),
        calibration_error=calibration_error(truth, chances),
    )
    model = getattr(trained.classifier, "model_", None)
    if model:
        return replace(found, **look_inside(model, part.texts))
    (strength,) = trained.classifier.best_params_.values()
    return replace(found, chosen=json.dumps({"C": strength}))


def look_inside(model: TextModel, texts: list[str]) -> dict[str, Any]:
    """Words that count, their share of the known words of a text, leaders, and what was chosen if
    anything was."""
    found = model.analyse(texts)
    known = np.diff(found.offsets)
    share = found.active_per_text[known > 0] / known[known > 0]
    chosen = model.metrics.get("settings")
    return {
        "words_that_count": float(found.active_per_text.mean()),
        "share_that_counts": float(share.mean()) if len(share) else 0.0,
        "leaders_per_text": float(found.leaders_per_text.mean()),
        "chosen": "" if chosen is None else json.dumps(chosen),
    }


def row(found: Measured, peer: float) -> tuple[object, ...]:
    """The cells from the contestant on."""
    inside = (found.words_that_count, found.share_that_counts, found.leaders_per_text)
    return (
        found.trained.contestant,
        found.trained.seed,
        f"{found.accuracy:.4f}",
        f"{found.f1_macro:.4f}",
        f"{found.accuracy - peer:+.4f}",
        f"{found.log_loss:.4f}",
        f"{found.calibration_error:.4f}",
        *("" if number is None else f"{number:.4f}" for number in inside),
        f"{found.trained.seconds:.1f}",
        found.chosen,
    )


def show(name: str, found: Measured, peer: float) -> None:
    line = f"{name:14} {found.trained.contestant:48} {found.trained.seed!s:2} accuracy {found.accuracy:.4f}"
    line += f" ({found.accuracy - peer:+.4f})  F1 {found.f1_macro:.4f}"
    line += f"  log loss {found.log_loss:.4f}  ECE {found.calibration_error:.4f}"
    line += f"  {found.trained.seconds:6.1f} s  {found.chosen}"
    if found.words_that_count is not None:
        line += f"  {found.words_that_count:.1f} words count, {found.share_that_counts:.0%} of the known"
        line += f", {found.leaders_per_text:.1f} leaders"
    print(line, flush=True)


def judge(path: Path, validation: bool, seeds: Sequence[int]) -> list[tuple[object, ...]]:
    """The rows of one corpus; a line each is printed."""
    learned, judged = parts_of(path, validation)
    measured = [measure(trained, judged) for trained in train_all(learned, seeds)]
    better = max(each.accuracy for each in measured if each.trained.contestant != OURS)
    for found in measured:
        show(path.stem, found, better)
    about = (
        version("scikit-learn"),
        path.stem,
        len(learned.texts),
        len(judged.texts),
        len(set(learned.labels)),
    )
    return [(*about, *row(found, better)) for found in measured]


def judge_few(path: Path) -> list[tuple[object, ...]]:
    """The rows of one corpus, of which few texts are learned."""
    every, judged = parts_of(path, validation=False)
    rows = []
    for texts in FEW:
        for draw in range(DRAWS):
            chosen = np.random.default_rng([texts, draw]).permutation(len(every.texts))[:texts]
            part = every.pick(chosen)
            ours, peers = HardmaxClassifier(), peers_for(part.texts, part.labels).values()
            accuracies = []
            for contestant in (ours, *peers, by_vectors(part.texts, part.labels)):
                told = contestant.fit(part.texts, part.labels).predict(judged.texts)
                accuracies.append(f"{accuracy_score(judged.labels, told):.4f}")
            vectors = ours.model_.metrics["settings"]["vectors"]
            rows.append((path.stem, texts, draw, len(judged.texts), *accuracies, vectors))
            print(*rows[-1], flush=True)
    return rows


def main(arguments: list[str]) -> None:
    flags = {"--validation", "--few", "--peers"} & {*arguments}
    folder, *names = [argument for argument in arguments if argument not in flags] or [""]
    if not folder or not Path(folder).is_dir() or any(name.startswith("-") for name in names):
        usage = "usage: python benchmarks/corpora.py FOLDER [NAME …]"
        usage += " [--validation | --few | --peers]"
        raise SystemExit(usage)
    paths = [Path(folder) / f"{name}.parquet" for name in names] or sorted(
        Path(folder).glob("*.parquet")
    )
    if missing := [str(path) for path in paths if not path.exists()]:
        raise SystemExit(f"{', '.join(missing)}: no such table.")
    for path in paths:
        if "text" not in parquet.read_schema(path).names:
            print(f"{path.stem}: passed over, it has no column text")
            continue
        if "--few" in flags:
            add_rows("few_labels", FEW_COLUMNS, judge_few(path))
            continue
        rows = judge(path, "--validation" in flags, () if "--peers" in flags else SEEDS)
        if "--validation" not in flags:
            add_rows("corpora", COLUMNS, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
