"""From points to a run: the first walker that decides everything does it, and what the record asks for is kept."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax.engines.exact.powers import MOST_DIGITS, TooLong
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.judging.walking import Undecided
from hardmax.engines.machines import Machine
from hardmax.engines.walker import Walker, interpreted_if_small, walk
from hardmax.runs.plan import Plan
from hardmax.runs.records import check_memory
from hardmax.runs.run import Run
from hardmax.runs.stops import Stop
from hardmax.tokens.batches import Cloud
from hardmax.tokens.points import Points, merge
from hardmax.wording import counted

# Products of digits of exact positions, some 5 ns each, after which a cloud that has not settled is given up.
_MOST_WORK = 10**9


def run_cloud(cloud: Cloud, plan: Plan, machine: Machine) -> Run:
    """The run of one cloud; repeated tokens are one point."""
    with machine.limited(), interpreted_if_small(*cloud.tokens.shape):
        return run_points(merge(cloud), plan)


def run_points(points: Points, plan: Plan) -> Run:
    """The run of one cloud by the first of the walkers that can decide everything."""
    for walker in plan.walkers:
        try:
            return _walk(points, plan, walker)
        except Undecided:
            continue
    raise AssertionError("the last walker of an arithmetic decides everything")


def _walk(points: Points, plan: Plan, walker: Walker) -> Run:
    since = np.full(points.count, -1)

    def marked() -> Iterable[FloatStretch | ExactStretch]:
        for stretch in walk(walker, points, plan.dynamics):
            since[(since < 0) & stretch.is_leader] = stretch.layer
            yield stretch

    kept = keep(marked(), points, plan)
    return Run(points=points, dynamics=plan.dynamics, walker=walker, leader_since=since, **vars(kept))


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a walk: fields of a `Run`."""

    stretches: tuple[Any, ...]
    recorded: tuple[int, ...]
    margin_at: dict[int, float]
    decided_by: dict[int, str]
    settled_at: int | None
    stopped: str


def keep(walk: Iterable[Any], points: Points, plan: Plan) -> Kept:
    """Follow the stretches of a walk to its stop, and keep those that the record asks for and the last."""
    kept, stop, record = [], plan.stop, plan.record
    margins: dict[int, float] = {}
    decided_by: dict[int, str] = {}
    last, settled_at, work, why, stretch = stop.last_layer, None, 0, "", None
    try:
        for stretch in walk:
            margins[stretch.layer], decided_by[stretch.layer] = stretch.margin, stretch.decided_by
            if stretch.until is None:
                settled_at = stretch.layer
                last = min(last, settled_at) if stop.when_settled else last
            ends = stretch.until is None or stretch.until > last
            if ends or record.keeps(stretch.layer, stretch.until or last):
                kept.append(stretch)
                check_memory(record, len(kept), points.count, points.dimension)
            if ends:
                break
            work += 0 if stretch.exactly is None else stretch.exactly.work
            if stop.when_settled and work > _MOST_WORK:
                raise TooLong(f"exact positions have {_digits(stretch):,} digits by now, and more with every layer")
    except TooLong as error:
        if stretch is None or not stop.when_settled:
            raise
        assert stretch.until is not None, "what lasts for ever ends the walk"
        last = stretch.until - 1  # up to there everything is known
        kept += [] if kept and kept[-1] is stretch else [stretch]
        too_long = f"exact positions would have more than {MOST_DIGITS:,} digits"
        why = f"gave up at layer {last:,}: {error if work > _MOST_WORK else too_long}{_ties(stretch, points)}"
    return Kept(
        tuple(kept),
        tuple(record.layers(last)),
        margins,
        decided_by,
        settled_at,
        why or why_stopped(stop, last, settled_at),
    )


def _digits(stretch: Any) -> int:
    """How long exact positions are by now, if one of the numbers is as long as g^layer."""
    return int(stretch.layer * math.log10(stretch.keep.denominator))


def _ties(stretch: Any, points: Points) -> str:
    """Who attends to several points that are no leaders, and so may still move."""
    choices = stretch.choices
    tied = [i for i in np.flatnonzero(choices.sizes > 1).tolist() if not choices.is_leader[choices[i]].all()]
    if not tied:
        return ""
    first, others = int(points.members[tied[0]][0]), len(tied) - 1
    told = f"token {first}" + (f" and {counted(others, 'other')}" if others else "")
    return f"; {told} {'tie' if others else 'ties'} tokens that still move"


def why_stopped(stop: Stop, last: int, settled_at: int | None) -> str:
    """Why a run that ends at layer `last` does so, in words."""
    if not stop.when_settled:
        settled = "not settled yet" if settled_at is None else f"settled at layer {settled_at}"
        return f"all {last:,} layers asked for are done; {settled}"
    if settled_at == last:
        return f"settled at layer {last}: no attended set ever changes again"
    return f"gave up at layer {last:,}: not settled yet"
