"""`hardmax verify`: check a certificate, exactly and without the engines."""

from typing import Annotated

import typer

from hardmax._files import CERTIFICATE, read_certificate, shown_name
from hardmax._validation import InputError
from hardmax.cli.options import AsJson, read_number
from hardmax.cli.output import print_json, print_text, progress_bar

REFUSED, UNDECIDED = 1, 3

Effort = Annotated[str, typer.Option(help="What the check may cost: 10 is ten times the usual seconds and memory.")]


def verify_command(
    file: Annotated[str, typer.Argument(help="A certificate that `hardmax limit` wrote; - is standard input.")],
    effort: Effort = "1",
    as_json: AsJson = False,
) -> None:
    """Check the proof of a limit.

    Walks all its layers again in integers. Says accepted, refused and which statement is false (exit code 1), or
    undecided if that would cost more than the effort allows (exit code 3).
    """
    from hardmax.certificate import verify

    allowed = read_number(effort, "--effort")
    if not allowed > 0:
        raise InputError(f"`--effort` must be above 0, not {allowed}: 10 allows ten times the usual cost.")
    certificate = read_certificate(file, allowed)
    with progress_bar("layers"):
        verdict = verify(certificate, effort=allowed)
    if verdict.reason.startswith("version"):
        came = f"format {certificate['format']!r:.60}, version {certificate.get('version')!r:.60}"
        raise InputError(f"{shown_name(file)} has {came}, which this hardmax does not know: {CERTIFICATE}.")
    if as_json:
        print_json({"accepted": verdict.accepted, "decided": verdict.decided, "reason": verdict.reason})
    else:
        print_text(f"{'accepted' if verdict else 'refused' if verdict.decided else 'undecided'}: {verdict.reason}")
    if not verdict:
        raise typer.Exit(REFUSED if verdict.decided else UNDECIDED)
