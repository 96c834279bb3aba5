"""`hardmax verify`: check a certificate, exactly and without the engines."""

import sys
from typing import Annotated, Any

import typer

from hardmax.cli.options import AsJson, read_number
from hardmax.cli.output import print_json, print_text
from hardmax.errors import InputError
from hardmax.tokens.reading import parse_json, read_bytes, shown_name

WISH = "expected what `hardmax limit --certificate` writes"
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
    certificate = _read(file, allowed)
    verdict = verify(certificate, effort=allowed)
    if verdict.reason.startswith("version"):
        came = f"format {certificate['format']!r:.60}, version {certificate.get('version')!r:.60}"
        raise InputError(f"{shown_name(file)} has {came}, which this hardmax does not know: {WISH}.")
    if as_json:
        print_json({"accepted": verdict.accepted, "decided": verdict.decided, "reason": verdict.reason})
    else:
        print_text(f"{'accepted' if verdict else 'refused' if verdict.decided else 'undecided'}: {verdict.reason}")
    if not verdict:
        raise typer.Exit(REFUSED if verdict.decided else UNDECIDED)


def _read(file: str, effort: float) -> dict[str, Any]:
    from hardmax.certificate import FILE_SIZE

    if not effort > 0:
        raise InputError(f"`--effort` must be above 0, not {effort}: 10 allows ten times the usual cost.")
    size = int(min(FILE_SIZE * max(1, effort), sys.maxsize - 1))
    data = read_bytes(file, WISH, at_most=size, way_out=" (a larger `--effort` reads more)")
    certificate = parse_json(data, shown_name(file), WISH)
    if not isinstance(certificate, dict) or "format" not in certificate:
        raise InputError(f"{shown_name(file)} is JSON, but no certificate: {WISH}.")
    return certificate
