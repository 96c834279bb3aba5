"""The thousand problems that every change has to pass, chosen so that they take about a minute, and some with hard
metrics."""

from itertools import count, islice

from soak.problems import FIRST_OF_METRICS, assignment
from soak.sizes import Tier

# How many of each tier; the large ones are clouds in the plane, where points are left out by a polygon of a sample.
# Kernels of the GPU are interpreted where there is none, which takes long: one in five of these.
_MANY = {Tier.SMALL: 870, Tier.MIDDLING: 120, Tier.LARGE: 10}
# Hundreds of tokens, each several times, in up to 64 dimensions: integers take seconds for each.
_SLOW = ("repeats",)
_FLAT = ("line", "one_beside", "regression", "flat", "anisotropic")


def _numbers(tier: Tier) -> list[int]:
    found = (number for number in range(20_000) if _is_quick(number, tier))
    return list(islice(found, _MANY[tier]))


def _is_quick(number: int, tier: Tier) -> bool:
    own, kind, engine = assignment(number)
    if own is not tier:
        return False
    if tier is Tier.LARGE:
        return engine.search == "plane" and kind in _FLAT
    if tier is Tier.MIDDLING and kind in _SLOW:
        return False
    return not engine.name.startswith("gpu") or number % 5 == 0


def _with_hard_metrics(tier: Tier, many: int) -> list[int]:
    """Small ones in few dimensions, and large ones of which most tokens are left out of the contest."""
    found = (
        number
        for number in count(FIRST_OF_METRICS)
        if (turn := assignment(number))[0] is tier
        and (turn[2].name == "arena" if tier is Tier.LARGE else max(turn[2].dimensions) <= 16)
    )
    return list(islice(found, many))


QUICK = sorted(number for tier in Tier for number in _numbers(tier))
QUICK += _with_hard_metrics(Tier.SMALL, 100) + _with_hard_metrics(Tier.LARGE, 1)
