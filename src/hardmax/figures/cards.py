"""What runs and limits show of themselves in a notebook: a line of facts and a small picture."""

from collections.abc import Callable, Sequence
from typing import Any

from hardmax.figures.asked import LimitLike, RunLike
from hardmax.figures.sketches import Drawing, sketch_limit, sketch_run
from hardmax.figures.svg import sketch_svg
from hardmax.markup import card, note, side_by_side

MOST_TOKENS, MOST_TOKENS_OF_MANY = 160, 60
MOST_CLOUDS = 6
# On a line time is the other axis: all the height is used.
_FLAT, _LARGE, _SMALL = (260, 90), (220, 220), (110, 110)


def run_card(run: RunLike) -> str:
    """The card of one run."""
    return _one(run, sketch_run(run, MOST_TOKENS), f"layer {run.layers:,}", run.d)


def limit_card(lim: LimitLike) -> str:
    """The card of one limit."""
    ends = "limit" if lim.settled_at is not None else f"layer {lim.run.layers:,}"
    return _one(lim, sketch_limit(lim, MOST_TOKENS), ends, lim.run.d)


def runs_card(runs: Sequence[RunLike]) -> str:
    """The card of the runs of a batch: the first of them, side by side."""
    return _many(runs, sketch_run)


def limits_card(lims: Sequence[LimitLike]) -> str:
    """The card of the limits of a batch."""
    return _many(lims, sketch_limit)


def _one(thing: Any, drawing: Drawing, ends: str, d: int) -> str:
    facts = repr(thing)
    width, height = _FLAT if d == 1 else _LARGE
    key = f"pale: start{', at the top' if d == 1 else ''} · dot: {ends} · star: leader"
    picture = sketch_svg(drawing.sketch, facts, width=width, height=height)
    return card(facts, f"<div>{picture}</div>", note(key), note(drawing.remark))


def _many(things: Sequence[Any], sketch: Callable[[Any, int], Drawing]) -> str:
    # By number, since making all of a large batch would take long.
    first = [things[cloud] for cloud in range(min(len(things), MOST_CLOUDS))]
    drawn = side_by_side([(f"cloud {number}", _small(thing, sketch)) for number, thing in enumerate(first)])
    left_out = f"the first {MOST_CLOUDS} of {len(things):,} clouds" if len(things) > MOST_CLOUDS else ""
    return card(repr(things), drawn, note(left_out))


def _small(thing: Any, sketch: Callable[[Any, int], Drawing]) -> str:
    width, height = _SMALL
    return sketch_svg(sketch(thing, MOST_TOKENS_OF_MANY).sketch, repr(thing), width=width, height=height)
