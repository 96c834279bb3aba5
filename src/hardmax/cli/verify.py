"""`hardmax verify`: check a certificate exactly, without the engines."""

from typing import Annotated

import typer

from hardmax._common.files import CERTIFICATE, read_certificate, shown_name
from hardmax._common.validation import InputError
from hardmax.cli.options import AsJson
from hardmax.cli.output import print_json, print_text, progress_bar

REFUSED, UNDECIDED = 1, 3


def verify_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A certificate of `hardmax limit`; - reads stdin.")
    ],
    effort: Annotated[
        float, typer.Option(help="Cost allowed: 10 is ten times the usual time and memory.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Check the proof of a limit.

    Recomputes all its layers in integers. Prints accepted; refused, with the statement that is
    false (exit code 1); or undecided, if the check would cost more than the effort allows (exit
    code 3)."""
    from hardmax.certificate import verify

    if not effort > 0:
        raise InputError(
            f"`--effort` must be above 0, not {effort}: 10 allows ten times the usual cost."
        )
    certificate = read_certificate(file, effort)
    with progress_bar("layers"):
        verdict = verify(certificate, effort=effort)
    if verdict.reason.startswith("version"):
        found = f"format {certificate['format']!r:.60}, version {certificate.get('version')!r:.60}"
        raise InputError(
            f"{shown_name(file)} has {found}, which this version cannot read: {CERTIFICATE}."
        )
    if as_json:
        print_json(
            {"accepted": verdict.accepted, "decided": verdict.decided, "reason": verdict.reason}
        )
    else:
        outcome = "refused" if verdict.decided else "undecided"
        print_text(f"{'accepted' if verdict else outcome}: {verdict.reason}")
    if not verdict:
        raise typer.Exit(REFUSED if verdict.decided else UNDECIDED)
