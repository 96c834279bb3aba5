"""The smallest lead, against the definition in fractions."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from text.small_models import random_texts, small_model

import hardmax as hm

MODELS = {
    "plain": small_model(),
    "a metric": small_model(metric=[[2.0, 0.5], [0.5, 1.0]]),
    "three dimensions, endless": small_model(dimension=3, layers=math.inf, alpha="1/3"),
    "neutral": small_model(extra=[0.0, 3.0], decoder=[[4.0, 0.0]]),
}


def smallest_lead(why) -> Fraction:
    """The smallest lead of whoever follows no leader yet, layer by layer, as the definition has it."""
    run, metric = why.trajectory, why.dynamics.metric
    matrix = np.array(metric if metric else np.eye(run.d, dtype=int).tolist(), dtype=object)
    leads, chosen = [], set()
    for layer in range(run.layers if math.isfinite(why.layers) else run.settled_at + 1):
        tokens = run.exact_at(layer)
        found_by: Any = hm.attended(tokens.tolist(), why.dynamics)
        sets = [set(found.tolist()) for found in found_by]
        scores = (tokens @ matrix.T @ tokens.T).tolist()
        for i, found in enumerate(sets):
            others = [scores[i][j] for j in range(len(tokens)) if j not in found]
            distinct = {tuple(tokens[j]) for j in found}
            if i not in chosen and len(distinct) > 1:
                leads.append(Fraction(0))
            elif i not in chosen and others:
                leads.append(max(scores[i]) - max(others))
        same = [{j for j in range(len(tokens)) if tuple(tokens[j]) == tuple(tokens[i])} for i in range(len(tokens))]
        leaders = {i for i, found in enumerate(sets) if found == same[i]}
        chosen = {i for i, found in enumerate(sets) if found <= leaders and any(found == same[j] for j in found)}
    norm = math.sqrt(sum(float(x) ** 2 for x in matrix.ravel()))
    size = float((why.points**2).sum(axis=1).max()) * (1.0 if metric is None else norm)
    return min(leads) / Fraction(size)


@pytest.mark.parametrize("name", MODELS)
def test_the_margin_is_the_smallest_lead_of_all_words_and_layers(name):
    told = [MODELS[name].explain(text) for text in random_texts(12, seed=3)]
    told = [why for why in told if len({tuple(point) for point in why.points.tolist()}) > 1]
    assert len(told) > 6
    for why in told:
        assert why.margin is not None
        assert why.margin.lead == pytest.approx(float(smallest_lead(why)), rel=1e-12)
        assert {why.margin.word, why.margin.attended, why.margin.rival} <= set(why.words)


def test_a_tie_is_no_lead_at_all():
    # "film" lies between "great" and "awful", and attends to both.
    model = small_model(embeddings=[[1, 1], [-1, 1], [0, 0.5], *[[0.0, -0.1]] * 10])
    margin = model.explain("great film awful").margin
    assert margin is not None
    assert (margin.lead, margin.word, margin.layer) == (0.0, "film", 0)
    assert {margin.attended, margin.rival} == {"great", "awful"}


def test_where_nobody_has_a_choice_there_is_no_margin():
    assert small_model().explain("xyzzy").margin is None
    assert small_model().explain("great great").margin is None
    assert small_model(layers=0).explain("great awful film").margin is None


def test_a_margin_does_not_change_with_the_scale():
    vectors = np.random.default_rng(4).integers(-8, 9, size=(13, 2)).astype(float)
    text = "great film, the plot is witty, not good"
    small, large = (small_model(embeddings=scale * vectors).explain(text).margin for scale in (1, 4))
    assert small == large
