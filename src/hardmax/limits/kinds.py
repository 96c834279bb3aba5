"""What a limit is: a vertex of the leaders' polytope, or the projection of the origin onto one of its faces."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True)
class Vertex:
    """The limit is where a leader sits."""

    leader: int

    def __str__(self) -> str:
        return f"vertex {self.leader}"


@dataclass(frozen=True)
class FaceProjection:
    """The limit is the point of a face nearest to the origin, in the norm of the metric.

    The face is the hull of the leaders `vertices`; the limit is their mean with the `weights`.
    """

    vertices: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def __str__(self) -> str:
        return f"face {', '.join(map(str, self.vertices))}"


@dataclass(frozen=True)
class Elsewhere:
    """Neither: the theorem's assumptions do not hold, or the run has not settled."""

    def __str__(self) -> str:
        return "elsewhere"


Kind: TypeAlias = Vertex | FaceProjection | Elsewhere
