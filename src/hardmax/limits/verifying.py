"""`verify`: check the certificate of a limit, given as data, as a file or as the limit itself."""

import math
from pathlib import Path
from typing import Any

from hardmax import certificate as checker
from hardmax.certificate import Verdict
from hardmax.checking import file_path, real_number, short
from hardmax.errors import InputError
from hardmax.limits.result import Limit
from hardmax.tokens.reading import read_certificate


def verify(certificate: "dict[str, Any] | str | Path | Limit", *, effort: float = 1) -> Verdict:
    """Accept a certificate if all of it is true, else refuse it, or give up at `effort` times the usual cost.

    It is plain data, as `Limit.certificate` or `json.loads` gives it, the path of a JSON file, or a `Limit`. What does
    the work is `hardmax.certificate.verify`, which stands alone and shares no code with what it checks.

    >>> from hardmax import Dynamics, limit
    >>> bool(verify(limit([[3.0], [-1.0], [1.0]], Dynamics(1))))
    True
    """
    boundless = isinstance(effort, float) and effort == math.inf
    effort = effort if boundless else real_number(effort, "`effort`", above=0)
    if isinstance(certificate, Limit):
        certificate = certificate.certificate
    elif isinstance(certificate, str | Path):
        certificate = read_certificate(file_path(certificate), effort)
    if not isinstance(certificate, dict):
        came = short(certificate)
        raise InputError(
            f"`certificate` must be what `Limit.certificate` gives, a file with it or a Limit, not {came}."
        )
    return checker.verify(certificate, effort=effort)
