"""The picture of one text: what lies where, and that names stay on their side of the line."""

import math
from itertools import combinations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import same_color
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.figures import text_plot
from hardmax.figures.palette import look_of_class
from hardmax.figures.text_plot import scene_of
from hardmax.text._format import EXTRA_TOKEN

TEXT = "a great film, the plot is not good but very witty, awful ! the worst"
MODELS = {
    "plain": small_model(),
    "one dimension": small_model(dimension=1),
    "neutral": small_model(extra=[0.0, 3.0], decoder=[[4.0, 0.0]], layers=math.inf),
    "five dimensions": small_model(dimension=5),
    "five dimensions, neutral": small_model(dimension=5, extra=[0, 0, 0, 0, 2.0], decoder=[[1.0, 2, 0, 0, 0]]),
    "three classes": small_model(classes=3),
    "four classes in six dimensions": small_model(classes=4, dimension=6),
    "a decoder that says nothing": small_model(dimension=3, decoder=[[0.0, 0, 0]], bias=[0.0]),
    "gated": small_model(extra=[0.0, 1.0], decoder=[[1.0, 0.0]], gate=0.3, neutral_weight=50),
}
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_the_mean_lies_in_the_region_of_the_label(name):
    told = [MODELS[name].explain(text) for text in (TEXT, *random_texts(20))]
    decided = [why for why in told if why.decided]
    assert len(decided) > (-1 if name == "a decoder that says nothing" else 10)
    for why in decided:
        scene = scene_of(why)
        assert why.model.classes[int(scene.leads_of(scene.mean[-1]).argmax())] == why.label


@every_model
def test_places_are_a_linear_map_of_the_vectors_onto_orthonormal_axes(name):
    why = MODELS[name].explain(TEXT)
    start, d = scene_of(why).path[0], why.model.dimension
    if d <= 2:
        assert np.array_equal(start[:, :d], why.points)
        return
    solved, _, rank, _ = np.linalg.lstsq(why.points, start, rcond=None)
    assert np.allclose(why.points @ solved, start, atol=1e-9)
    assert rank == d
    assert np.allclose(solved.T @ solved, np.eye(2), atol=1e-9)
    if "five" in name:  # across lies what decides
        scores = scene_of(why).scores
        assert np.allclose(start @ (scores[1] - scores[0])[:2], why.points @ why.model.decoder[0], atol=1e-9)
    if "five dimensions, neutral" in name:
        assert np.allclose(start[-1], [0, 2])  # the neutral leader stands upright


@every_model
def test_names_lie_over_none_other_and_cross_no_border(name):
    why, ax = MODELS[name].explain(TEXT), Figure(figsize=(8, 5)).add_subplot()
    assert why.draw(ax) is ax
    scene, names = scene_of(why), [text for text in ax.texts if text.get_text()]
    assert names
    for text in names:
        text.get_window_extent()  # puts it where it is
    boxes = [Text.get_window_extent(text) for text in names]
    assert not any(a.padded(-1).overlaps(b.padded(-1)) for a, b in combinations(boxes, 2))
    for box in (box.padded(-1) for box in boxes):
        corners = ax.transData.inverted().transform([(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)])
        assert len(set(scene.leads_of(corners).argmax(axis=0).tolist())) == 1


@every_model
def test_names_stand_beside_their_marks_and_not_over_them(name):
    ax = Figure(figsize=(8, 5), dpi=72).add_subplot()  # pixels are points
    MODELS[name].explain(TEXT).draw(ax)
    radii = {
        tuple(place): marks.get_sizes()[0] ** 0.5 / 2
        for marks in ax.collections
        if isinstance(marks, PathCollection)
        for place in np.asarray(marks.get_offsets()).round(9).tolist()
    }
    gaps = []
    for label in (text for text in ax.texts if text.get_text()):
        assert isinstance(label, Annotation)
        label.get_window_extent()  # puts it where it is
        box, radius = Text.get_window_extent(label), radii[tuple(np.round(label.xy, 9).tolist())]
        middle = ax.transData.transform(label.xy)
        away = np.maximum(np.maximum(box.min - middle, middle - box.max), 0)
        gaps.append(float(np.hypot(*away)) - radius)
        assert gaps[-1] > -0.3 * radius  # a mark is round
    assert min(gaps) < 4


def test_tokens_have_the_colours_of_their_classes():
    why, ax = MODELS["three classes"].explain(TEXT), Figure().add_subplot()
    why.draw(ax)
    marks = {str(each.get_label()): each for each in ax.collections}
    colors = [np.asarray(marks[str(label)].get_facecolor()) for label in why.model.classes]
    assert sum(map(len, colors)) >= 2
    for number, painted in enumerate(colors):
        assert all(same_color(color, look_of_class(number, 3)[0]) for color in painted)


