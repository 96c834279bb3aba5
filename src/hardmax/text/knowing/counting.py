"""How many leaders texts have. A leader attends to itself alone; a word that is said twice is one point."""

from typing import Any, NamedTuple

import numpy as np

from hardmax.text.model.analysis import Analysis


class Counted(NamedTuple):
    """For each text how many lead at a layer, and how many of these led at layer 0."""

    leaders: np.ndarray
    from_start: np.ndarray

    @property
    def share_from_start(self) -> float:
        """The mean over texts of the share of the leaders that lead since layer 0; texts without any have none."""
        some = self.leaders > 0
        return float((self.from_start[some] / self.leaders[some]).mean()) if some.any() else 0.0

    def document(self, how: str, layer: int) -> dict[str, Any]:
        """The same as plain data: how many texts have `fewest` leaders, how many one more, and so on."""
        fewest = int(self.leaders.min())
        return {
            "how": how,
            "layer": layer,
            "fewest": fewest,
            "reviews": np.bincount(self.leaders - fewest).tolist(),
            "share_from_start": round(self.share_from_start, 6),
        }


def count_leaders(found: Analysis, without: int | None = None) -> Counted:
    """Those who attend to themselves alone after the last layer; the word of the number `without` is not counted."""
    counts = found.leader_since >= 0
    if without is not None:
        counts &= found.ids != without
    return Counted(_sums(counts, found.offsets), _sums(counts & (found.leader_since == 0), found.offsets))


def _sums(which: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0], np.cumsum(which)])
    return total[offsets[1:]] - total[offsets[:-1]]
