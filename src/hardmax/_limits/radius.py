"""How far tokens may be moved without a change of any attended set, at any layer: a proved lower
bound.

Move every token by at most e. As long as the attended sets are the same, a layer is the same convex
combination, so at every layer tokens are off by at most e: z_i + x_i with |x_i| <= e. Let token i
attend to c alone, and let L = <A z_i, z_c - z_j> > 0 be its lead over j. Off by x it is

    L + <x_i, A^T (z_c - z_j)> + <A z_i, x_c - x_j> + <A x_i, x_c - x_j>
      >= L - e b - e^2 q,    b = |A^T (z_c - z_j)| + 2 |A z_i|,    q = 2 |A|,

where b is less if i is c or j: the two terms with x_i are one. So the lead stays positive for e < 2
L / (b + sqrt(b^2 + 4 q L)), and if e is smaller than that for all j and all i at this layer, the
sets are the same there. Who follows a leader does so for ever, so only the others have to be looked
at, up to the layer at which all follow leaders."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._common.progress import Reporting
from hardmax._common.validation import InputError
from hardmax._exact.argmax import directions_of, products
from hardmax._layer.rules import check_plain
from hardmax._runs.run import Run
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

MOST_LAYERS = 10_000


def check_proved(run: Run, name: str) -> None:
    """Refuse a run that has no limit which is proved."""
    if run.settled_at is None:
        why = f"the run has not settled ({run.stop_reason})"
        raise InputError(f"{name}: {why}, so where its tokens end is not known.")


def radius(run: Run) -> float:
    """The radius of all layers of a run that has settled; 0 if a token attends to several."""
    check_plain(run.dynamics, "`radius`")
    check_proved(run, "`radius`")
    if (run.settled_at or 0) > MOST_LAYERS:
        settled = f"settled at layer {run.settled_at:,}"
        raise InputError(f"`radius`: {settled}, but only {MOST_LAYERS:,} are looked at.")
    counts, smallest = run.points.multiplicities, math.inf
    copies = bool((counts > 1).any())
    pending, report = np.arange(run.points.count), Reporting("layers")
    for phase in run.exact_phases():
        choices = phase.choices
        # Copies of a token may be moved apart.
        if not choices.all_single or (counts[choices.indices] > 1).any():
            return 0.0
        until = phase.layer + 1 if phase.until is None else phase.until
        for layer in range(phase.layer, until):
            positions = phase.exactly.later(range(run.points.count), layer - phase.layer)
            cloud = IntegerCloud.of(np.array(positions, dtype=object))
            report(layer, (run.settled_at or 0) + 1)
            at_layer = _of_layer(cloud, choices.indices, pending, run.dynamics, copies)
            smallest = min(smallest, at_layer)
            pending = pending[~choices.follows_leader[pending]]
        if not len(pending):
            report.end()
            return smallest
    return 0.0


def _of_layer(
    cloud: IntegerCloud, chosen: np.ndarray, pending: np.ndarray, dynamics: Dynamics, copies: bool
) -> float:
    """The radius of one layer: that at which the leads of some points over all others are sure to
    be positive.

    Leads are computed in integers and rounded once; all that follows are sums, products and
    quotients of positive floats, each off by less than 2^-52 of itself, and differences of vectors,
    whose error is counted."""
    n, d = len(cloud.numerators), len(cloud.numerators[0])
    if n == 1 or not len(pending):
        return math.inf
    unit = max(1, _largest(cloud.numerators))  # tokens are measured by their largest coordinate
    look = directions_of(cloud.numerators, dynamics)
    metric = dynamics.metric_integers or [[int(i == j) for j in range(d)] for i in range(d)]
    back = products(cloud.numerators, list(zip(*metric, strict=True)))  # A^T z
    scale = unit * _largest(metric)  # not 0, or all would tie
    a, at = (np.array([[int(x) / scale for x in row] for row in table]) for table in (look, back))
    scores = products([look[i] for i in pending], cloud.numerators)
    q, tiny = 2 * d, (d + 8) * 2.0**-50  # a matrix of entries up to 1 has a norm of at most d
    smallest = math.inf
    for i, row in zip(pending.tolist(), scores, strict=True):
        c = int(chosen[i])
        rivals = np.array([j for j in range(n) if j != c])
        best = int(row[c])
        leads = np.array([(best - int(row[j])) / (scale * unit) for j in rivals])
        between, along = at[c] - at[rivals], np.linalg.norm(a[i])
        linear = np.linalg.norm(between, axis=1) + 2 * along
        if c == i:
            linear = np.linalg.norm(between + a[i], axis=1) + along
        elif not copies:
            linear[rivals == i] = np.linalg.norm(at[c] - at[i] - a[i]) + along
        b = linear * (1 + tiny) + tiny * d
        bounds = 2 * leads / (b + np.sqrt(b * b + 4 * q * leads)) * (1 - tiny)
        smallest = min(smallest, float(bounds.min()))
    if smallest <= 2.0**-900:
        return 0.0
    exact = Fraction(smallest) * unit / cloud.denominator
    return math.nextafter(float(exact), 0.0)


def _largest(table: Iterable[Iterable[Any]]) -> int:
    return max(abs(int(x)) for row in table for x in row)
