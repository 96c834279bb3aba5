"""What `hardmax limit` writes: limits (`-o`), a proof (`--certificate`), a picture. Nothing, unless all can be made.

`.csv` has a line for each token, `.json` what `--json` prints, `.npz` arrays: `points`, `labels` (the cluster of each
token), `leaders`, `leader_layers`, `settled_at` (-1 if not settled); for many clouds also `offsets`, `leader_offsets`.
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax.cli.options import check_picture, check_target
from hardmax.errors import InputError

if TYPE_CHECKING:
    from hardmax.limits.result import Limit
    from hardmax.limits.theorem import TheoremReport

SUFFIXES = (".csv", ".json", ".npz")


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The files that were asked for."""

    output: str | None
    certificate: str | None
    picture: str | None

    def check(self) -> None:
        """Refuses before the work what could not be written after it."""
        for path, option, suffixes in (
            (self.output, "--output", SUFFIXES),
            (self.certificate, "--certificate", (".json",)),
        ):
            if path is not None:
                check_target(path, option, suffixes)
        if self.picture is not None:
            check_picture(self.picture, "--picture")

    def check_fit(self, tokens: Any) -> None:
        """A proof or a picture is of one cloud."""
        if getattr(tokens, "ndim", None) == 2:
            return
        for path, option in ((self.certificate, "--certificate"), (self.picture, "--picture")):
            if path is not None:
                raise InputError(f"`{option}` is for one cloud, but there are {len(tokens)}: give them one by one.")

    def write(self, result: "Limit | Sequence[Limit]", reports: "Sequence[TheoremReport] | None") -> list[str]:
        """Makes everything, then writes it; gives back where."""
        from hardmax.limits.result import Limit
        from hardmax.tokens.files import write_whole

        contents: dict[str, bytes] = {}
        if self.output is not None:
            contents[self.output] = _limits(result, reports, Path(self.output).suffix)
        if isinstance(result, Limit) and self.certificate is not None:
            contents[self.certificate] = certificate_bytes(result.certificate)
        if isinstance(result, Limit) and self.picture is not None:
            contents[self.picture] = _picture(result, self.picture)
        for path, data in contents.items():
            write_whole(path, data)
        return list(contents)


def certificate_bytes(certificate: dict[str, Any]) -> bytes:
    """A certificate as JSON, a line for each of its keys."""
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in certificate.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _picture(lim: "Limit", path: str) -> bytes:
    from hardmax.figures.limit_figure import limit_figure
    from hardmax.figures.style import figure_bytes

    return figure_bytes(limit_figure(lim), path)


def _limits(result: "Limit | Sequence[Limit]", reports: "Sequence[TheoremReport] | None", suffix: str) -> bytes:
    from hardmax.cli.reports.limit import document

    if suffix == ".csv":
        return _csv(result).encode()
    if suffix == ".json":
        return (json.dumps(document(result, reports), ensure_ascii=False, allow_nan=False) + "\n").encode()
    return _npz(result)


def _csv(result: "Limit | Sequence[Limit]") -> str:
    from hardmax.limits.finding import limits_of
    from hardmax.limits.result import Limit

    many, limits = not isinstance(result, Limit), limits_of(result)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    coordinates = [f"z{number}" for number in range(limits[0].run.d)]
    rows.writerow([*["cloud"] * many, "token", *coordinates, "cluster", "kind", "leader since"])
    for number, lim in enumerate(limits):
        since = dict(zip(lim.leaders.tolist(), lim.leader_layers.tolist(), strict=True))
        labels = lim.clusters.labels.tolist()
        for token, (row, label) in enumerate(zip(lim.points.tolist(), labels, strict=True)):
            place = [*[number] * many, token, *map(repr, row)]
            rows.writerow([*place, label, lim.clusters.kinds[label], since.get(token, "")])
    return text.getvalue()


def _npz(result: "Limit | Sequence[Limit]") -> bytes:
    import numpy as np

    from hardmax.limits.finding import limits_of
    from hardmax.limits.result import Limit

    limits = limits_of(result)
    settled = [-1 if lim.settled_at is None else lim.settled_at for lim in limits]
    arrays: dict[str, Any] = {
        "points": np.concatenate([lim.points for lim in limits]),
        "labels": np.concatenate([lim.clusters.labels for lim in limits]),
        "leaders": np.concatenate([lim.leaders for lim in limits]),
        "leader_layers": np.concatenate([lim.leader_layers for lim in limits]),
        "settled_at": np.array(settled[0] if isinstance(result, Limit) else settled),
    }
    if not isinstance(result, Limit):
        arrays["offsets"] = np.cumsum([0, *(lim.run.n for lim in limits)])
        arrays["leader_offsets"] = np.cumsum([0, *(len(lim.leaders) for lim in limits)])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()
