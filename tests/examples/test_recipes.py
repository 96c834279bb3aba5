"""Recipes that need more than the package: a server, and clusters of processes."""

import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"
pytestmark = pytest.mark.check

SERVED = """
import json
from concurrent.futures import ThreadPoolExecutor
from fastapi.testclient import TestClient
from hardmax.text._kernels_tokens import encode_texts
from hardmax.text._kernels_votes import vote_texts
from plot_server import app, model

def compiled():
    return [len(kernel.compiled.signatures) for kernel in (encode_texts, vote_texts)]

assert encode_texts.is_ready and vote_texts.is_ready
before = compiled()
texts = ["It never gets boring.", "", "😀 Großartig", "What a bore. " * 1000]
client = TestClient(app)

def ask(text):
    [answer] = client.post("/predict", json={"texts": [text]}).json()
    return answer, client.post("/explain", json={"text": text}).json()

with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(ask, texts * 8))
assert compiled() == before == [1, 1]
for text, (answer, told) in zip(texts * 8, answers, strict=True):
    why = model.explain(text)
    right = {"label": why.label, "probability": why.probability, "decided": why.decided}
    assert answer == right
    assert told == json.loads(json.dumps(why.to_dict()))
assert client.post("/predict", json={"texts": texts}).json() == [a for a, _ in answers[:4]]
refused = [{"texts": ["a"] * 101}, {"texts": ["a" * 20_001]}, {"texts": [1]}, {}]
assert [client.post("/predict", json=call).status_code for call in refused] == [422] * 4
"""


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=RECIPES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_server_says_what_the_model_says_and_compiles_nothing_after_its_start():
    for module in ("fastapi", "httpx2"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    run("-c", SERVED)
    assert "'label': 'positive'" in run("plot_server.py")


def test_a_cluster_of_dask_scores_files():
    pytest.importorskip("distributed", reason="Dask is not installed")
    assert "Name: count" in run("plot_dask.py")


def test_a_cluster_of_ray_scores_files():
    pytest.importorskip("ray", reason="Ray is not installed")
    assert "reviews scored, the same as without Ray" in run("plot_ray.py")
