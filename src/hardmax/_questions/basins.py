"""Where one token ends, by where it starts, or how likely noise changes nothing: `basins`."""

from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np

from hardmax._common.validation import (
    InputError,
    Progress,
    check_int,
    check_progress,
    check_real,
    normalize_index,
    shorten,
)
from hardmax._layer.rules import check_dimension, check_plain
from hardmax._questions.cells import Box
from hardmax._questions.laws import Enclosure, Gaussian, moments_of
from hardmax._questions.noise import unchanged
from hardmax._questions.regions import Basins, Unchanged
from hardmax._questions.search import Search
from hardmax._tokens.batches import Cloud, read_one
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import Number, read_number, to_fractions
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.infinite_depth import limit

_MOST_DIMENSIONS = 4
_MOST_MOVED = 40  # coordinates
_REACH = 4  # standard deviations on each side of a mean: 99.99 % of a coordinate
_USUAL, _USUAL_WITH_NOISE = (0.004, 10_000), (0.04, 100_000)  # tolerance and effort
_FARTHEST = 10**60
_OFTEN = 64  # cells between two reports of progress


@overload
def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    law: Literal["uniform"] | tuple[Any, Any] | None = None,
    noise: None = None,
    tolerance: float | None = None,
    effort: int | None = None,
    progress: Progress | None = None,
) -> Basins: ...


@overload
def basins(
    tokens: Any,
    *,
    dynamics: Dynamics | None = None,
    noise: Number,
    tolerance: float | None = None,
    effort: int | None = None,
    progress: Progress | None = None,
) -> Unchanged: ...


def basins(
    tokens: Any,
    token: int | None = None,
    box: Any = None,
    dynamics: Dynamics | None = None,
    *,
    law: Literal["uniform"] | tuple[Any, Any] | None = None,
    noise: Number | None = None,
    tolerance: float | None = None,
    effort: int | None = None,
    progress: Progress | None = None,
) -> Basins | Unchanged:
    """Where one token ends, by where it starts; or, with noise, how likely all stays as it is.

    Both are proved.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud, of at most 4 dimensions.
    token : int, optional
        The token whose start is moved; by default one more token is added.
    box : sequence of d pairs (low, high), optional
        Where it starts. By default the box around the tokens, a quarter of its longest side larger
        on each side; with a Gaussian law four standard deviations on each side of the mean.
    dynamics : Dynamics, optional
        The paper's layer, with any metric; `Dynamics(1)` by default.
    law : {"uniform"} or pair (mean, std), optional
        The law of the start, for the probabilities of all ends: uniform on the box, or Gaussian
        with independent coordinates, whose mean and standard deviation are numbers, or sequences
        with one for each coordinate.
    noise : number, optional
        Move all tokens at once instead, each coordinate by up to this number, uniformly and
        independently, and ask how likely it is that no attended set changes at any layer. There is
        no `token`, `box` or `law` then, and a token has at most 40 / n coordinates.
    tolerance : float, optional
        Stop once no more than this share of the box, or of the law, is undecided: 0.004 by
        default, and 0.04 with noise.
    effort : int, optional
        Cells looked at, at most: parts of the box, or of all moves. 10,000 by default, and 100,000
        with noise.
    progress : callable, optional
        Called with how many cells have been looked at, and with `effort`.

    Returns
    -------
    Basins or Unchanged
        A region for each end, with its area and probability, and what is undecided. With noise, the
        probability that nothing changes.

    Notes
    -----
    As long as attended sets are known, every token is at :math:`a + b x`, x the start. So all leads
    are quadratics :math:`c + \\langle b, x \\rangle + k \\langle A x, x \\rangle`, whose signs are
    proved on cells from their values at corners.

    Examples
    --------
    >>> from hardmax import basins
    >>> found = basins([[0], [1], [3]], box=[(-1, 4)], law="uniform")
    >>> found
    Basins(token 3: leader 2 60.0%, itself 40.0%, undecided 0.0%)
    >>> found.at([2.5])
    (2,)
    >>> 7 / 8 in basins([[2], [1]], noise=1).probability
    True
    """
    cloud, weight = read_one(tokens), 1
    dynamics = Dynamics(1) if dynamics is None else check_dynamics(dynamics)
    check_plain(dynamics, "`basins`")
    n, d = cloud.tokens.shape
    check_dimension(dynamics, d)
    usual, largest = _USUAL if noise is None else _USUAL_WITH_NOISE
    tolerance = usual if tolerance is None else tolerance
    tolerance = check_real(tolerance, "`tolerance`", at_least=0, at_most=1)
    effort = check_int(largest if effort is None else effort, "`effort`", at_least=1)
    check_progress(progress)
    if noise is not None:
        if any(part is not None for part in (token, box, law)):
            both = "`noise` moves all tokens: it goes with no `token`, `box` or `law`."
            raise InputError(both)
        return _unchanged(cloud, dynamics, noise, tolerance, effort, progress)
    if d > _MOST_DIMENSIONS:
        most = f"`tokens` have {d} coordinates; `basins` knows at most {_MOST_DIMENSIONS}."
        raise InputError(most)
    read = _read_law(law)
    starts = _read_box(box, cloud.tokens, read)
    sides = [high - low for low, high in starts.ends]
    farthest = max(abs(end) for ends in starts.ends for end in ends)
    if min(sides) * _FARTHEST < 1 or farthest > _FARTHEST:
        sizes = "sides of at least 1e-60, and ends of at most 1e60"
        raise InputError(f"`box` must have {sizes}: measure tokens in another unit.")
    names = [*range(n), n]
    if token is not None:
        token = normalize_index(token, n, "`token`")
        counts = cloud.multiplicities
        weight = 1 if counts is None else int(counts[token])
        others = None if counts is None else np.delete(counts, token)
        cloud = Cloud(np.delete(cloud.tokens, token, axis=0), others)
        names = [*(j for j in range(n) if j != token), token]
    points = merge(cloud) if len(cloud.tokens) else None
    search = Search(points, weight, dynamics, starts, read)
    looked = 0
    while search.queue and looked < effort and search.left > tolerance:
        if progress is not None and looked % _OFTEN == 0:
            progress(looked, effort)
        search.step()
        looked += 1
    if progress is not None:
        progress(effort, effort)
    firsts = [names[members[0]] for members in points.members] if points else []
    regions, undecided = search.regions([*firsts, names[-1]])
    table = to_fractions(cloud.tokens, "`tokens`")
    return Basins(names[-1], table, starts.ends, read, regions, undecided)


