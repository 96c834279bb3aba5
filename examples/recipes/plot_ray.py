"""
Sweep and score on Ray
======================

joblib has a backend for Ray, so a sweep needs one line more. With ``output=FOLDER`` a sweep that
was interrupted goes on after what is done. Without Ray this script says how to install it."""

from importlib.util import find_spec
from typing import Any

import joblib

import hardmax as hm

grid, half = {"n": [20, 50], "d": 2, "seeds": 50}, hm.Dynamics("1/2")
if find_spec("ray") is None:
    print("Ray is not installed: pip install ray")
else:
    import ray  # pyright: ignore[reportMissingImports]
    from ray.util.joblib import register_ray  # pyright: ignore[reportMissingImports]

    ray.init(num_cpus=2)  # or ray.init(address="auto"), for a cluster whose nodes have hardmax
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=2):
        table = hm.sweep(grid, half)
        model, texts = hm.load_model("sentiment-en"), ["A great film.", "An awful film."] * 500
        halves = (joblib.delayed(model.predict)(texts[i::2]) for i in range(2))
        labels: Any = joblib.Parallel()(halves)
    assert table.equals(hm.sweep(grid, half))
    print(table.num_rows, "rows, the same as without Ray;", sum(map(len, labels)), "texts scored")
