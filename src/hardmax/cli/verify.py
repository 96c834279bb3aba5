"""`hardmax verify`: check a certificate exactly, without the engines."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from hardmax._common.files import CERTIFICATE, read_certificate, shown_name
from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_text, progress_bar

REFUSED, UNDECIDED = 1, 3


def verify_command(
    file: Annotated[
        str, Argument(metavar="FILE", help="A certificate of `hardmax limit`; - reads stdin.")
    ],
    of: Annotated[
        str | None, Option(metavar="FILE", help="The cloud that it must be about.")
    ] = None,
    alpha: opt.Alpha = None,
    steps: opt.Steps = None,
    metric: opt.Metric = None,
    value: opt.Value = None,
    mask: opt.Mask = None,
    attention: opt.Attention = None,
    effort: Annotated[
        float, Option(help="Cost allowed: 10 is ten times the usual time and memory.")
    ] = 1.0,
    as_json: opt.AsJson = False,
) -> None:
    """Check the proof of a limit.

    Recomputes its layers in integers. Prints accepted, with what was proved; refused, with the
    statement that is false (exit code 1); or undecided, if the check would cost more than the
    effort allows (exit code 3). With --of, or --alpha and other parts of a layer, a certificate
    of another cloud or layer is refused."""
    from hardmax.infinite_depth import verify_document

    if not effort > 0:
        raise InputError(
            f"`--effort` must be above 0, not {effort}: 10 allows ten times the usual cost."
        )
    layer = {"steps": steps, "value": value, "mask": mask, "attention": attention}
    dynamics = None
    if any(part is not None for part in (alpha, metric, *layer.values())):
        dynamics = opt.read_dynamics(alpha, metric, **layer)
    certificate = read_certificate(file, effort)
    with progress_bar("layers"):
        verdict = verify_document(
            certificate, Path(file).parent, of=of, dynamics=dynamics, effort=effort
        )
    if verdict.reason.startswith("version"):
        found = f"format {certificate['format']!r:.60}, version {certificate.get('version')!r:.60}"
        raise InputError(
            f"{shown_name(file)} has {found}, which this version cannot read: {CERTIFICATE}."
        )
    if verdict.reason.startswith("unreadable"):
        wish = "keep the file with the cloud beside it"
        raise InputError(f"{shown_name(file)} was not checked, {verdict.reason}: {wish}.")
    if as_json:
        facts = {"proved": dict(verdict.facts)} if verdict else {}
        told = {"accepted": verdict.accepted, "decided": verdict.decided, "reason": verdict.reason}
        print_json(told | facts)
    else:
        outcome = "refused" if verdict.decided else "undecided"
        first = f"{'accepted' if verdict else outcome}: {verdict.reason}"
        print_text("\n".join([first, *verdict.sentences()]))
    if not verdict:
        raise Exit(REFUSED if verdict.decided else UNDECIDED)
