"""Leaders of the reviews in the paper's classifiers: the numbers behind Table 1 and the histogram.

    python examples/paper/measure.py ids.npz WEIGHTS-FOLDER leaders.json [--authors
    authors_model_d2.pth]

`ids.npz` comes from `prepare.py`, the folder holds `d2.npz`, `d4.npz`, ... from `train.py
--weights`. The authors' weights are in their repository (`saved/model_d=2_epoch=100.pth`). The
result contains counts and single words only."""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

import hardmax as hm

LAYERS, TRAINING_SHARE, HEAD = 8, 0.7, 2_000
CONFIDENT, LOUD = (
    np.log(0.95 / 0.05),
    2.0,
)  # the authors' thresholds: |logit| of the review and of the leader
TOP = 25


def load_authors(path: Path) -> dict[str, np.ndarray]:
    """The authors' weights. Their file pickles a whole module; only tensors and these five classes
    are accepted."""
    import torch

    class Stub(torch.nn.Module):
        """Stands for the authors' two classes, which are not needed to read the weights."""

    layers = [torch.nn.Embedding, torch.nn.Linear, torch.nn.Sigmoid]
    own = [(Stub, f"utils.models.{name}") for name in ("TClassifier", "CustomSelfAttention")]
    with torch.serialization.safe_globals([*layers, *own]):
        state = torch.load(path, weights_only=True, map_location="cpu").state_dict()
    names = {"embedding": "encoder.weight", "alpha": "attention.alpha", "decoder": "decoder.weight"}
    found = {name: state[key].numpy() for name, key in (names | {"bias": "decoder.bias"}).items()}
    return found | {"decoder": found["decoder"][0]}


def run_reviews(
    weights: dict[str, np.ndarray], ids: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Logits, leading words and share of leaders since layer 0 for each review, 1,000 reviews at a
    time."""
    dynamics, logits, leaders, since_start = (
        hm.Dynamics(alpha=float(weights["alpha"][0])),
        [],
        [],
        [],
    )
    for part in np.array_split(ids, -(-len(ids) // 1000)):
        embedded: list[np.ndarray] = list(weights["embedding"][part].astype(float))
        runs = hm.simulate(embedded, dynamics, layers=LAYERS)
        logits.append(
            np.asarray(runs.at("limit")).mean(axis=1) @ weights["decoder"] + weights["bias"][0]
        )
        for review, run in zip(part, runs, strict=True):
            words, first = np.unique(
                review[run.leaders], return_index=True
            )  # a repeated word is one leader
            leaders.append(words)
            since_start.append((run.leader_layers[first] == 0).mean())
    return np.concatenate(logits), leaders, np.array(since_start)


def summarize(
    weights: dict[str, np.ndarray], ids: np.ndarray, labels: np.ndarray, words: list[str]
) -> dict:
    """Accuracy, loss, the row of Table 1, and the histogram by the authors' rule."""
    logits, leaders, since_start = run_reviews(weights, ids)
    correct = (logits > 0) == (labels == 1)
    losses = np.logaddexp(0, np.where(labels == 1, -logits, logits))
    counts = np.array([len(found) for found in leaders])
    own = weights["embedding"] @ weights["decoder"] + weights["bias"][0]
    loud, often = np.abs(own) > LOUD, Counter()
    for review in np.flatnonzero(correct & (np.abs(logits) > CONFIDENT)):
        often.update(leaders[review][loud[leaders[review]]].tolist())
    anywhere = np.bincount(
        np.concatenate(leaders), minlength=len(own)
    )  # in any review, confident and correct or not
    return {
        "d": weights["embedding"].shape[1],
        "alpha": round(float(weights["alpha"][0]), 4),
        "reviews": len(ids),
        "accuracy": round(float(correct.mean()), 4),
        "loss": round(float(losses.mean()), 4),
        "mean": round(float(counts.mean()), 3),
        "deviation": round(float(counts.std()), 3),
        "min": int(counts.min()),
        "max": int(counts.max()),
        "since_layer_0": round(float(since_start.mean()), 4),
        "confident": int((correct & (np.abs(logits) > CONFIDENT)).sum()),
        "histogram": {words[word]: count for word, count in often.most_common(TOP)},
        "leads": {words[word]: int(anywhere[word]) for word, _ in often.most_common(TOP)},
    }


def main(data: Path, weights: Path, out: Path, authors: Path | None) -> None:
    """Measure every model on the test reviews, and the authors' also on those it was trained on."""
    held = np.load(data)
    ids, labels, words = held["ids"], held["labels"], held["words"].tobytes().decode().split("\n")
    split = int(len(ids) * TRAINING_SHARE)
    parts = {"test": slice(split, None), "first 2,000": slice(HEAD), "all": slice(None)}
    found = {
        f"d{d}": summarize(dict(np.load(weights / f"d{d}.npz")), ids[split:], labels[split:], words)
        for d in (2, 4, 8, 16)
    }
    if authors:
        theirs = load_authors(authors)
        for name, part in parts.items():
            found[f"authors, {name}"] = summarize(theirs, ids[part], labels[part], words)
    out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("data", "weights", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--authors", type=Path)
    main(**vars(parser.parse_args()))
