"""Problems of `layer_problems` that get value matrices for single heads and feed-forward blocks."""

from dataclasses import replace

import layer_problems
import numpy as np
from layer_problems import Problem, choose, rationals
from oracle import Matrix, Token

import hardmax as hm
from hardmax._layer.parts import FeedForward
from hardmax._layer.rules import rescaling


def draw_block(random: np.random.Generator, d: int) -> tuple[Matrix, Token, Matrix, Token]:
    """A feed-forward block: any, one that does nothing, or one that pulls towards a place."""
    hidden = int(random.integers(1, 4))
    inner = rationals(random.integers(-2, 3, (hidden, d)), 2)
    (biases,) = rationals(random.integers(-3, 4, (1, hidden)), 2)
    outer = rationals(random.integers(-2, 3, (d, hidden)), choose(random, [2, 4, 10]))
    (shifts,) = rationals(random.integers(-1, 2, (1, d)), 4)
    if random.random() < 0.25:
        outer, (shifts,) = rationals(np.zeros((d, hidden))), rationals(np.zeros((1, d)))
    return inner, biases, outer, shifts


def draw(number: int) -> Problem:
    """The problem with this number: of `layer_problems`, with more parts."""
    problem = layer_problems.draw(number)
    random, old = np.random.default_rng([47, number]), problem.dynamics
    d = len(problem.cloud[0])
    block = draw_block(random, d) if random.random() < 0.4 else None
    while True:
        values, heads = None, old.heads
        if heads is not None:
            several = [layer_problems.draw_value(random, d) for _ in heads]
            values = [None if random.random() < 0.3 else value for value in several]
            pairs = zip(heads, values, strict=True)
            heads = [hm.Head(head.metric, head.weight, value) for head, value in pairs]
            values = [problem.parts.value if value is None else value for value in values]
        parts = replace(problem.parts, values=values, block=block)
        try:
            dynamics = hm.Dynamics(
                old.steps,
                old.metric,
                value=old.value,
                mask=old.mask,
                attention=old.attention,
                heads=heads,
                feed_forward=block and FeedForward(*block),
            )
            rescaling(dynamics, dynamics.alpha_at(0))
        except hm.InputError as error:
            if "no inverse" not in str(error):
                raise
            continue
        # What grows without bounds has ever longer fractions.
        most = 12 if block else problem.max_layers
        return replace(problem, dynamics=dynamics, parts=parts, max_layers=most)
