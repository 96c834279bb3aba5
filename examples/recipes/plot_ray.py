"""
Sweep and score on Ray
======================

Ray's datasets hand tables to a function, so a model scores them as they are. joblib has a backend
for Ray, so a sweep needs one line more; with ``output=FOLDER`` one that was interrupted goes on
after what is done. Without Ray this script says how to install it."""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import joblib
import pyarrow as pa
import pyarrow.parquet as pq

import hardmax as hm
from hardmax.text import make_synthetic_corpus


def score(table: pa.Table) -> pa.Table:
    """The rows of a batch with the answers of the model."""
    return hm.load_model("sentiment-en").score_table(table)


# %%
# Two processors here; ``ray.init(address="auto")`` for a cluster whose nodes have hardmax, and a
# folder that all of them can reach.
if find_spec("ray") is None:
    print("Ray is not installed: pip install 'ray[data]'")
else:
    import ray  # pyright: ignore[reportMissingImports]
    from ray.util.joblib import register_ray  # pyright: ignore[reportMissingImports]

    ray.init(num_cpus=2)
    folder = Path(tempfile.mkdtemp())
    reviews = pa.table({"id": range(600), "review": make_synthetic_corpus(600, seed=1).texts})
    pq.write_table(reviews, folder / "reviews.parquet")
    scored = ray.data.read_parquet(str(folder / "reviews.parquet"))
    scored = scored.map_batches(score, batch_format="pyarrow", batch_size=150)
    scored.write_parquet(str(folder / "scored"))
    found = pq.read_table(folder / "scored").sort_by("id")
    assert found.equals(score(reviews))
    print(found.num_rows, "reviews scored, the same as without Ray")

    register_ray()
    grid, half = {"n": [20, 50], "d": 2, "seeds": 50}, hm.Dynamics("1/2")
    with joblib.parallel_config(backend="ray", n_jobs=2):
        table = hm.sweep(grid, half)
    assert table.equals(hm.sweep(grid, half))
    print(table.num_rows, "rows of a sweep, the same as without Ray")
