"""Probabilities, estimated from independent draws."""

from dataclasses import dataclass

import numpy as np

from hardmax._common.validation import InputError, Progress, check_int, shorten
from hardmax._tokens.rationals import Number, read_number, to_fractions
from hardmax.dynamics import Dynamics
from hardmax.infinite_depth import Limit, limit

_LEVEL = 0.99
_LARGEST = 10**60
_FINE = 2**40  # moves are whole multiples of the noise over this


@dataclass(frozen=True)
class Estimate:
    """A probability, estimated from independent draws.

    Examples
    --------
    >>> Estimate(90, 100)
    Estimate(0.900, 99 % interval 0.798 to 0.962, 100 draws)
    """

    hits: int
    """In how many draws it happened."""
    draws: int
    """How many there were."""

    @property
    def share(self) -> float:
        """The share of draws in which it happened."""
        return self.hits / self.draws

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 99 % confidence interval of Clopper and Pearson."""
        from scipy.stats import binomtest  # half a second to import: not before it is needed

        low, high = binomtest(self.hits, self.draws).proportion_ci(_LEVEL, method="exact")
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval
        interval = f"{100 * _LEVEL:.0f} % interval {low:.3f} to {high:.3f}"
        return f"Estimate({self.share:.3f}, {interval}, {self.draws:,} draws)"


def estimate_unchanged(
    tokens: np.ndarray,
    dynamics: Dynamics,
    noise: Number,
    draws: int,
    seed: int,
    progress: Progress | None,
) -> Estimate:
    """How likely it is that moving each coordinate by up to `noise` changes no attended set."""
    most = read_number(noise, "`noise`")
    if not 1 <= most * _LARGEST <= _LARGEST**2:
        wish = "`noise` must be from 1e-60 to 1e60"
        raise InputError(f"{wish}, not {shorten(noise)}.")
    draws = check_int(draws, "`draws`", at_least=1)
    rng = np.random.default_rng(check_int(seed, "`seed`", at_least=0))
    base = limit(tokens, dynamics)
    if base.settled_at is None:
        raise InputError(f"`tokens`: no limit is proved here ({base.stop_reason}).")
    table, hits = to_fractions(tokens, "`tokens`"), 0
    for drawn in range(draws):
        if progress is not None:
            progress(drawn, draws)
        moves = rng.integers(-_FINE, _FINE + 1, table.shape).astype(object)
        hits += _has_same_sets(base, limit(table + moves * (most / _FINE), dynamics))
    if progress is not None:
        progress(draws, draws)
    return Estimate(hits, draws)


def _has_same_sets(one: Limit, other: Limit) -> bool:
    """Whether two clouds have the same attended sets at all layers."""
    if one.settled_at != other.settled_at:
        return False
    layers = range((one.settled_at or 0) + 1)
    return all(
        np.array_equal(here, there)
        for layer in layers
        for here, there in zip(one.run.attended(layer), other.run.attended(layer), strict=True)
    )
