"""How wrong floats can be: the constants behind `arithmetic="certified"`, derived once, here.

Write u = 2^-53 and gamma_k = k u / (1 - k u). The float point x_i stands for the true z_i, |x_i - z_i| <= r (the
running error); rho_i = |x_i|, and rho is the largest of them; a is the Frobenius norm of the float metric (1 for the
identity), e the error of that metric.

**Scores.** A dot product of length d, in any order of summation, with or without fused operations, is off by at most
gamma_d |x||y| (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). With y_i = fl(A x_i), whose error
is at most gamma_d a rho_i, the score fl(<y_i, x_j>) differs from <A x_i, x_j> by at most

    (2 gamma_d + gamma_d^2) a rho_i rho.

The data are off as well: <A x_i, x_j> differs from the true <A z_i, z_j> by at most

    e rho_i rho + (a + e) (rho_i r + rho r + r^2).

The sum of both is E_i. If the winner leads by more than 2 E_i, it is the true winner, alone. The lead itself is a float
subtraction of two scores of size at most a rho_i rho (1 + …), which may add u times twice that: counted in E_i.

**Steps.** fl(w + t (x - w)) with t = g^m rounded to float: t(x - w) carries four roundings, at most gamma_4 · 2 rho in
norm, the sum one more, u rho: together below 10 u rho. The exact map is a convex combination, so it does not enlarge
the error that is there: r grows by at most 10 u rho a step. A leader stays where it is: x = w gives w.

**Underflow** adds less than 2^-900, since only clouds whose largest coordinate is between 2^-100 and 2^100 are treated
here, and the metric is scaled to a largest entry between 1/2 and 2. A computed norm misses at most 2^-500 by it: added.
These bounds are evaluated in floats themselves, for less than 2^40 layers: SAFETY covers that.
"""

import numpy as np

from hardmax.engines.kernels.norms import lengths

UNIT = 2.0**-53
SAFETY = 1 + 2.0**-10
UNDERFLOW = 2.0**-900
SMALLEST, LARGEST = 2.0**-100, 2.0**100


def norms_above(points: np.ndarray) -> np.ndarray:
    """Norms of the rows, none too small (up to SAFETY) even where squares underflow."""
    norms = np.empty(len(points))
    lengths(points, 2.0**-500, norms)
    return norms


def slack_factors(dimension: int, metric_norm: float, metric_error: float) -> tuple[float, float]:
    """2 E_i is the first factor times rho_i rho, plus the second times (rho_i r + rho r + r^2)."""
    gamma = dimension * UNIT / (1 - dimension * UNIT)
    rounding = (2 * gamma + gamma**2 + 2 * UNIT) * metric_norm + metric_error
    return 2 * SAFETY * rounding, 2 * SAFETY * (metric_norm + metric_error)


def kernel_factors(dimension: int, metric_norm: float, metric_error: float) -> list[float]:
    """What a kernel that proves its choices counts with: the two factors of 2 E_i, underflow, the error of a step of
    length 1, and between which sizes of the largest coordinate the bounds hold."""
    return [*slack_factors(dimension, metric_norm, metric_error), UNDERFLOW, step_error(1.0), SMALLEST, LARGEST]


def score_slack(
    norms: np.ndarray, largest: float, dimension: int, metric_norm: float, metric_error: float, running_error: float
) -> np.ndarray:
    """2 E_i for each direction: a lead beyond it is proved."""
    rounding, spread = slack_factors(dimension, metric_norm, metric_error)
    slack = norms * (rounding * largest + spread * running_error)
    slack += spread * (largest * running_error + running_error**2) + UNDERFLOW
    return slack


def step_error(largest: float) -> float:
    """How much one step adds to the running error."""
    return 10 * UNIT * SAFETY * largest + UNDERFLOW


def rounding_error(largest: float) -> float:
    """How far the nearest floats can be from points of norm at most `largest`."""
    return UNIT * SAFETY * largest + UNDERFLOW
