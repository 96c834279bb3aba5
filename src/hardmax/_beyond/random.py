"""Expected numbers for random clouds, by closed forms."""

from typing import Any

import numpy as np

from hardmax._common.validation import InputError, check_int
from hardmax._layer.parts import read_mask

_FAR = 14.0  # standard deviations of a norm, beyond which nothing is left


def random_leaders(n: int, d: int, *, mask: Any = None) -> float:
    """Expected number of tokens of a Gaussian cloud that attend to themselves alone at layer 0, for
    the identity.

    Parameters
    ----------
    n, d : int
        Number of tokens, whose coordinates are independent standard normal numbers, and dimension.
    mask : "causal" or array_like of bool of shape (n, n), optional
        Who may attend to whom, as for `Dynamics`. All may by default.

    Returns
    -------
    float
        The number, to some 10 digits.

    Notes
    -----
    Given its norm r, token i leads if the other tokens that it may attend to, m of them, have
    standard normal coordinates below r along it: with the probability :math:`\\Phi(r)^m`. So the
    expected number is

    .. math:: \\sum_i \\int_0^\\infty \\Phi(r)^{m_i} f_d(r) \\, dr,

    with the density f of the norm. Without a mask it is :math:`n \\int \\Phi^{n-1} f`, with a
    causal one :math:`\\int (1 - \\Phi^n) / (1 - \\Phi) f`. Leaders stay, but others may join them
    at later layers.

    Examples
    --------
    >>> round(random_leaders(100, 2), 3), round(random_leaders(100, 2, mask="causal"), 3)
    (6.286, 17.777)
    """
    from scipy.integrate import quad
    from scipy.special import gammaln, log_ndtr

    n = check_int(n, "`n`", at_least=1, at_most=2**59)
    d = check_int(d, "`d`", at_least=1, at_most=2**59)
    allowed = read_mask(mask)
    if isinstance(allowed, np.ndarray) and len(allowed) != n:
        raise InputError(
            f"`mask` is {len(allowed)} by {len(allowed)}, but there are {n} tokens.",
        )
    rivals = tokens = np.empty(0)
    if isinstance(allowed, np.ndarray):
        counts = allowed.sum(axis=1)[allowed.diagonal()] - 1
        rivals, tokens = np.unique(counts, return_counts=True)

    def leading(r: float) -> float:
        """The expected number of leaders if all norms are r."""
        log = float(log_ndtr(r))
        if allowed is None:
            return n * float(np.exp((n - 1) * log))
        if isinstance(allowed, str):
            return float(np.expm1(n * log) / np.expm1(log))
        return float((tokens * np.exp(rivals * log)).sum())

    def integrand(r: float) -> float:
        powers = (1 - d / 2) * np.log(2) + (d - 1) * np.log(r)
        density = float(np.exp(powers - r * r / 2 - gammaln(d / 2)))
        return leading(r) * density

    middle = float(np.sqrt(d))
    ends = max(0.0, middle - _FAR), middle + _FAR
    accuracy = {"limit": 500, "epsabs": 0, "epsrel": 1e-11}
    return float(quad(integrand, *ends, points=[middle], **accuracy)[0])
