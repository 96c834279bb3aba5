"""`hardmax verify`: check a certificate, exactly and without the engines."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

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
    from hardmax.certificate import verify

    name = "standard input" if file == "-" else f"`{file}`"
    certificate = _parsed(_read(file, name), name)
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


def _read(file: str, name: str) -> bytes:
    """The file, or standard input; never more than a checker would begin with."""
    from hardmax.certificate import FILE_SIZE

    try:
        if file == "-":
            data = sys.stdin.buffer.read(FILE_SIZE + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(FILE_SIZE + 1)
    except FileNotFoundError:
        raise InputError(f"{name} does not exist: expected a certificate, or `-` for standard input.") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: expected a certificate.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {(error.strerror or type(error).__name__).lower()}.") from None
    if len(data) > FILE_SIZE:
        raise InputError(f"{name} is larger than {FILE_SIZE // 2**20} MiB, the most that is checked.")
    return data


def _parsed(data: bytes, name: str) -> Any:
    if not data.strip():
        raise InputError(f"{name} is empty: {WISH}.")
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        what = "breaks off" if cut_off else "is not JSON"
        raise InputError(f"{name} {what} (line {error.lineno}, column {error.colno}: {error.msg}): {WISH}.") from None
    except RecursionError:
        raise InputError(f"{name} is nested too deeply: {WISH}.") from None
    except ValueError:  # bytes that are no text, numbers of thousands of digits
        raise InputError(f"{name} is not JSON that can be read: {WISH}.") from None
