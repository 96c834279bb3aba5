"""Attributions side by side, in the mean over texts, with what each of them takes."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_instance
from hardmax.text.corpora import read_spans
from hardmax.text.faithfulness.attributions import Attribution, by_chance, by_leaving_out, by_removals, by_votes
from hardmax.text.faithfulness.measures import Bounds, Worth, agreement, find_bounds, measure
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.cutting import Span
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.units import Units

OURS, VOTES = "words by what goes with them", "votes of the words that count"
LEFT_OUT, CHANCE = "leave one out", "chance"
LIMITS = (
    "Texts with words cut out are not texts that anybody wrote: a model may answer them as it answers nothing else.",
    "Leaving one out and AOPC's bounds ask the model itself, as these measures do: they are what can be reached, "
    "not peers.",
    "Raw numbers are not to be compared between models: one that is never sure loses little by anything.",
    "That people marked a word does not say that the model used it, nor the other way round.",
)
"""What such measures do not tell."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one attribution is worth, in the mean over the texts."""

    attribution: str
    measures: dict[str, float | None]
    seconds: float  # an explanation, the median


@dataclass(frozen=True, kw_only=True)
class Faithfulness:
    """A row for each attribution, and how many words were asked about."""

    texts: int
    words_that_count: float  # distinct words in tokens that count, in the mean
    rows: tuple[Row, ...]
    limits: tuple[str, ...] = field(default=LIMITS, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def measure_faithfulness(
    model: TextModel,
    texts: Any,
    peers: Mapping[str, Attribution] | None = None,
    *,
    spans: Sequence[Sequence[Span]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Faithfulness:
    """Our attributions, leaving one out, chance, and the `peers` by name, on the same texts and the same model.

    Texts without a word are left out. `spans` are what people marked in each text.
    """
    check_instance(model, TextModel, "`model`", "a TextModel")
    given = read_texts(texts).strings()
    if not given:
        raise InputError("`texts` must be at least one text, in UTF-8.")
    if spans is not None and len(spans) != len(given):
        raise InputError(f"`spans` must be {len(given)} lists, one for each text, not {len(spans)}.")
    methods: dict[str, Attribution] = {OURS: by_removals, VOTES: by_votes, **(peers or {})}
    methods |= {LEFT_OUT: by_leaving_out, CHANCE: by_chance}
    notes = {name: _Notes() for name in methods}
    counted = []
    for done, text in enumerate(given):
        if progress:
            progress(done, len(given))
        units = Units.of(text, model.tokeniser)
        if not len(units):
            continue
        left_out, bounds = by_leaving_out(model, units), find_bounds(model, units)
        counting = int((np.abs(by_votes(model, units)) > 0).sum())
        counted.append(counting)
        marked = None if spans is None else units.touched_by(read_spans(spans[done], len(text))[0])
        for name, attribute in methods.items():
            began = time.perf_counter()
            scores = attribute(model, units)
            seconds = time.perf_counter() - began
            worth = measure(model, units, scores, counting, left_out)
            people = {} if marked is None or not marked.any() else agreement(units, scores, marked)
            notes[name].add(worth, bounds, people, seconds)
    if not counted:
        raise InputError("`texts` have no word: expected texts with words.")
    rows = tuple(Row(attribution=name, measures=own.means(), seconds=own.median()) for name, own in notes.items())
    return Faithfulness(texts=len(counted), words_that_count=float(np.mean(counted)), rows=rows)


@dataclass(eq=False)
class _Notes:
    """What was measured of one attribution, text by text."""

    found: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, worth: Worth, bounds: Bounds, people: dict[str, float], seconds: float) -> None:
        numbers = {name: float(value) for name, value in asdict(worth).items()}
        self.found.append(numbers | {"aopc_between_bounds": bounds.place(worth.aopc)} | people)
        self.seconds.append(seconds)

    def means(self) -> dict[str, float | None]:
        """The mean of each measure over the texts that have it; None if none has."""
        names = dict.fromkeys(name for one in self.found for name in one)
        values = {name: [one[name] for one in self.found if not math.isnan(one.get(name, math.nan))] for name in names}
        return {name: float(np.mean(several)) if several else None for name, several in values.items()}

    def median(self) -> float:
        return float(np.median(self.seconds))
