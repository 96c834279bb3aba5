"""Values of options that are more than a number: sizes of memory, layers to record, when to stop."""

import re
from typing import TYPE_CHECKING

from hardmax.errors import InputError

if TYPE_CHECKING:
    from hardmax.runs.records import Record
    from hardmax.runs.stops import Stop

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def read_size(text: str) -> int:
    """Bytes.

    >>> read_size("4GB"), read_size("1.5 MiB")
    (4000000000, 1572864)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([a-z]*)", text.strip().lower())
    if found is None or found[2] not in UNITS or float(found[1]) == 0:
        raise InputError(f"`--memory-limit` must be a size such as 4GB or 500MB, not {text!r}.")
    return int(float(found[1]) * UNITS[found[2]])


def read_record(text: str) -> "Record":
    """`all`, `last`, or a number m: every m-th layer."""
    from hardmax.runs.records import Every, LastOnly

    if text == "all":
        return Every(1)
    if text == "last":
        return LastOnly()
    if not re.fullmatch("0*[1-9][0-9]{0,17}", text):
        raise InputError(f"`--record` must be all, last, or a number m for every m-th layer, not {text!r}.")
    return Every(int(text))


def read_stop(layers: int | None, until_settled: bool) -> "Stop":
    """The one of the two that was asked for."""
    from hardmax.runs.stops import AfterLayers, Settled

    if (layers is not None) == until_settled:
        came = "both came" if until_settled else "neither came"
        raise InputError(f"give either `--layers` (such as --layers 30) or `--until-settled`: {came}.")
    return AfterLayers(layers) if layers is not None else Settled()
