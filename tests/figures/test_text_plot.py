"""The picture of one text: what lies where, and that names stay on their side of the line."""

import math
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.text import Text
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.figures.palette import look_of_class
from hardmax.figures.text_plot import scene_of

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
    assert rank < d or np.allclose(solved.T @ solved, np.eye(2), atol=1e-9)
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


def test_tokens_have_the_colours_of_their_classes():
    why, ax = MODELS["three classes"].explain(TEXT), Figure().add_subplot()
    why.draw(ax)
    marks = {str(each.get_label()): each for each in ax.collections}
    colors = [np.asarray(marks[str(label)].get_facecolor()) for label in why.model.classes]
    assert sum(map(len, colors)) >= 2
    for number, painted in enumerate(colors):
        assert all(same_color(color, look_of_class(number, 3)[0]) for color in painted)


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