def _unchanged(
    cloud: Cloud,
    dynamics: Dynamics,
    noise: Number,
    tolerance: float,
    effort: int,
    progress: Progress | None,
) -> Unchanged:
    most = read_number(noise, "`noise`")
    if most <= 0:
        raise InputError(f"`noise` must be positive, not {shorten(noise)}.")
    if cloud.tokens.size > _MOST_MOVED:
        many = f"{cloud.tokens.size} coordinates are moved, and {_MOST_MOVED} are the most"
        raise InputError(f"`noise`: {many}.")
    if most * _FARTHEST < 1 or max(map(abs, [most, *cloud.tokens.flat])) > _FARTHEST:
        sizes = "`noise` must be at least 1e-60, and tokens at most 1e60"
        raise InputError(f"{sizes}: measure them in another unit.")
    lim = limit(cloud.tokens, dynamics)
    radius = lim.radius()  # refuses a run that has not settled
    if most**2 * cloud.tokens.shape[1] <= Fraction(radius) ** 2:
        return Unchanged(most, radius, Enclosure(1.0, 1.0))
    found = unchanged(lim.run, most, tolerance, effort, progress)
    if progress is not None:
        progress(effort, effort)
    return Unchanged(most, radius, found)


def _read_law(law: Any) -> Any:
    """None, "uniform" or a Gaussian law."""
    if law is None or (isinstance(law, str) and law == "uniform"):
        return law
    if isinstance(law, list | tuple) and len(law) == 2:
        return Gaussian(*law)
    wish = "`law` must be None, 'uniform' or a pair (mean, std)"
    raise InputError(f"{wish}, not {shorten(law)}.")


def _read_box(box: Any, tokens: np.ndarray, law: Any) -> Box:
    """The box that is meant."""
    d = tokens.shape[1]
    if box is None and isinstance(law, Gaussian):
        reaches = [(mean, _REACH * std) for mean, std in moments_of(law, d)]
        return Box.of([(mean - reach, mean + reach) for mean, reach in reaches])
    if box is None:
        table = to_fractions(tokens, "`tokens`")
        ends = list(zip(table.min(axis=0), table.max(axis=0), strict=True))
        more = max(high - low for low, high in ends) / 4 or Fraction(1)
        return Box.of([(low - more, high + more) for low, high in ends])
    if _is_list(box, d) and all(_is_list(pair, 2) for pair in box):
        pairs = [(read_number(low, "`box`"), read_number(high, "`box`")) for low, high in box]
        if all(low < high for low, high in pairs):
            return Box.of(pairs)
    wish = f"`box` must be {d} pairs (low, high) with low < high"
    raise InputError(f"{wish}, not {shorten(box)}.")


def _is_list(value: Any, length: int) -> bool:
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return is_list and len(value) == length
