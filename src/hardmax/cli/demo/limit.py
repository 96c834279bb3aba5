"""The second half of `hardmax demo`: infinitely many layers, the proof, and what becomes of a forged one."""

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax.cli.reports.limit import show
from hardmax.cli.reports.phrases import say

if TYPE_CHECKING:
    from hardmax.limits import Limit

STORY = (
    "After infinitely many layers, exactly: every leader keeps its vertex, its followers end there, and tokens 4 and 5 "
    "end where an edge comes nearest to the origin."
)


def tell_limit(lim: "Limit", forged_token: int, folder: Path) -> list[Path]:
    """Shows the limit, has its certificate checked, and draws it; gives back what it wrote."""
    from hardmax.certificate import verify
    from hardmax.figures.limits import limit_figure
    from hardmax.figures.style import save_figure

    print()
    say(STORY)
    print()
    show(lim)
    proof, picture = folder / "certificate.json", folder / "limit.png"
    lim.certificate.save(proof)
    written = json.loads(proof.read_bytes())
    say(f"The proof, checked from the file without the engines: {_told(verify(written))}.")
    forged = verify(_forged(written, forged_token))
    say(f"The same with token {forged_token} sent to a vertex, as floats did: {_told(forged)}.")
    save_figure(limit_figure(lim), picture)
    return [proof, picture]


def _forged(certificate: dict[str, Any], token: int) -> dict[str, Any]:
    """The certificate with one limit moved to an end of its face, and a digest to match: a careful forger's."""
    from hardmax._certify import digest

    changed = copy.deepcopy(certificate)
    changed.pop("sha256")
    changed["limits"][token] = {"vertex": changed["limits"][token]["face"][-1]}
    return changed | {"sha256": digest(changed)}


def _told(verdict: Any) -> str:
    return f"{'accepted' if verdict else 'refused'} ({verdict.reason})"
