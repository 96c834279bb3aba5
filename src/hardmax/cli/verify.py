"""`hardmax verify`: check a certificate, exactly and without the engines."""

from typing import Annotated

import typer

from hardmax.cli.options import AsJson
from hardmax.cli.output import print_json
from hardmax.errors import InputError

WISH = "expected what `hardmax limit --certificate` writes"


def verify_command(
    file: Annotated[str, typer.Argument(help="A certificate that `hardmax limit` wrote; - is standard input.")],
    as_json: AsJson = False,
) -> None:
    """Check the proof of a limit.

    Walks all its layers again in integers. Says accepted, or refused and which statement is false (exit code 1).
    """
    from hardmax.certificate import FILE_SIZE, verify
    from hardmax.tokens.reading import read_json, shown_name

    name, certificate = shown_name(file), read_json(file, WISH, at_most=FILE_SIZE)
    if not isinstance(certificate, dict) or "format" not in certificate:
        raise InputError(f"{name} is JSON, but no certificate: {WISH}.")
    verdict = verify(certificate)
    if verdict.reason.startswith("version"):
        came = f"format {certificate['format']!r}, version {certificate.get('version')!r}"
        raise InputError(f"{name} has {came}, which this hardmax does not know: {WISH}.")
    if as_json:
        print_json({"accepted": verdict.accepted, "reason": verdict.reason})
    else:
        print(f"{'accepted' if verdict else 'refused'}: {verdict.reason}")
    if not verdict:
        raise typer.Exit(1)
