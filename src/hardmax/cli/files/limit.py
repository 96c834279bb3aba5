"""What `hardmax limit` writes: limits (`-o`), a proof (`--certificate`), a picture. Nothing, unless all can be made."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax._validation import InputError
from hardmax.cli.options import check_picture, check_target

if TYPE_CHECKING:
    from hardmax.limits import Limit, Limits
    from hardmax.theorem import TheoremReport


@dataclass(frozen=True)
class Targets:
    """The files that were asked for."""

    certificate: Annotated[str | None, typer.Option(help="Write a proof to a .json file, for `hardmax verify`.")] = None
    picture: Annotated[str | None, typer.Option(help="Draw the limit to a .png, .svg or .pdf file.")] = None
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the limits to a .csv, .json or .npz file.")
    ] = None

    def check(self) -> None:
        """Refuses before the work what could not be written after it."""
        for path, option, suffixes in (
            (self.output, "--output", (".csv", ".json", ".npz")),
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

    def write(self, result: "Limit | Limits", reports: "Sequence[TheoremReport] | None") -> list[str]:
        """Makes everything, then writes it; gives back where."""
        from hardmax._files import write_whole
        from hardmax.cli.reports.limit import document
        from hardmax.limits import Limit

        contents: dict[str, bytes] = {}
        arrays = self.output is not None and Path(self.output).suffix == ".npz"
        if self.output is not None and Path(self.output).suffix == ".csv":
            contents[self.output] = _csv(result).encode()
        elif self.output is not None and not arrays:
            written = json.dumps(document(result, reports), ensure_ascii=False, allow_nan=False)
            contents[self.output] = f"{written}\n".encode()
        if isinstance(result, Limit) and self.certificate is not None:
            contents[self.certificate] = result.certificate.to_json().encode()
        if isinstance(result, Limit) and self.picture is not None:
            contents[self.picture] = _picture(result, self.picture)
        for path, data in contents.items():
            write_whole(path, data)
        if not arrays:
            return list(contents)
        (result.run if isinstance(result, Limit) else result.runs).save(str(self.output))
        return [str(self.output), *contents]


def _csv(result: "Limit | Limits") -> str:
    """A line for each token: where it ends, in which cluster, and since when it leads, if it does."""
    from hardmax.cli.reports.limit import limits_of
    from hardmax.limits import Limit

    limits, many = limits_of(result), not isinstance(result, Limit)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    coordinates = [f"z{number}" for number in range(limits[0].run.d)]
    rows.writerow([*["cloud"] * many, "token", *coordinates, "cluster", "kind", "leader since"])
    for number, lim in enumerate(limits):
        since = dict(zip(lim.leaders.tolist(), lim.run.leader_layers.tolist(), strict=True))
        labels = lim.clusters.labels.tolist()
        for token, (row, label) in enumerate(zip(lim.float_points.tolist(), labels, strict=True)):
            place = [*[number] * many, token, *map(repr, row)]
            rows.writerow([*place, label, lim.clusters.kinds[label], since.get(token, "")])
    return text.getvalue()


def _picture(lim: "Limit", path: str) -> bytes:
    from hardmax.figures.limits import limit_figure
    from hardmax.figures.style import figure_bytes

    return figure_bytes(limit_figure(lim), path)
