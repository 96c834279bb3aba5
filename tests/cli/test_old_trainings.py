"""`hardmax train --resume` goes on with what earlier versions began: samples/README.md tells how they were made."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command import Command

import hardmax as hm

pytest.importorskip("torch", reason="the extra `train` is not installed")

SAMPLES = Path(__file__).parents[1] / "samples"
VERSIONS = sorted(path.parent.name for path in SAMPLES.glob("*/expected.json"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_training_that_was_cut_short_goes_on(hardmax: Command, version: str, tmp_path: Path):
    folder = SAMPLES / version / "trainings" / "two-classes"
    said = json.loads((SAMPLES / version / "expected.json").read_text(encoding="utf-8"))["trainings"]["two-classes"]
    begun = tmp_path / "model.training"
    begun.mkdir()
    for name in ("checkpoint.safetensors", "log.jsonl"):
        shutil.copy(folder / name, begun)
    options = ("--recipe", folder / "recipe.json", "-o", tmp_path / "model", "--resume")
    outcome = hardmax("train", folder / "corpus.csv", *options)
    assert outcome.code == 0, outcome.err
    model = hm.load(tmp_path / "model")
    losses = [report["loss"] for report in model.metrics["training"]]
    assert len(losses) == said["epochs"]
    assert losses[: said["done"]] == said["losses"][: said["done"]]  # read, not trained again
    assert np.allclose(model.predict_proba(said["texts"]), said["probabilities"], rtol=0, atol=1e-2)
    assert not begun.exists()
