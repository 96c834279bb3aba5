"""What is drawn of a classifier is what it knows, how honest it is, and how it was trained."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from effort import some
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from hardmax.figures.embedding import MOST_LABELS, draw_embedding, embedding_figure, plane_of
from hardmax.figures.palette import AGAINST, FOR, look_of_class
from hardmax.figures.reliability import draw_reliability, reliability_figure
from hardmax.figures.style import save_figure
from hardmax.text.evaluation import calibration_curve, calibration_error
from hardmax.text.explain.page import STYLE
from hardmax.text.interpret import Leader, frequent_leaders
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

TRUTH = np.tile([0, 1], 100)
PROBABILITIES = np.random.default_rng(0).dirichlet([1, 1], size=200)


def model_of(dimension: int = 2, classes: int = 2, words: int = 200, extra: bool = False) -> TextModel:
    rng = np.random.default_rng(dimension)
    rows = 1 if classes == 2 else classes
    return TextModel(
        vocabulary=Vocabulary([f"word{number}" for number in range(words)], np.ones((words, classes))),
        embeddings=rng.normal(size=(words, dimension)),
        decoder=rng.normal(size=(rows, dimension)),
        bias=rng.normal(size=rows) / 5,
        classes=tuple(f"class {c}" for c in range(classes)),
        extra=rng.normal(size=dimension) * 2 if extra else None,
        layers=8,
    )


def leaders_of(model: TextModel) -> tuple[Leader, ...]:
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(model.vocabulary.surfaces, size=8)) for _ in range(300)]
    return frequent_leaders(model, model.analyse(texts))


MODELS = {
    "on a line": model_of(1),
    "in the plane": model_of(2),
    "with an extra token": model_of(2, extra=True),
    "of three classes": model_of(2, 3),
    "in seven dimensions": model_of(7),
    "of two words": model_of(2, words=2),
}
each_model = pytest.mark.parametrize("name", MODELS)


def axes():
    return Figure(figsize=(8, 5)).add_axes((0.02, 0.04, 0.96, 0.84))


@each_model
def test_leaders_are_marked_where_they_are_by_the_class_they_speak_for(name: str):
    model = MODELS[name]
    leaders = leaders_of(model)
    drawn = draw_embedding(model, leaders, axes())
    for label, marks in zip(model.classes, drawn.leaders, strict=True):
        words = [leader.word for leader in leaders if leader.lean == label]
        rows = [model.vocabulary.index.get(word, len(model.vocabulary)) for word in words]
        places = plane_of(model, leaders).places(model.prepared.table[rows])
        assert_allclose(np.asarray(marks.get_offsets()), places.reshape(-1, 2))
    assert len(np.asarray(drawn.words.get_offsets())) == len(model.prepared.table)


@each_model
def test_no_label_lies_over_another_or_outside(name: str):
    model, ax = MODELS[name], axes()
    labels = draw_embedding(model, leaders_of(model), ax).labels
    renderer = FigureCanvasAgg(ax.figure.get_figure(root=True)).get_renderer()
    boxes = [label.get_window_extent(renderer) for label in labels]
    assert 1 <= len(labels) <= MOST_LABELS
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    frame = ax.get_window_extent(renderer)
    assert all(frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1) for box in boxes)


def test_the_most_frequent_leaders_are_named():
    leaders = leaders_of(MODELS["in the plane"])
    labels = draw_embedding(MODELS["in the plane"], leaders, axes()).labels
    named = {label.get_text() for label in labels}
    assert named <= {leader.word for leader in leaders[:MOST_LABELS]}
    assert leaders[0].word in named


def test_a_leader_of_more_texts_has_a_larger_mark():
    model = MODELS["in the plane"]
    leaders = leaders_of(model)
    for label, marks in zip(model.classes, draw_embedding(model, leaders, axes()).leaders, strict=True):
        assert (np.diff(marks.get_sizes()) <= 0).all()
        assert len(marks.get_sizes()) == sum(leader.lean == label for leader in leaders)


def test_the_line_is_where_the_model_is_undecided():
    model = MODELS["in the plane"]
    (border,) = draw_embedding(model, leaders_of(model), axes()).borders
    corners = np.concatenate([path.vertices for path in border.get_paths()])
    assert len(corners) > 0
    assert_allclose(corners @ model.decoder[0] + model.bias[0], 0, atol=1e-6)


def test_three_classes_have_a_border_each():
    model = MODELS["of three classes"]
    drawn = draw_embedding(model, leaders_of(model), axes())
    assert len(drawn.halves) == len(drawn.borders) == 3
    for border in drawn.borders:
        corners = np.concatenate([path.vertices for path in border.get_paths()])
        best = np.sort(corners @ model.decoder.T + model.bias, axis=1)
        # Near the point where all three meet, straight pieces cut the corner by less than a step of the grid.
        assert np.median(best[:, -1] - best[:, -2]) < 1e-6


def test_a_plane_that_speaks_for_one_class_alone_has_no_border():
    model = replace(MODELS["in the plane"], bias=np.array([100.0]))
    drawn = draw_embedding(model, leaders_of(model), axes())
    assert (len(drawn.halves), len(drawn.borders)) == (1, 0)


def test_of_many_dimensions_the_plane_is_where_leaders_are_spread_most():
    model = MODELS["in seven dimensions"]
    plane = plane_of(model, leaders_of(model))
    assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    places = np.random.default_rng(0).normal(size=(5, 2))
    assert_allclose(plane.places(plane.points(places)), places, atol=1e-12)
    assert "principal directions of 7" in embedding_figure(model, leaders_of(model)).axes[0].get_title(loc="left")


def test_points_of_the_reliability_picture_are_the_bins():
    confidence, right, texts = calibration_curve(TRUTH, PROBABILITIES)
    drawn = draw_reliability((confidence, right, texts), axes())
    assert_array_equal(drawn.points.get_xydata(), np.stack([confidence, right], axis=1))
    assert len(drawn.gaps.get_segments()) == len(confidence)
    for (start, end), c, r in zip(drawn.gaps.get_segments(), confidence, right, strict=True):
        assert (tuple(start), tuple(end)) == ((c, c), (c, r))


def test_the_title_of_the_reliability_picture_tells_the_error():
    title = reliability_figure(calibration_curve(TRUTH, PROBABILITIES)).axes[0].get_title(loc="left")
    assert title == f"200 texts, calibration error {calibration_error(TRUTH, PROBABILITIES):.4f}"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_the_same_file_twice(suffix: str, tmp_path: Path):
    makers = {
        "words": lambda: embedding_figure(MODELS["in the plane"], leaders_of(MODELS["in the plane"])),
        "honest": lambda: reliability_figure(calibration_curve(TRUTH, PROBABILITIES)),
    }
    for name, make in some(makers.items()):
        for number in (1, 2):
            save_figure(make(), tmp_path / f"{name}{number}.{suffix}")
        assert (tmp_path / f"{name}1.{suffix}").read_bytes() == (tmp_path / f"{name}2.{suffix}").read_bytes()


def test_the_second_of_two_classes_has_the_colour_of_what_speaks_for_it():
    assert (look_of_class(0, 2)[0], look_of_class(1, 2)[0]) == (AGAINST, FOR)
    assert f".c0{{--hardmax-color:{FOR};" in STYLE
    assert f".c1{{--hardmax-color:{AGAINST};" in STYLE
    assert len({look_of_class(number, 5) for number in range(5)}) == 5
    model = MODELS["in the plane"]
    drawn = draw_embedding(model, leaders_of(model), axes())
    for marks, half, colour in zip(drawn.leaders, drawn.halves, (AGAINST, FOR), strict=True):
        assert same_color(np.asarray(marks.get_facecolor())[0], colour)
        assert same_color(np.asarray(half.get_facecolor())[0][:3], colour)


def test_the_card_of_a_model_has_the_same_colours():
    # Of two words one speaks for the second class.
    model = replace(
        MODELS["in the plane"], vocabulary=Vocabulary(["good"], [[1, 1]]), embeddings=[[1.0, 0.0]], decoder=[[1.0, 0.0]]
    )
    assert FOR in model._repr_html_()
    assert AGAINST not in model._repr_html_()


def test_the_neutral_leader_is_a_star_with_its_name_inside_the_picture():
    plain = MODELS["in the plane"]
    # Far away, where no word is, and where the decoder says nothing.
    model = replace(plain, decoder=[[1.0, 0.0]], extra=[0.0, 9.0])
    ax = axes()
    drawn = draw_embedding(model, leaders_of(model), ax)
    assert np.asarray(drawn.neutral.get_offsets()).tolist() == [[0.0, 9.0]]
    assert "neutral leader" in [label.get_text() for label in drawn.labels]
    assert ax.get_ylim()[0] < 9 < ax.get_ylim()[1]
    assert len(np.asarray(draw_embedding(plain, leaders_of(plain), axes()).neutral.get_offsets())) == 0
    said = draw_embedding(MODELS["with an extra token"], leaders_of(MODELS["with an extra token"]), axes())
    assert len(np.asarray(said.neutral.get_offsets())) == 0  # it speaks for a class
