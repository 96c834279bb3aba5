"""Calls of everything public with good arguments: what `test_door` replaces by bad ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from text.small_models import small_model

import hardmax as hm
from hardmax import clouds
from hardmax._float.policies import TieSlack
from hardmax.engines import Cpu, Gpu
from hardmax.geometry import _affine as affine
from hardmax.geometry import halfspaces, projection
from hardmax.geometry import halfspaces as cells
from hardmax.geometry import hull as extreme
from hardmax.geometry import hull as hulls
from hardmax.geometry.polytope import Polytope
from hardmax.text import Tokeniser, Vocabulary, build_vocabulary, calibrate, encode, evaluate, plant
from hardmax.text.evaluation.standing import measure_inside, measure_standing, share_inside
from hardmax.text.knowing.leading import frequent_leaders
from hardmax.text.text_model import TextModel

SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [0.5, 0.0]]
HALF = hm.Dynamics("1/2")


@dataclass(frozen=True)
class Call:
    """A function of ours with arguments that it takes."""

    name: str
    function: Callable[..., Any]
    good: dict[str, Any] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        return list(self.good)

    def __call__(self, **changes: Any) -> Any:
        return self.function(**(self.good | changes))


def _call(name: str, function: Callable[..., Any], /, **good: Any) -> Call:
    return Call(name, function, good)


@cache
def a_run() -> hm.Trajectory:
    return hm.simulate(SQUARE, HALF, layers=3)


@cache
def a_batch() -> hm.Trajectories:
    return hm.simulate([SQUARE, SQUARE], HALF, layers=3)


@cache
def a_limit() -> hm.Limit:
    return hm.limit(SQUARE, HALF)


@cache
def a_model() -> TextModel:
    return small_model()


def dynamics_calls() -> Iterator[Call]:
    shared = {"tokens": SQUARE, "dynamics": HALF}
    how = {"arithmetic": "certified", "progress": None, "engine": Cpu()}
    keep = {"record": hm.LastOnly(memory_limit=10**9)}
    yield _call("simulate", hm.simulate, **shared, layers=3, **how, **keep)
    yield _call("simulate to a stop", hm.simulate, **shared, stop=hm.Settled(), **how, **keep)
    yield _call("simulate in floats", hm.simulate, **shared | how | {"arithmetic": TieSlack()}, layers=3)
    yield _call("limit", hm.limit, **shared, at_most=100, **how)
    yield _call("step", hm.step, **shared)
    yield _call("attended", hm.attended, **shared)
    yield _call("Dynamics", hm.Dynamics, alpha="1/2", metric=[[2, 1], [1, 1]])
    yield _call("TieSlack", TieSlack, relative=1e-12)
    yield _call("Cpu", Cpu, search=None, threads=1)
    yield _call("Gpu", Gpu, device="cuda")
    yield _call("AfterLayers", hm.AfterLayers, layers=3)
    yield _call("Settled", hm.Settled, at_most=3)
    yield _call("FirstOf", lambda one, two: hm.FirstOf(one, two), one=hm.Settled(), two=hm.AfterLayers(3))
    yield _call("Every", hm.Every, m=2, memory_limit=10**9)
    yield _call("LastOnly", hm.LastOnly, memory_limit=10**9)
    yield _call("Ragged", hm.Ragged, tokens=SQUARE, offsets=[0, 2, 5], multiplicities=[1, 2, 3, 4, 5])
    yield _call("parse_decimals", hm.parse_decimals, values=SQUARE)


def result_calls() -> Iterator[Call]:
    run, batch, lim = a_run(), a_batch(), a_limit()
    yield _call("Trajectory.at", run.at, layer=2)
    yield _call("Trajectory.floats_at", run.floats_at, layer=2)
    yield _call("Trajectory.attended", run.attended, layer=2)
    yield _call("Trajectory.exact_at", run.exact_at, layer=2, tokens=[0, 4])
    yield _call("Trajectory.save", run.save, path="run.npz")
    yield _call("Trajectory.load", hm.Trajectory.load, path="saved.npz")
    yield _call("Trajectories.at", batch.at, layer=2)
    yield _call("Trajectories[]", batch.__getitem__, index=1)
    yield _call("Trajectories.save", batch.save, path="runs.npz")
    yield _call("Trajectories.load", hm.Trajectories.load, path="saved_batch.npz")
    yield _call("Limit.distance_to_limit", lim.distance_to_limit, layer=2)
    yield _call("Limit.layers_to", lim.layers_to, eps="0.01")
    yield _call("Limit.kind[]", lim.kind.__getitem__, index=1)
    yield _call("Limits[]", hm.limit([SQUARE, SQUARE], HALF).__getitem__, index=1)
    yield _call("AttendedSets[]", run.attended(0).__getitem__, index=1)
    yield _call("Ragged[]", hm.Ragged(SQUARE, [0, 2, 5]).__getitem__, cloud=1)
    yield _call("check_theorem", hm.check_theorem, result=lim)
    yield _call("verify", hm.verify, certificate=lim.certificate, effort=1)


def geometry_calls() -> Iterator[Call]:
    metric = [[2, 1], [1, 1]]
    square = Polytope(SQUARE)
    yield _call("Polytope", lambda **given: repr(Polytope(**given)), points=SQUARE, metric=metric)
    yield _call("Polytope.faces", square.faces, dimension=1)
    yield _call("Polytope.outline", square.outline, face=(0, 1))
    yield _call("Polytope.contains", square.contains, points=SQUARE, tolerance=0.5)
    yield _call("Polytope.distance", square.distance, points=SQUARE)
    yield _call("Polytope.face_of_direction", square.face_of_direction, direction=[1, 0])
    yield _call("project", projection.project, points=SQUARE, metric=metric, target=[3, 0])
    yield _call("project_exact", projection.project_exact, vertices=SQUARE, metric=metric, target=[3, 0])
    yield _call("extreme_points", extreme.extreme_points, points=SQUARE, directions=[[1, 0]])
    yield _call("is_extreme", extreme.is_extreme, points=SQUARE, index=1)
    yield _call("affine_rank", affine.affine_rank, points=SQUARE)
    yield _call("affine_frame", affine.affine_frame, points=SQUARE, at_most=2, within=1e-9)
    yield _call("hull", hulls.hull, points=SQUARE)
    yield _call("outline", hulls.outline, points=SQUARE)
    yield _call("half_space", halfspaces.half_space, token=[1, 0], metric=metric)
    yield _call("HalfSpace", halfspaces.HalfSpace, normal=[1, 0], offset=0.5)
    yield _call("HalfSpace.contains", halfspaces.half_space([1, 0]).contains, points=SQUARE)
    yield _call("HalfSpace.clipped", halfspaces.half_space([1, 0]).clipped, rectangle=(0, 2, 0, 1))
    yield _call("leader_cells", cells.leader_cells, leaders=SQUARE[:4], rectangle=(0, 2, 0, 1), metric=metric)
    yield _call("cell_of", cells.cell_of, points=SQUARE, leaders=SQUARE[:4], metric=metric)


def cloud_calls() -> Iterator[Call]:
    yield _call("clouds.square", clouds.square, inside=[(0.5, 0.0)])
    yield _call("clouds.polygon", clouds.polygon, sides=5, midpoints=True)
    yield _call("clouds.gaussian", clouds.gaussian, n=5, d=2, seed=1)
    yield _call("clouds.sphere", clouds.sphere, n=5, d=2, seed=1)
    yield _call("clouds.grid", clouds.grid, side=3, d=2)
    yield _call("clouds.lattice", clouds.lattice, n=5, d=2, span=2, seed=1)
    yield _call("clouds.turned", clouds.rotated, cloud=SQUARE)
    yield _call("clouds.named", clouds.named, name="gaussian", n=5, d=2)


def text_calls() -> Iterator[Call]:
    model = a_model()
    texts, labels = ["a great film", "an awful plot"] * 4, ["positive", "negative"] * 4
    yield _call("Tokeniser", Tokeniser, longest_phrase=2, marks=True, across_sentences=False)
    yield _call("Tokeniser.tokens", Tokeniser().tokens, text="A great film.")
    yield _call("Vocabulary", Vocabulary, surfaces=["good", "bad"], counts=[[1, 2], [3, 4]])
    yield _call("Vocabulary.from_bytes", Vocabulary.from_bytes, data=b"good\t1\t5\n", name="vocabulary.txt")
    yield _call(
        "TextModel",
        TextModel,
        vocabulary=Vocabulary(["good", "bad"], [[1, 2], [3, 4]]),
        embeddings=[[1, 0], [0, 1]],
        decoder=[[1, -1]],
        bias=[0.0],
        classes=["no", "yes"],
        layers=4,
        alpha="1/2",
        metric=[[2, 1], [1, 1]],
        extra=[1, 1],
        temperature=1.0,
        binary=False,
        tokeniser=Tokeniser(),
        metrics={},
    )
    for name in ("predict", "predict_proba", "decision_function", "analyse"):
        yield _call(f"TextModel.{name}", getattr(model, name), texts=texts)
    yield _call("TextModel.explain", model.explain, text="a great film")
    yield _call("TextModel.flip", model.flip, text="a great film", instead=["awful"], to=None, tries=9)
    yield _call("TextModel.edit", model.edit, changes={"great": "forbid"})
    yield _call("TextModel.compare", model.compare, other=model, texts=["a great film"])
    yield _call("TextModel.leader_statistics", model.leader_statistics, texts=texts)
    yield _call("TextModel.keywords", model.keywords, label=model.classes[0], first=3, fewest_texts=1)
    yield _call("TextModel.neighbours", model.neighbours, word="great", first=3)
    table = pa.table({"text": texts})
    wishes = {"text": "text", "abstain": 0.5, "on_bad_rows": "null", "prefix": "our_"}
    yield _call("TextModel.score_table", model.score_table, table=table, **wishes)
    yield _call("TextModel.save", model.save, folder="model")
    yield _call("TextModel.load", TextModel.load, folder="saved_model")
    yield _call(
        "TextModel.from_pretrained",
        TextModel.from_pretrained,
        name_or_path="saved_model",
        download=False,
        revision="main",
        token="t",
    )
    yield _call("load", hm.load, name_or_path="saved_model")
    why = model.explain("a great film")
    yield _call("Explanation.save", why.save, path="why.html")
    yield _call("report", hm.report, explanations=[why, why], path="both.html")
    yield _call("frequent_leaders", frequent_leaders, model=model, found=model.analyse(texts), most=3)
    yield _call("measure_standing", measure_standing, model=model, texts=texts, at_most=3, seed=0)
    yield _call("share_inside", share_inside, model=model, texts=texts, spans=[[(0, 1)] for _ in texts], first=1)
    yield _call("measure_inside", measure_inside, model=model, texts=texts, spans=[[(0, 1)] for _ in texts])
    sizes = {"words": 9, "phrases": 9, "fewest": 1}
    yield _call("build_vocabulary", build_vocabulary, texts=texts, labels=[0, 1] * 4, tokeniser=Tokeniser(), **sizes)
    yield _call("calibrate", calibrate, model=model, texts=texts, labels=labels)
    yield _call("encode", encode, texts=texts, vocabulary=model.vocabulary, tokeniser=Tokeniser())
    yield _call("evaluate", evaluate, truth=[0, 1], probabilities=[[0.5, 0.5], [0.2, 0.8]])
    yield _call("plant", plant, texts=6, classes=("a", "b"), words=3, length=5, disturbed=0.5, seed=1)


def clustering_calls() -> Iterator[Call]:
    from hardmax.estimators import HardmaxClustering

    def cluster(X: Any, y: Any, **parameters: Any) -> Any:  # noqa: N803
        return HardmaxClustering(**parameters).fit(X, y)

    yield _call("HardmaxClustering", cluster, X=SQUARE, y=None, alpha=0.5, metric=None, center=True)


def classifier_calls() -> Iterator[Call]:
    from hardmax.estimators import HardmaxClassifier

    corpus = plant(12, seed=1)
    quick = {
        "epochs": 1,
        "max_tokens": 5,
        "max_words": 20,
        "max_phrases": 0,
        "longest_phrase": 1,
        "bag_of_words_epochs": 0.0,
    }

    def classify(X: Any, y: Any, sample_weight: Any, **parameters: Any) -> Any:  # noqa: N803
        return HardmaxClassifier(**parameters).fit(X, y, sample_weight)

    shape = {"dimension": 2, "layers": 2, "alpha": 0.5, "epochs": 1, "validation_fraction": 0.0}
    rest = {"recipe": quick, "random_state": 1, "verbose": 0}
    yield _call(
        "HardmaxClassifier", classify, X=list(corpus.texts), y=list(corpus.labels), sample_weight=None, **shape, **rest
    )


def figure_calls() -> Iterator[Call]:
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    from hardmax.figures import arithmetics as many
    from hardmax.figures import cells as figure_cells
    from hardmax.figures import embedding, layers, limit_figure, limits, plane, polytopes, reliability
    from hardmax.figures import halfspaces as half
    from hardmax.figures import training_curve as curve
    from hardmax.figures.style import save_figure
    from hardmax.paper.figures import fig2
    from hardmax.text.evaluation.metrics import calibration_curve
    from hardmax.train.log import Epoch

    run, lim, model = a_run(), a_limit(), a_model()
    leaders = frequent_leaders(model, model.analyse(["great film", "awful plot"]))
    truth, chances = [0, 1, 1], [[0.5, 0.5], [0.2, 0.8], [0.4, 0.6]]
    reports = [Epoch(epoch=1, alpha=1.0, loss=0.5, accuracy=0.9, leaders=2.0, seconds=1.0)]
    place = np.array(SQUARE)

    def axes() -> Any:
        return Figure().add_subplot()

    def closing(plot: Callable[..., Any]) -> Callable[..., Any]:
        def draw(**given: Any) -> Any:
            try:
                return plot(**given)
            finally:
                pyplot.close("all")

        return draw

    yield _call("Trajectory.plot", closing(run.plot), layers=[0, 1], ax=None, figsize=(2.0, 2.0))
    yield _call("Trajectory.plot one", run.plot, layers=1, ax=axes())
    yield _call("Limit.plot", closing(lim.plot), ax=None, figsize=(2.0, 2.0))
    yield _call("Trajectory.animate", run.animate, path="moving.gif", layers=[0], fps=4)
    yield _call("draw_layer", layers.draw_layer, run=run, layer=1, ax=axes(), hull=True)
    yield _call("draw_limit", limits.draw_limit, lim=lim, ax=axes())
    yield _call("limit_figure", limit_figure.limit_figure, lim=lim)
    yield _call("draw_cells", figure_cells.draw_cells, lim=lim, ax=axes())
    yield _call("draw_polytope", polytopes.draw_polytope, polytope=Polytope(SQUARE), ax=axes())
    yield _call("draw_halfspace", half.draw_halfspace, run=run, token=1, ax=axes(), layer=1)
    yield _call("halfspace_figure", half.halfspace_figure, runs={"A": run}, token=1)
    yield _call("figure2", fig2.figure2, runs={"A": run}, layers=(0, 1))
    yield _call("draw_reliability", reliability.draw_reliability, curve=calibration_curve(truth, chances), ax=axes())
    yield _call("reliability_figure", reliability.reliability_figure, curve=calibration_curve(truth, chances))
    yield _call("draw_training_curve", curve.draw_training_curve, reports=reports, measure="loss", ax=axes())
    yield _call("training_curve_figure", curve.training_curve_figure, reports=reports)
    yield _call("draw_embedding", embedding.draw_embedding, model=model, leaders=leaders, ax=axes())
    yield _call("embedding_figure", embedding.embedding_figure, model=model, leaders=leaders)
    statistics = model.leader_statistics(["great film", "awful plot"])
    yield _call("LeaderStatistics.draw", statistics.draw, ax=axes(), first=3)
    yield _call("arithmetics_figure", many.arithmetics_figure, runs={"A": run}, watched=[0], goals=[[1.0, 1.0]])
    yield _call("draw_run", many.draw_run, run=run, ax=axes(), watched=[0], goals=[[1.0, 1.0]])
    yield _call("draw_tokens", plane.draw_tokens, tokens=place, ax=axes(), leaders=[0], color="red")
    yield _call("draw_paths", plane.draw_paths, path=place[None], ax=axes(), color="red", width=1.0)
    yield _call("draw_origin", plane.draw_origin, ax=axes())
    yield _call("draw_leader_polygon", plane.draw_leader_polygon, leaders=place, ax=axes())
    yield _call("save_figure", save_figure, figure=Figure(), path="picture.svg")
