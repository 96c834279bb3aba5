"""What runs, limits and models show of themselves in a notebook: a line of facts and a small picture."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hardmax.figures.asked import LimitLike, ModelLike, RunLike
from hardmax.figures.flat import plane_axes, remark_on
from hardmax.figures.markup import html_card, html_note, html_row, html_table
from hardmax.figures.palette import place_of_class
from hardmax.figures.sketches import Drawing, sketch_limit, sketch_run
from hardmax.figures.svg import Sketch, sketch_svg

MOST_TOKENS, MOST_TOKENS_OF_MANY = 160, 60
MOST_CLOUDS = 6
MOST_WORDS, MOST_EXAMPLES = 300, 5
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


def model_card(model: ModelLike) -> str:
    """The card of a classifier: its most frequent words where they lie, and for each class those that say most."""
    words, places = model.vocabulary.surfaces, model.prepared.table[: len(model.vocabulary)].astype(float)
    says = places @ model.decoder.T.astype(float)
    says = np.column_stack([-says, says]) if says.shape[1] == 1 else says
    often = np.argsort(-model.vocabulary.documents, kind="stable")[:MOST_WORDS]
    nobody = np.zeros(len(often), dtype=bool)
    flat = (places @ plane_axes(places))[often]
    groups = place_of_class(says[often].argmax(axis=1), len(model.classes))
    sketch = Sketch(path=flat[None], leads=nobody, groups=groups, hull=np.empty((0, 2)))
    picture = sketch_svg(sketch, repr(model), width=_LARGE[0], height=_LARGE[1])
    most = np.argsort(-says, axis=0, kind="stable")[:MOST_EXAMPLES].T[:MOST_CLOUDS]
    best = [[name, *(f"“{words[v]}”" for v in tokens)] for name, tokens in zip(model.classes, most, strict=False)]
    key = f"the {len(often):,} most frequent of {len(words):,} tokens, in the colours of the classes they speak for"
    return html_card(
        repr(model), f"<div>{picture}</div>", html_note(key), html_note(remark_on(model.dimension)), html_table(best)
    )


def _one(thing: Any, drawing: Drawing, ends: str, d: int) -> str:
    facts = repr(thing)
    width, height = _FLAT if d == 1 else _LARGE
    key = f"pale: start{', at the top' if d == 1 else ''} · dot: {ends} · star: leader"
    picture = sketch_svg(drawing.sketch, facts, width=width, height=height)
    return html_card(facts, f"<div>{picture}</div>", html_note(key), html_note(drawing.remark))


def _many(things: Sequence[Any], sketch: Callable[[Any, int], Drawing]) -> str:
    # By number, since making all of a large batch would take long.
    first = [things[cloud] for cloud in range(min(len(things), MOST_CLOUDS))]
    drawn = html_row([(f"cloud {number}", _small(thing, sketch)) for number, thing in enumerate(first)])
    left_out = f"the first {MOST_CLOUDS} of {len(things):,} clouds" if len(things) > MOST_CLOUDS else ""
    return html_card(repr(things), drawn, html_note(left_out))


def _small(thing: Any, sketch: Callable[[Any, int], Drawing]) -> str:
    width, height = _SMALL
    return sketch_svg(sketch(thing, MOST_TOKENS_OF_MANY).sketch, repr(thing), width=width, height=height)
