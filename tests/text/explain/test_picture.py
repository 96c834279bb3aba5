"""The picture of a text: what lies where, whatever draws it."""

import math
import re

import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.figures.text_svg import text_svg
from hardmax.text.explain.picture import scene_of
from hardmax.text.tokens.vocabulary import Vocabulary

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


@pytest.mark.parametrize("name", MODELS)
def test_the_mean_lies_in_the_part_of_the_label(name):
    for text in [TEXT, *random_texts(20)]:
        why = MODELS[name].explain(text)
        if why.decided:
            scene = scene_of(why)
            assert why.model.classes[scene.class_at(scene.mean[-1])] == why.label


@pytest.mark.parametrize("name", MODELS)
def test_places_are_a_linear_map_of_the_vectors_onto_orthonormal_axes(name):
    why = MODELS[name].explain(TEXT)
    start = scene_of(why).path[0]
    assert np.linalg.norm(start, axis=1).max() <= np.linalg.norm(why.points, axis=1).max() + 1e-12
    if why.model.dimension <= 2:
        assert np.array_equal(start[:, : why.model.dimension], why.points)
        return
    solved, _, _, _ = np.linalg.lstsq(why.points, start, rcond=None)
    assert np.allclose(why.points @ solved, start, atol=1e-9)
    gram = solved.T @ solved if len(why.points) >= why.model.dimension else np.eye(2)
    assert np.allclose(gram, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in MODELS if "five" in name])
def test_across_lies_what_decides_for_every_word(name):
    why = MODELS[name].explain(TEXT)
    scene, says = scene_of(why), why.points @ why.model.decoder[0].astype(float)
    drawn = scene.path[0] @ (scene.scores[1] - scene.scores[0])[:2]
    assert np.allclose(drawn, says, atol=1e-9)
    if "neutral" in name:
        assert np.allclose(scene.path[0][-1], [0, 2])  # the neutral leader stands upright


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_the_classes_fill_the_window_and_meet_at_borders(name):
    scene = scene_of(MODELS[name].explain(TEXT))
    window = scene.window()
    area = (window.right - window.left) * (window.top - window.bottom)
    assert sum(map(_area, scene.regions(window))) == pytest.approx(area)
    for a, b in scene.borders(window):
        scores = np.sort(scene.scores @ np.array([*((a + b) / 2), 1.0]))
        assert scores[-1] - scores[-2] == pytest.approx(0, abs=1e-9 * max(1, abs(scores[-1])))


def _area(corners: np.ndarray) -> float:
    x, y = corners.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


@pytest.mark.parametrize("name", MODELS)
def test_a_picture_names_the_leaders_and_no_name_lies_over_another(name):
    why = MODELS[name].explain(TEXT)
    drawn = text_svg(scene_of(why), "told")
    names = re.findall('<text x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)</text>', drawn)
    assert {share.word for share in why.leaders} <= {word for _, _, word in names}
    middles = [(float(x), float(y)) for x, y, _ in names]
    for n, (x, y) in enumerate(middles):
        for u, v in middles[n + 1 :]:
            assert abs(y - v) > 15 or abs(x - u) > 8
    assert len(drawn) < 20_000


def test_the_crowd_is_a_haze_that_stays_small():
    rng = np.random.default_rng(0)
    words = [f"w{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(5000)]
    model = small_model(
        vocabulary=Vocabulary(words, np.ones((5000, 2))),
        embeddings=np.stack([rng.normal(scale=0.05, size=5000), np.full(5000, 0.2)], axis=1),
        extra=[0, 1.0],
        decoder=[[8.0, 0]],
        bias=[0.0],
    )
    why = model.explain(" ".join(words))
    assert why.neutral > 0.9
    assert len(text_svg(scene_of(why), "told")) < 30_000


def test_the_path_begins_with_the_cloud_and_ends_where_words_end():
    for name in MODELS:
        why = MODELS[name].explain(TEXT)
        assert np.array_equal(why.path[0], why.points)
        assert np.allclose(why.path[-1], why.ends, atol=1e-12)
        if math.isfinite(why.layers):
            assert why.path.shape == (why.layers + 1, len(why.words), why.model.dimension)
    assert small_model().explain("xyzzy").path.shape == (9, 0, 2)


def test_draw_draws_on_the_axes_that_are_given():
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from hardmax.figures.style import Figure

    for model in MODELS.values():
        why = model.explain(TEXT)
        ax = Figure().add_subplot()
        assert why.draw(ax) is ax
        named = {text.get_text() for text in ax.texts}
        assert {share.word for share in why.leaders} - {"(extra token)"} <= named
    with pytest.raises(InputError, match="`ax` must be axes"):
        MODELS["plain"].explain(TEXT).draw(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to draw"):
        MODELS["plain"].explain("xyzzy").draw()


def test_draw_makes_a_figure_of_its_own():
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from matplotlib import pyplot

    why = MODELS["five dimensions"].explain(TEXT)
    ax = why.draw()
    try:
        assert str(why.label) in ax.get_title(loc="left")
        assert "5 dimensions" in ax.get_xlabel()
    finally:
        pyplot.close(ax.get_figure(root=True))


def test_a_film_has_a_frame_for_every_layer_and_is_the_same_twice(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from PIL import Image

    why = small_model(extra=[0.0, 3.0], decoder=[[4.0, 0.0]], layers=3).explain(TEXT)
    for name in ("one.gif", "two.gif"):
        why.animate(tmp_path / name)
    with Image.open(tmp_path / "one.gif") as film:
        assert film.n_frames == 4  # type: ignore[attr-defined]
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    with pytest.raises(InputError, match=r"\.gif"):
        why.animate(tmp_path / "one.png")
    with pytest.raises(InputError, match="`fps`"):
        why.animate(tmp_path / "one.gif", fps=0)
