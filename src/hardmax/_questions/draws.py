"""Clouds and layers drawn by Hypothesis, which also makes what it has drawn smaller."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import reject, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from hardmax._common.validation import InputError
from hardmax.dynamics import Dynamics

MATRICES = {
    "identity": lambda root: None,
    "definite": lambda root: (root @ root.T + np.eye(len(root), dtype=int)).tolist(),
    "symmetric": lambda root: (np.tril(root) + np.tril(root, -1).T).tolist(),
    "negative": lambda root: (-root @ root.T).tolist(),
    "any": lambda root: root.tolist(),
}
_ENTRIES = 0, 1, -1, 2, -2, 3, -3


QUIET = settings(database=None, deadline=None, derandomize=False)


@contextmanager
def by_seed_alone() -> Iterator[None]:
    """Without the constants that Hypothesis finds in the source of whatever is imported, draws
    among random numbers, and writes into a folder."""
    nothing = {"_get_local_constants": providers.Constants, "CONSTANTS_CACHE": {}}
    with patch.multiple(providers, create=True, **nothing):
        yield


@st.composite
def clouds_and_dynamics(
    draw: st.DrawFn,
    *,
    tokens: tuple[int, int],
    dimensions: tuple[int, int],
    numbers: Sequence[Fraction],
    alphas: Sequence[Any],
    metrics: Sequence[str],
    values: Sequence[str],
    masks: Sequence[str],
    attentions: Sequence[Any],
    distinct: bool,
) -> tuple[Any, Dynamics]:
    """A cloud and its layers. Whatever is listed first is simpler."""

    def pick(options: Sequence[Any]) -> Any:
        return draw(st.sampled_from(options)) if len(options) > 1 else options[0]

    def matrix(kind: str) -> Any:
        if kind == "identity":
            return None
        entries = [pick(_ENTRIES) for _ in range(d * d)]
        return MATRICES[kind](np.reshape(entries, (d, d)))

    d = draw(st.integers(*dimensions))
    parts = {
        "alpha": pick(alphas),
        "metric": matrix(pick(metrics)),
        "value": matrix(pick(values)),
        "attention": pick(attentions),
    }
    kind, some = pick(masks), numbers
    if d > 1:  # few numbers make many ties
        some = numbers[: pick([3, 7, len(numbers)])]
    # One choice is a whole token, of which the coordinates are the digits; the first is zero.
    least, most = tokens
    choices = st.integers(int(distinct and not some[0]), len(some) ** d - 1)
    drawn = draw(st.lists(choices, min_size=least, max_size=most))
    if distinct:  # lists that are `unique` shrink badly
        drawn = [*dict.fromkeys(drawn)]
    if len(drawn) < least:
        reject()
    cloud = [[some[i // len(some) ** k % len(some)] for k in range(d)] for i in drawn]
    if kind == "causal":
        parts["mask"] = kind
    elif kind == "random":
        n = len(cloud)
        forbidden = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
        parts["mask"] = np.eye(n, dtype=bool) | ~np.reshape(forbidden, (n, n))
    try:
        return cloud, Dynamics(**parts)
    except InputError:  # I + alpha V has no inverse
        reject()
