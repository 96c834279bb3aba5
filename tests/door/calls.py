"""Calls of everything public with good arguments: what `test_door` replaces by bad ones, one by
one."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
from text.small_models import small_model

import hardmax as hm
import hardmax.text
from hardmax import clouds, geometry
from hardmax.text import (
    Modifier,
    Tokeniser,
    Vocabulary,
    VotingRule,
    make_reading,
    make_synthetic_corpus,
    write_report,
)
from hardmax.text.text_model import TextModel
from hardmax.theorem import theorem_reason

Call = tuple[str, Callable[..., Any], dict[str, Any]]
SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [0.5, 0.0]]
HALF = hm.Dynamics("1/2")
TILTED = [[2, 1], [1, 1]]
a_model = cache(small_model)


@cache
def a_run() -> hm.Run:
    return hm.simulate(SQUARE, HALF, layers=3)


@cache
def a_limit() -> hm.Limit:
    return hm.limit(SQUARE, HALF)


def core_calls() -> Iterator[Call]:
    shared = {"tokens": SQUARE, "dynamics": HALF}
    how = {"arithmetic": "certified", "engine": hm.Cpu()}
    yield "simulate", hm.simulate, {**shared, "layers": 3, **how}
    yield "simulate until it settles", hm.simulate, {**shared, "max_layers": 9, **how}
    yield "limit", hm.limit, {**shared, "max_layers": 100, **how}
    yield "step", hm.step, {**shared, "layer": 1}
    yield (
        "sweep",
        hm.sweep,
        {
            "grid": {"n": 3, "d": 2},
            "dynamics": HALF,
            "observables": ["leaders"],
            "maker": hm.clouds.gaussian,
            "output": "sweep",
        },
    )
    yield "attended", hm.attended, shared
    drawn = {"tokens": (2, 3), "alphas": [1], "metrics": ["any"], "masks": ["causal"]}
    searched = {"tries": 3, "seed": 1, "max_layers": 9}
    yield "falsify", partial(hm.falsify, "all tokens meet"), {**drawn, **searched}
    yield (
        "Dynamics",
        hm.Dynamics,
        {
            "alpha": 0.5,
            "metric": TILTED,
            "value": TILTED,
            "mask": "causal",
            "attention": hm.TopK(2),
            "normalise": "layer",
        },
    )
    yield (
        "bifurcations",
        hm.bifurcations,
        {"tokens": SQUARE, "alpha": (1, 2), "metric": TILTED, "max_layers": 9},
    )
    wishes = {"leaders": [0], "followers": {4: 1}, "kind": "definite", "max_cuts": 9}
    yield "find_metric", hm.find_metric, {"tokens": SQUARE, **wishes}
    starts = {"token": 4, "box": [(-2, 2), (-2, 2)]}
    searching = {"tolerance": 0.1, "effort": 50}
    yield "basins", hm.basins, {**shared, **starts, **searching}
    yield "Head", hm.Head, {"metric": TILTED, "weight": 2, "value": TILTED}
    block = {"inner": TILTED, "inner_bias": [1, 2], "outer": TILTED, "outer_bias": [0, 1]}
    yield "FeedForward", hm.FeedForward, block
    normal = hm.Dynamics(1, TILTED, normalise="sphere", feed_forward=hm.FeedForward(**block))
    yield "simulate a block", hm.simulate, {"tokens": SQUARE, "dynamics": normal, "layers": 2}
    mean = hm.Dynamics(1, TILTED, feed_forward=hm.FeedForward(**block))
    yield "limit of a block", hm.limit, {"tokens": SQUARE, "dynamics": mean, "max_layers": 5}
    yield "Localmax", hm.Localmax, {"slack": "1/2"}
    yield "TopK", hm.TopK, {"k": 2}
    yield "Softmax", hm.Softmax, {"beta": 2}
    soft = hm.simulate(SQUARE, hm.Dynamics(1, attention=hm.Softmax(2)), layers=2)
    yield "Run.at, enclosed", soft.at, {"layer": 1}
    yield "Run.attended, enclosed", soft.attended, {"layer": 1}
    yield "softmax_gap", hm.softmax_gap, {**shared, "betas": [1], "layers": 2, "error": 1e-9}
    yield "Dynamics.alpha_at", hm.Dynamics([1, 2]).alpha_at, {"layer": 1}
    yield "Cpu", hm.Cpu, {"threads": 1}
    yield "Gpu", hm.Gpu, {"device": "cuda"}
    yield (
        "Clouds",
        hm.Clouds,
        {"tokens": SQUARE, "offsets": [0, 2, 5], "multiplicities": [1, 2, 3, 4, 5]},
    )
    yield "parse_decimals", hm.io.parse_decimals, {"values": SQUARE}


def result_calls() -> Iterator[Call]:
    run, lim, batch = a_run(), a_limit(), hm.simulate([SQUARE, SQUARE], HALF, layers=3)
    for name, function in (
        ("at", run.at),
        ("attended", run.attended),
        ("at", batch.at),
    ):
        yield f"Run.{name}", function, {"layer": 2}
    yield "Run.at", run.at, {"layer": 2, "exact": True}
    yield "Run.save", run.save, {"path": "run.html"}
    for sequence in (
        batch,
        run.attended(0),
        hm.limits([SQUARE, SQUARE], HALF),
        hm.Clouds(SQUARE, [0, 2, 5]),
    ):
        yield (
            f"{type(sequence).__name__}[]",
            lambda index, sequence=sequence: sequence[index],
            {"index": 1},
        )
    yield from _streamed_calls()
    yield "Limit.layers_to", lim.layers_to, {"eps": 0.01}
    yield "Clusters.kind_of", lim.clusters.kind_of, {"token": 1}
    yield "check_theorem", hm.check_theorem, {"result": lim}
    yield "theorem_reason", theorem_reason, {"result": lim}
    yield "verify", hm.verify, {"certificate": lim.prove(), "effort": 1.0}


def _streamed_calls() -> Iterator[Call]:
    tokens = np.memmap("tokens", dtype=np.float64, mode="w+", shape=(5, 2))
    tokens[:] = SQUARE
    yield "StreamedLimit.write", hm.limit(tokens, HALF).write, {"folder": "limits"}


def geometry_calls() -> Iterator[Call]:
    yield "Polytope", lambda **given: repr(geometry.Polytope(**given)), {"points": SQUARE}
    yield (
        "project_exact",
        geometry.project_exact,
        {"vertices": SQUARE, "metric": TILTED, "target": [3, 0]},
    )


def cloud_calls() -> Iterator[Call]:
    yield "clouds.square", clouds.square, {"inside": [(0.5, 0.0)]}
    yield "clouds.polygon", clouds.polygon, {"sides": 5}
    yield "clouds.gaussian", clouds.gaussian, {"n": 5, "d": 2, "seed": 1}
    yield "clouds.integers", clouds.integers, {"n": 5, "d": 2, "seed": 1}
    yield "clouds.rotated", clouds.rotated, {"cloud": SQUARE}


def text_calls() -> Iterator[Call]:
    model, text = a_model(), "a great film"
    model.save("saved_model")
    texts = [text, "an awful plot"] * 4
    yield "Tokeniser", Tokeniser, {"longest_phrase": 2, "overlapping": True}
    yield "Tokeniser.tokens", Tokeniser().tokens, {"text": "A great film."}
    yield "Vocabulary", Vocabulary, {"surfaces": ["good", "bad"], "counts": [[1, 2], [3, 4]]}
    vocabulary = Vocabulary(["good", "bad"], [[1, 2], [3, 4]])
    yield "Modifier", Modifier, {"word": "not", "factor": -0.5, "texts": 9}
    arrays = {
        "weights": [[1], [-1]],
        "bias": [0.0],
        "classes": ["no", "yes"],
        "modifiers": [Modifier("not", -0.5)],
    }
    numbers = {"scope": 4, "gate": 0.25, "alpha": 0.5, "neutral_weight": 5}
    rest = {"tokeniser": Tokeniser(), "metrics": {}}
    yield "VotingRule", VotingRule, numbers
    rest["rule"] = VotingRule()
    yield "TextModel", TextModel, {"vocabulary": vocabulary, **arrays, **rest}
    for name in ("predict", "predict_proba", "analyse"):
        yield f"TextModel.{name}", getattr(model, name), {"texts": texts}
    yield "TextModel.explain", model.explain, {"text": text}
    yield "make_reading", partial(make_reading, model), {"text": text}
    yield (
        "TextModel.flip",
        model.flip,
        {
            "text": text,
            "replacements": ["awful"],
            "to": None,
            "protected": [],
        },
    )
    yield "TextModel.edit", model.edit, {"changes": {"great": "forbid"}, "add": True}
    yield "TextModel.keywords", model.keywords, {"label": model.classes[0], "top_k": 3}
    options = {"text": "text", "votes": True, "on_bad_rows": "null"}
    yield (
        "TextModel.score_table",
        model.score_table,
        {"table": pa.table({"text": texts}), **options},
    )
    table = pa.table({"text": texts, "label": ["negative", "positive"] * 4})
    named = {"text": "text", "label": "label"}
    yield "TextModel.show", model.show, {"table": table, **named}
    both = {"first": model, "second": small_model(1)}
    yield "diff", hardmax.text.diff, both | {"table": table, **named, "top": 3}
    tables = {"model": model, "old": table, "new": table}
    yield "drift", hardmax.text.drift, tables | {"text": "text", "top": 3}
    yield "TextModel.save", model.save, {"folder": "model"}
    yield "load_model", hm.load_model, {"name_or_path": "saved_model"}
    yield "Explanation.save", model.explain(text).save, {"path": "why.html"}
    yield (
        "report",
        lambda path: write_report([model.explain(text)] * 2, path),
        {"path": "both.html"},
    )
    yield (
        "make_synthetic_corpus",
        make_synthetic_corpus,
        {"texts": 6, "classes": ("a", "b"), "words": 3, "length": 5, "disturbed": 0.5, "seed": 1},
    )


def figure_calls() -> Iterator[Call]:
    from matplotlib.figure import Figure

    from hardmax.figures import draw_layer, draw_limit, save_figure

    run, lim, model, ax = a_run(), a_limit(), a_model(), Figure().add_subplot()
    yield "Run.plot", run.plot, {"layers": 1, "ax": ax}
    yield "Run.save", run.save, {"path": "moving.gif"}
    yield "Limit.plot", lim.plot, {"ax": ax}
    yield "Basins.plot", hm.basins(SQUARE, effort=9).plot, {"ax": ax}
    yield "Bifurcations.plot", hm.bifurcations(SQUARE, (1, 2)).plot, {"ax": ax}
    yield "TextModel.plot", model.plot, {"label": model.classes[0], "top": 3, "ax": ax}
    yield "draw_layer", draw_layer, {"run": run, "layer": 1, "ax": ax}
    yield "draw_limit", draw_limit, {"lim": lim, "ax": ax}
    yield "save_figure", save_figure, {"figure": Figure(), "path": "picture.svg"}


def widget_calls() -> Iterator[Call]:
    model = hm.load_model("sentiment-en")
    yield "Explorer", hm.Explorer, {"tokens": SQUARE, "dynamics": HALF}
    yield "Explorer.of_model", partial(hm.Explorer.of_model, model), {"text": "a great film"}
