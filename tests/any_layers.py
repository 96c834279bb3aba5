"""Hypothesis generators of layers that are not the paper's: value matrices, masks, steps."""

import oracle
from hypothesis import assume
from hypothesis import strategies as st
from strategies import alphas, any_metrics, clouds, identity, matrices, scaled, spd_metrics, tokens

import hardmax as hm


@st.composite
def values(draw, d):
    """Value matrices of the kinds that have closed forms, and of others."""
    kind = draw(st.sampled_from(["multiple", "projection", "nilpotent", "any"]))
    if kind == "multiple":
        return [scaled(draw(alphas), row) for row in identity(d)]
    if kind == "any":
        return draw(matrices(d))
    u, v = draw(tokens(d)), draw(tokens(d))
    if kind == "nilpotent" and any(v):
        share = oracle.dot(u, v) / oracle.dot(v, v)
        u = [x - share * y for x, y in zip(u, v, strict=True)]
    return [[x * y for y in v] for x in u]


@st.composite
def masks(draw, n):
    rows = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n))
    return [[allowed or j == i for j, allowed in enumerate(row)] for i, row in enumerate(rows)]


@st.composite
def layers(draw, max_n=7, max_d=3):
    """A cloud and the parts of a layer, each of them the paper's or another."""
    cloud = draw(clouds(max_d=max_d, max_n=max_n))
    n, d = len(cloud), len(cloud[0])
    metric = draw(st.one_of(spd_metrics(d), any_metrics(d)))
    value = draw(st.one_of(st.none(), values(d)))
    mask = draw(st.one_of(st.none(), st.just("causal"), masks(n)))
    steps = draw(st.one_of(alphas, st.lists(alphas, min_size=1, max_size=4)))
    try:
        return cloud, hm.Dynamics(steps, metric, value=value, mask=mask), metric, value
    except hm.InputError as error:
        assume("no inverse" not in str(error))
        raise
