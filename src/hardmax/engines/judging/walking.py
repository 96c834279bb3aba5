"""Walking in float64. A judge says what the choices of floats are worth (see `judges`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.machine import CPU, Cpu
from hardmax.engines.floats.bounds import norms_above
from hardmax.engines.floats.frame import Frame
from hardmax.engines.floats.metric import float_metric, relative_margin
from hardmax.engines.floats.stretch import FloatStretch, InUnits
from hardmax.engines.judging.arena import Arena
from hardmax.engines.judging.judges import Judge, Question
from hardmax.tokens.points import Points


class Undecided(Exception):
    """Floats cannot prove who attends to whom."""


@dataclass(frozen=True)
class FloatWalker:
    """Floats walk; the judge says what their choices are worth."""

    arithmetic: str
    judge: Judge
    machine: Cpu = CPU

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatStretch]:
        frame, metric = self.judge.frame(points, dynamics), float_metric(dynamics)
        hearing = self.judge.open(points, frame, dynamics)
        error, gap_unit = self.judge.first_error(frame), float(metric.scale / frame.metric(metric).scale)
        arena = Arena(
            layer=0,
            keep=dynamics.keep,
            multiplicities=points.multiplicities,
            places=frame.numbers,
            errors=np.full(points.count, error),
            worst=error,
        )
        pending = np.arange(points.count)
        choices = Choices.of_single(pending)
        while True:
            # At the first layer many attend to themselves, later most go on as they were.
            guesses = choices.firsts(pending) if arena.layer else pending
            contest = hearing.decide(Question(arena, pending, guesses, self.machine))
            choices = choices.with_rows(pending, contest.choices())
            hearing.note(arena, choices, pending)
            (pending,) = (~choices.follows_leader).nonzero()
            lasting = hearing.lasting(arena, choices, pending) if len(pending) else None
            yield FloatStretch(
                layer=arena.layer,
                until=None if lasting is None else arena.layer + lasting,
                choices=choices,
                is_leader=hearing.is_leader(choices),
                margin=relative_margin(contest.gap * gap_unit, metric.norm, _longest(arena, frame)),
                keep=dynamics.keep,
                places=arena if frame.is_plain else InUnits(arena, frame),
                error=frame.error_in_units(arena.worst + arena.step_error(choices), arena.longest),
                decided_by=" and ".join(contest.by),
                exactly=hearing.exactly(),
            )
            if lasting is None:
                return
            arena = arena.after_layers(choices, lasting)


def _longest(arena: Arena, frame: Frame) -> float:
    """The largest norm of all points, measured alike along all axes."""
    return arena.longest if frame.exponents is None else float(norms_above(frame.on_one_scale(arena.places)).max())
