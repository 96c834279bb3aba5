"""Runs as files: an `.npz` with arrays, and a JSON header for the rest.

A run follows from its starting points, so a file has these, and the run is computed again when it
is read: what a file claims need not be true. The last layer is there for others. Fractions are in
the header.
"""

import io
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.validation import InputError
from hardmax._tokens.batches import Layout, PackedClouds, Ragged
from hardmax.dynamics import Dynamics

_FORMAT, _PARTS = "hardmax-run-3", ("alpha", "metric", "value", "mask", "attention", "heads")
_PARTS += ("normalise", "feed_forward")


@dataclass(kw_only=True, eq=False)
class RunFile:
    """What a file has of a run, or of the runs of a batch."""

    dynamics: Dynamics
    arithmetic: str | float
    """Its name, or the slack of a `TieSlack`."""
    layout: Layout
    starts: PackedClouds
    last: np.ndarray | None = None
    """Tokens of all clouds at the last layer."""
    runs: list[Any] | None = None
    """For each run its recorded layers and why it stopped; or else:"""
    together: list[Any] | None = None
    """How one kernel ran all clouds: its last layer, whether to stop when settled, and the distance
    between recorded layers (None: the last only)."""

    def write(self, path: Path, also: str = "") -> None:
        """Write the file, completely or not at all; `also` names other suffixes for the error."""
        if path.suffix.lower() != ".npz":
            came = path.suffix or "nothing"
            raise InputError(f"`path` must end in .npz{also}, not {came!r}.")
        header: dict[str, Any] = self.dynamics.to_dict() | {
            "format": _FORMAT,
            "layout": self.layout.name,
            "arithmetic": self.arithmetic,
        }
        how = "runs" if self.together is None else "together"
        header[how] = getattr(self, how)
        arrays: dict[str, Any] = {"tokens": self.last}
        tokens = self.starts.tokens
        if tokens.dtype == object:
            header["starts"] = [[str(Fraction(value)) for value in row] for row in tokens]
        else:
            arrays["starts"] = tokens
        if self.layout is not Layout.CLOUD:
            arrays["offsets"] = self.starts.offsets
        if self.starts.multiplicities is not None:
            arrays["multiplicities"] = self.starts.multiplicities
        packed = np.frombuffer(json.dumps(header).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, header=packed, allow_pickle=False, **arrays)
        write_whole(path, buffer.getvalue())

    @classmethod
    def parse(cls, arrays: dict[str, np.ndarray]) -> "RunFile":
        """What the arrays of a file say; they may be wrong in any way, and raise any error."""
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != _FORMAT:
            raise ValueError("of another version")
        layout = Layout[header["layout"]]
        starts = header.get("starts", arrays.get("starts"))
        offsets = [0, len(starts)] if layout is Layout.CLOUD else arrays["offsets"]
        # `Ragged` refuses what no clouds can be made of.
        given = Ragged(starts, offsets, arrays.get("multiplicities"))
        parts: dict[str, Any] = {key: header.get(key) for key in _PARTS}
        return cls(
            dynamics=Dynamics(**parts),
            arithmetic=header["arithmetic"],
            layout=layout,
            starts=PackedClouds(given.tokens, given.offsets, given.multiplicities),
            runs=header["runs"] if "together" not in header else None,
            together=header.get("together"),
        )