def marks_of(ax: Axes) -> dict[str, np.ndarray]:
    """Where marks are, by what the legend says of them; "" for those that it does not name."""
    found: dict[str, list[np.ndarray]] = {}
    for marks in (each for each in ax.collections if isinstance(each, PathCollection)):
        name = str(marks.get_label())
        found.setdefault("" if name.startswith("_") else name, []).append(np.asarray(marks.get_offsets()))
    return {name: np.concatenate(places) for name, places in found.items()}


def same_rows(some: np.ndarray, others: np.ndarray) -> bool:
    return sorted(some.round(9).tolist()) == sorted(others.round(9).tolist())


@every_model
def test_marks_and_paths_are_where_the_tokens_are(name):
    why, ax = MODELS[name].explain(TEXT), Figure().add_subplot()
    why.draw(ax)
    scene, marks = scene_of(why), marks_of(ax)
    extra = np.array([word == EXTRA_TOKEN for word in scene.words])
    end, active = scene.path[-1], (scene.sides >= 0) & ~extra
    dots = [marks[each] for each in scene.classes]
    assert same_rows(np.concatenate(dots), end[active & ~scene.leads])
    for number, places in enumerate(dots):
        assert same_rows(places, end[active & ~scene.leads & (scene.sides == number)])
    assert same_rows(marks[""], end[active & scene.leads])
    assert {tuple(row) for row in marks["inactive"].round(9).tolist()} == {
        tuple(row) for row in end[~active & ~extra].round(9).tolist()
    }
    neutral = "neutral leader" if (~active & ~extra).any() else "extra token"
    assert same_rows(marks.get(neutral, np.empty((0, 2))), end[extra])
    assert same_rows(marks["mean: decides the label"], scene.mean[-1:])
    paths = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "-"]
    assert same_rows(np.concatenate(paths), scene.path[:, active].reshape(-1, 2))
    (way,) = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    assert np.array_equal(way, scene.mean)


@every_model
def test_the_window_has_all_tokens_the_mean_and_the_border_if_it_is_near(name):
    why, ax = MODELS[name].explain(TEXT), Figure().add_subplot()
    why.draw(ax)
    scene = scene_of(why)
    places = np.concatenate([scene.path.reshape(-1, 2), scene.mean])
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    side = places.max(axis=0) - places.min(axis=0)
    assert (low <= places.min(axis=0) - 0.1 * side).all()
    assert (high >= places.max(axis=0) + 0.1 * side).all()
    assert (high - low <= np.maximum(3 * side, 2.5 * side.max())).all()
    # A border less than half the picture away is in it, and the mean is on this side of it.
    corners = np.stack(np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80)), axis=-1)
    sides = {int(number) for number in scene.leads_of(corners).argmax(axis=0).flat}
    assert int(scene.leads_of(scene.mean[-1]).argmax()) in sides
    borders = [each for each in ax.collections if isinstance(each, QuadContourSet) and not each.filled]
    assert len(borders) == (len(sides) if len(scene.classes) > 2 and len(sides) > 1 else len(sides) - 1)


def test_stars_are_the_leaders_of_the_explanation():
    why = MODELS["plain"].explain(TEXT)
    scene = scene_of(why)
    led = {word for word, leads in zip(scene.words, scene.leads.tolist(), strict=True) if leads}
    assert led == {leader.word for leader in why.leaders}
    assert led


def test_the_border_is_in_the_picture_where_it_is_nearest_to_the_end_of_the_mean():
    # All go up to "great" at (0, 2). What decides is whether y > x: the border is near at (1, 1).
    vectors = [[0.0, 2.0], [0.1, 0.1], [0.1, 0.2]] + [[0.0, 0.1]] * 10
    model = small_model(embeddings=vectors, decoder=[[-1.0, 1.0]], bias=[0.0], layers=math.inf)
    why, ax = model.explain("great awful film"), Figure().add_subplot()
    why.draw(ax)
    assert np.allclose(scene_of(why).mean[-1], [0, 2])
    assert ax.get_xlim()[1] > 1


def test_of_very_many_tokens_leaders_and_those_that_add_most_are_named(monkeypatch):
    monkeypatch.setattr(text_plot, "MOST_NAMED", 3)
    why, ax = MODELS["four classes in six dimensions"].explain(TEXT), Figure(figsize=(12, 9)).add_subplot()
    why.draw(ax)
    scene = scene_of(why)
    order = sorted(np.flatnonzero(scene.sides >= 0), key=lambda t: (not scene.leads[t], -scene.votes[t]))
    named = [text.get_text() for text in ax.texts if text.get_text()]
    assert named
    assert set(named) <= {scene.words[t] for t in order[:3]}


def test_a_figure_of_its_own_has_a_title_and_says_what_the_axes_are():
    from matplotlib import pyplot

    why = MODELS["five dimensions"].explain(TEXT)
    ax = why.draw()
    assert str(why.label) in ax.get_title(loc="left")
    assert "5 dimensions" in ax.get_xlabel()
    pyplot.close(ax.get_figure(root=True))
    with pytest.raises(InputError, match="`ax` must be axes"):
        why.draw(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to draw"):
        MODELS["plain"].explain("xyzzy").draw()
