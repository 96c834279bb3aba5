"""A stretch of layers during which no attended set changes.

While the attended sets stay as they are and their means stand still, every token goes straight to its target:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).

With m = 1 this is the definition of a layer, whether the targets stand still or not. So one formula serves a
single layer, the layers up to the next event, and all layers for ever once the cloud has settled.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardmax.attended_sets import Choices


@dataclass(frozen=True, eq=False, kw_only=True)
class Stretch:
    """Layers `layer <= k < until` (for ever, if `until` is None) and who attends to whom in them."""

    layer: int
    until: int | None
    choices: Choices
    is_leader: np.ndarray
    margin: float
    keep: Fraction
    decided_by: str = "integers"  # or the name of the search in floats

    def covers(self, layer: int) -> bool:
        """Whether the closed form gives the tokens at this layer: up to and including `until`."""
        return self.layer <= layer and (self.until is None or layer <= self.until)
