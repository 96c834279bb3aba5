"""The dynamics in float64, under a tie policy (see `policies`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardmax._attended import Choices
from hardmax._float.active_set import ActiveSet
from hardmax._float.bounds import relative_margin
from hardmax._float.phase import FloatPhase
from hardmax._float.policies import Ties, TieSlack
from hardmax._float.search import CPU, Cpu
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics


class Undecided(Exception):
    """Floats cannot prove who attends to whom."""


@dataclass(frozen=True)
class FloatSolver:
    """Floats compute; without a tie slack every choice is proved."""

    slack: TieSlack | None = None
    machine: Cpu = CPU

    @property
    def arithmetic(self) -> str:
        return "certified" if self.slack is None else "float"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        ties = Ties(points, dynamics, self.slack)
        active = ActiveSet(
            layer=0,
            keep=dynamics.keep,
            frame=ties.frame,
            multiplicities=points.multiplicities,
            positions=ties.frame.numbers,
            errors=np.full(points.count, ties.error),
            worst=ties.error,
        )
        pending = np.arange(points.count)
        choices = Choices.of_single(pending)
        while True:
            # At the first layer many attend to themselves, later most go on as they were.
            guesses = choices.firsts(pending) if active.layer else pending
            found = ties.decide(active, pending, guesses, self.machine)
            choices = choices.with_rows(pending, found.choices())
            decided, (pending,) = pending, (~choices.follows_leader).nonzero()
            lasting = ties.lasting(active, choices, decided, pending)
            yield FloatPhase(
                layer=active.layer,
                until=None if lasting is None else active.layer + lasting,
                choices=choices,
                is_leader=ties.is_leader(choices),
                margin=relative_margin(found.gap, ties.metric.norm, active.longest),
                keep=dynamics.keep,
                source=active,
                error=ties.frame.error_in_units(active.worst + active.step_error(choices), active.longest),
                decided_by=" and ".join(found.by),
                exactly=ties.exactly(),
            )
            if lasting is None:
                return
            active = active.after_layers(choices, lasting)
