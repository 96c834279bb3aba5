"""The kernel that walks many texts, held against the engines that walk one cloud at a time."""

from functools import cache

import numpy as np
import pytest

from hardmax.dynamics import Dynamics
from hardmax.text import plant
from hardmax.text.model.masses import masses, walk_cloud
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

CORPUS = plant(40, words=8, length=120, seed=5)
RNG = np.random.default_rng(0)


@cache
def known() -> Vocabulary:
    return build_vocabulary(CORPUS.texts, [label == "positive" for label in CORPUS.labels], Tokeniser())


def spread_metric(d: int) -> np.ndarray:
    root = RNG.normal(size=(d, d))
    return root @ root.T + np.eye(d)


def model_of(vectors: np.ndarray, **changes) -> TextModel:
    d = vectors.shape[1]
    parts = {"decoder": RNG.normal(size=(1, d)), "bias": [0.1], "classes": (0, 1), "layers": 8}
    return TextModel(vocabulary=known(), embeddings=vectors, **(parts | changes))


def line(size: float) -> np.ndarray:
    """Words along a line, some of them far out, with a little noise: what training finds."""
    return np.stack([RNG.standard_t(2, size=len(known())), np.zeros(len(known()))], axis=1) * size + noise(
        2, 0.1 * size
    )


def noise(d: int, scale: float) -> np.ndarray:
    return RNG.normal(scale=scale, size=(len(known()), d))


MAKERS = {
    "line": lambda: model_of(line(1.0)),
    "tiny": lambda: model_of(line(1e-12)),
    "huge": lambda: model_of(line(1e12)),
    "gauss": lambda: model_of(noise(2, 1.0)),
    "one dimension": lambda: model_of(noise(1, 1.0)),
    "five dimensions": lambda: model_of(noise(5, 1.0)),
    "metric": lambda: model_of(noise(3, 1.0), metric=spread_metric(3)),
    "far from the origin": lambda: model_of(noise(2, 0.01) + np.array([5.0, -3.0])),
    "small steps": lambda: model_of(noise(2, 1.0), alpha=0.05, layers=40),
    "more layers than the kernel keeps": lambda: model_of(noise(2, 1.0), alpha=0.0001, layers=100),
    "extra token": lambda: model_of(line(1.0), extra=[0.0, 2.0]),
    "twins": lambda: model_of(np.repeat(noise(2, 1.0)[: len(known()) // 2 + 1], 2, axis=0)[: len(known())]),
    "a zero": lambda: model_of(np.where(np.arange(len(known()))[:, None] == 3, 0.0, noise(2, 1.0))),
}


@cache
def models() -> dict[str, TextModel]:
    """All of them, one after the other: each is drawn where the one before ended."""
    return {name: make() for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_masses_and_leaders_are_those_of_the_engines(name):
    model = models()[name]
    found = model.analyse(CORPUS.texts)
    for text in range(0, len(found), 4):
        here = slice(found.offsets[text], found.offsets[text + 1])
        run = walk_cloud(model.prepared.table[found.ids[here]], found.counts[here], model.dynamics, model.layers)
        assert np.allclose(found.masses[here], masses(run, found.counts[here], model.layers), rtol=1e-12, atol=1e-14)
        assert np.array_equal(found.leader_since[here], run.leader_since[run.points.of_token])


def test_floats_decide_where_they_can():
    for name in ("line", "tiny", "huge", "gauss", "five dimensions", "metric"):
        assert models()[name].analyse(CORPUS.texts).by_integers == 0
    for name in ("twins", "a zero"):
        assert models()[name].analyse(CORPUS.texts).by_integers > len(CORPUS.texts) / 2


def test_masses_of_a_text_add_up_to_one_and_the_share_of_leaders_is_part_of_it():
    found = models()["line"].analyse([*CORPUS.texts, ""])
    leading = np.array([found.masses[a:b][found.leader_since[a:b] >= 0].sum() for a, b in _bounds(found)])
    assert np.allclose(found.mass_on_leaders, leading)
    assert (found.mass_on_leaders[:-1] > 0.5).all()
    assert found.mass_on_leaders[-1] == found.leaders_per_text[-1] == 0
    assert (found.leaders_per_text[:-1] >= 1).all()


def _bounds(found):
    return zip(found.offsets[:-1], found.offsets[1:], strict=True)


def test_words_with_one_vector_share_their_mass_by_how_often_they_are_said():
    counts = np.array([1, 3, 4])
    run = walk_cloud(np.array([[2.0, 0.0], [2.0, 0.0], [1.0, 0.0]]), counts, Dynamics(1), layers=1)
    # Half of what the third word has, 4 of 8, goes to the place of the other two, who had the rest.
    assert masses(run, counts, layers=1).tolist() == [0.75 / 4, 3 * 0.75 / 4, 0.25]
