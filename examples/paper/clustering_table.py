"""The results of `clustering.py` as one table, with the exact limit of infinitely many layers.

    python examples/paper/clustering_table.py ids.npz FOLDER clustering.json

The folder holds `results.jsonl` and, of the changes, `changes.jsonl` and `tested.jsonl` (what
`--test` wrote), and `weights`. For every authors' cell whose weights are there the test reviews are
read in the exact limit. Of the changes the one with the best mean on the held-out reviews is chosen
in each dimension; only for it and for the network without layers are the test reviews looked up.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from measure import TRAINING_SHARE

import hardmax as hm

DIGITS = 4
LAYERS = 10_000  # a run ends before them once its limit is known
PART = 1000  # reviews simulated at once


def read(path: Path) -> list[dict]:
    """The lines of a file; none if it is not there."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def rounded(value: Any) -> Any:
    """The same with fewer digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def summarize(result: dict, curve: str) -> dict:
    """A row of the table: what is not a default of the cell; curves, as means over the orders; and
    for some epochs lists over the orders."""
    cell, orders = result["cell"], result["orders"]
    row = {name: value for name, value in cell.items() if value or name == "layers"}
    for name in (curve, "alpha"):
        row[name] = np.mean([order[name] for order in orders], axis=0).tolist()
    row["ends"] = {}
    for epoch, first in orders[0]["ends"].items():
        passed = int(epoch)
        row["ends"][epoch] = {
            "best": [max(order[curve][:passed]) for order in orders],
            "last": [order[curve][passed - 1] for order in orders],
            "train": [order["train_accuracy"][passed - 1] for order in orders],
            "alpha": [order["alpha"][passed - 1] for order in orders],
        }
        for name in first:
            row["ends"][epoch][name] = [order["ends"][epoch].get(name) for order in orders]
        row["ends"][epoch]["top"] = first.get("top", {})
    return row


def limits(held: dict[str, np.ndarray], folder: Path, known: Path) -> dict[str, dict]:
    """Accuracy in the exact limit, for the weights after 25 epochs of one order."""
    found = json.loads(known.read_text("utf-8")) if known.exists() else {}
    split = int(len(held["ids"]) * TRAINING_SHARE)
    ids, labels = held["ids"][split:], held["labels"][split:] == 1
    files = [*folder.glob("softmax-*.npz"), *folder.glob("hard-*.npz")]
    for path in sorted(file for file in files if file.stem not in found):
        saved = dict(np.load(path))
        embedding = np.zeros((int(held["rows"]), saved["embedding"].shape[1]))
        embedding[saved.pop("rows")] = saved["embedding"]
        alpha, logits = float(saved["alpha"][0]), []
        for part in np.split(ids, range(PART, len(ids), PART)):
            reviews: list[np.ndarray] = list(embedding[part].astype(float))
            runs = hm.simulate(reviews, hm.Dynamics(alpha=alpha), layers=LAYERS)
            means = np.asarray(runs.at("limit")).mean(axis=1)
            logits.append(means @ saved["decoder"] + saved["bias"][0])
        right = (np.concatenate(logits) > 0) == labels
        found[path.stem] = {"accuracy": float(right.mean()), "alpha": alpha}
        known.write_text(json.dumps(found))
        print(path.stem, found[path.stem], flush=True)
    return found


def choose(changes: list[dict], tested: list[dict]) -> list[dict]:
    """For each dimension the change that the held-out reviews prefer, and no layers, on the test
    reviews."""

    def held_out(result: dict) -> float:
        return float(np.mean([max(order["validation"]) for order in result["orders"]]))

    chosen = []
    for d in sorted({result["cell"]["d"] for result in changes}):
        same = [result for result in changes if result["cell"]["d"] == d]
        layered = [result for result in same if result["cell"]["layers"]]
        best = max(layered, key=held_out)
        without = [result for result in same if not result["cell"]["layers"]]
        for result in (best, *without):
            cell = result["cell"]
            opened = [line["test"] for line in tested if line["cell"] == cell]
            row = {"d": d, "layers": cell["layers"], "name": cell["name"]}
            chosen.append(row | {"validation": held_out(result), "test": opened[0]})
    return chosen


def main(data: Path, folder: Path, out: Path) -> None:
    """Write the table, a line for each row."""
    results, changes = read(folder / "results.jsonl"), read(folder / "changes.jsonl")
    table = {
        "cells": [summarize(result, "test") for result in results],
        "limit": limits(dict(np.load(data)), folder / "weights", folder / "limits.json"),
        "changes": [summarize(result, "validation") for result in changes],
        "chosen": choose(changes, read(folder / "tested.jsonl")),
    }
    parts = []
    for name, rows in rounded(table).items():
        if isinstance(rows, dict):
            parts.append(f'"{name}": {json.dumps(rows)}')
            continue
        lines = ",\n".join(json.dumps(row) for row in rows)
        parts.append(f'"{name}": [\n{lines}\n]')
    out.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("data", "folder", "out"):
        parser.add_argument(name, type=Path)
    main(**vars(parser.parse_args()))
