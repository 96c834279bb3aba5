"""Several heads: w_i is the weighted mean of the means over the attended sets of each head, which
has its own metric.

While no set changes, a layer is linear in the tokens. If all w_i stand still, tokens go straight to
them, and leads are those of `leads`, for each head along its own directions. Anything else goes one
layer at a time."""

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import add

from hardmax._exact.forms import (
    Form,
    Means,
    Motion,
    Place,
    Table,
    at_first,
    longest,
    one_layer,
    placed,
)
from hardmax._exact.general import Cloud, GeneralPhase, leading
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.rules import head_weights, split_heads
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics


class HeadMeans:
    """The weighted mean of the means of several heads."""

    def __init__(self, means: list[Means], weights: list[Fraction]) -> None:
        self.means, self.weights = means, weights

    def __call__(self, table: Table) -> Table:
        return reduce(
            add,
            (share * means(table) for share, means in zip(self.weights, self.means, strict=True)),
        )


def walk_heads(points: Points, dynamics: Dynamics) -> Iterator[GeneralPhase]:
    """The phases from layer 0 on; ends after one that lasts for ever."""
    clouds = [Cloud(points, each) for each in split_heads(dynamics)]
    everybody, layer = list(range(points.count)), 0
    motion = Motion.of(dynamics, dynamics.alpha)
    keep = motion.keep or Fraction(1)
    place: Place = {0: to_fractions(points.coordinates, "`tokens`")}
    before = None
    while True:
        found = [cloud.attended(place, everybody, keep) for cloud in clouds]
        sets = [chosen for chosen, _ in found]
        means = HeadMeans(
            [Means(chosen, points.multiplicities) for chosen in sets], head_weights(dynamics)
        )
        form, holds = _closed_form(place, means, motion)
        lasting: int | None = 1
        if holds:
            changes = [
                cloud.first_change(form, chosen, everybody, keep)
                for cloud, chosen in zip(clouds, sets, strict=True)
            ]
            lasting = min((change for change in changes if change is not None), default=None)
        union = [sorted({j for chosen in sets for j in chosen[i]}) for i in everybody]
        yield GeneralPhase(
            layer=layer,
            until=None if lasting is None else layer + lasting,
            choices=AttendedIndices.of_sets(union),
            is_leader=leading(union, at_first(place) if lasting == 1 else form, keep),
            margin=min(margin for _, margin in found),
            keep=keep,
            unchanged=sets == before,
            form=form,
            counts=points.multiplicities,
            dynamics=dynamics,
            bits=max(map(longest, place.values())),
        )
        if lasting is None:
            return
        layer, place, before = layer + lasting, placed(form, lasting, keep), sets


def _closed_form(place: Place, means: HeadMeans, motion: Motion) -> tuple[Form, bool]:
    """Where the points are m layers later, and whether that holds as long as the sets stay (else
    for one layer)."""
    linear = one_layer(place, means, motion)
    if not any(k for _, _, k in linear):
        return linear, True
    ways = {e: z - means(z) for e, z in place.items()}
    if (
        motion.keep in (None, 1)
        or motion.projection is not None
        or any(means(way).any() for way in ways.values())
    ):
        return linear, False
    straight = {(e, 0, 0): place[e] - way for e, way in ways.items()}
    return straight | {(e, 1, 0): way for e, way in ways.items() if way.any()}, True
