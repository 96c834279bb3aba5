"""What a limit is: a vertex of the leaders' polytope, or the projection of the origin onto one of its faces."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Vertex:
    """The limit is where a leader sits."""

    leader: int

    def __str__(self) -> str:
        return f"vertex {self.leader}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"kind": "vertex", "leader": self.leader}


@dataclass(frozen=True)
class FaceProjection:
    """The limit is the point of a face nearest to the origin, in the norm of the metric.

    The face is the hull of the leaders `vertices`; the limit is their mean with the `weights`.
    """

    vertices: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def __str__(self) -> str:
        return f"face {', '.join(map(str, self.vertices))}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data; weights are exact."""
        return {"kind": "face", "vertices": list(self.vertices), "weights": [str(weight) for weight in self.weights]}


@dataclass(frozen=True)
class Elsewhere:
    """Neither: the theorem's assumptions do not hold, or the run has not settled."""

    def __str__(self) -> str:
        return "elsewhere"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"kind": "elsewhere"}


Kind: TypeAlias = Vertex | FaceProjection | Elsewhere
