"""Walking in float64. A judge says what the choices of floats are worth (see `judges`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardmax._attended import Choices
from hardmax._float.active_set import ActiveSet
from hardmax._float.bounds import float_metric, norms_above, relative_margin
from hardmax._float.frame import Frame
from hardmax._float.phase import FloatPhase, InUnits
from hardmax._float.policies import Question, TiePolicy
from hardmax._float.search import CPU, Cpu
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics


class Undecided(Exception):
    """Floats cannot prove who attends to whom."""


@dataclass(frozen=True)
class FloatSolver:
    """Floats walk; the judge says what their choices are worth."""

    arithmetic: str
    judge: TiePolicy
    machine: Cpu = CPU

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatPhase]:
        frame, metric = self.judge.frame(points, dynamics), float_metric(dynamics)
        hearing = self.judge.open(points, frame, dynamics)
        error, gap_unit = self.judge.first_error(frame), float(metric.scale / frame.metric(metric).scale)
        arena = ActiveSet(
            layer=0,
            keep=dynamics.contraction,
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
            yield FloatPhase(
                layer=arena.layer,
                until=None if lasting is None else arena.layer + lasting,
                choices=choices,
                is_leader=hearing.is_leader(choices),
                margin=relative_margin(contest.gap * gap_unit, metric.norm, _longest(arena, frame)),
                keep=dynamics.contraction,
                places=arena if frame.is_plain else InUnits(arena, frame),
                error=frame.error_in_units(arena.worst + arena.step_error(choices), arena.longest),
                decided_by=" and ".join(contest.by),
                exactly=hearing.exactly(),
            )
            if lasting is None:
                return
            arena = arena.after_layers(choices, lasting)


def _longest(arena: ActiveSet, frame: Frame) -> float:
    """The largest norm of all points, measured alike along all axes."""
    return arena.longest if frame.exponents is None else float(norms_above(frame.on_one_scale(arena.places)).max())
