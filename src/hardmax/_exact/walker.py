"""The one walker of exact arithmetic, from phase to phase.

An arithmetic says where points are, whom they attend to there, where they are later as long as the
attended sets stay, and when these change next: sums of powers of g for
any layer (`general`), polynomials in the step size for `bifurcations`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from hardmax._exact.argmax import Attended
from hardmax._layer.attended import AttendedIndices

Sets = Any
"""Lists of lists, or `AttendedIndices` where a walker takes these."""
PhaseT = TypeVar("PhaseT")

FOREVER, ONE_LAYER = None, 1


class Walker(ABC, Generic[PhaseT]):
    """The points of one run at a layer, which `advance` changes."""

    layer = 0
    followers_stay = True
    """Whether who follows a leader does so for ever: if all may be attended to and nobody leaves
    the hull."""
    takes_lists = True
    """Whether attended sets are taken as lists."""

    def walk(self, count: int) -> Iterator[PhaseT]:
        """The phases of so many points from layer 0 on; ends after one that lasts for ever."""
        pending = np.arange(count)
        choices = AttendedIndices.of_single(pending)
        while True:
            attended = self.attended(pending.tolist())
            choices = choices.with_rows(pending, AttendedIndices.of_sets(attended.sets))
            if self.followers_stay:
                pending = np.flatnonzero(~choices.follows_leader)
            sets: Any = choices.lists() if self.takes_lists else choices
            form, duration = self.closed_form(sets, pending.tolist()), ONE_LAYER
            if form is not None:
                duration = self.first_change(form, sets, pending.tolist())
            until = FOREVER if duration is None else self.layer + duration
            known = {"layer": self.layer, "until": until, "choices": choices}
            phase = self.phase(sets, margin=attended.margin, **known)
            yield phase
            if duration is None:
                return
            self.advance(phase, duration)
            self.layer += duration

    @abstractmethod
    def attended(self, pending: list[int]) -> Attended:
        """Whom some points attend to now."""

    @abstractmethod
    def closed_form(self, sets: Sets, pending: list[int]) -> Any:
        """Where all points are m layers later, as long as these sets stay; None: not known."""

    @abstractmethod
    def first_change(self, form: Any, sets: Sets, pending: list[int]) -> int | None:
        """After how many layers the sets of the pending points may be others."""

    @abstractmethod
    def phase(self, sets: Sets, **known: Any) -> PhaseT:
        """What is known of the layers before `until`: its fields `layer`, `until`, `choices` and
        `margin`, and more."""

    @abstractmethod
    def advance(self, phase: PhaseT, layers: int) -> None:
        """Go to the end of a phase of so many layers."""
