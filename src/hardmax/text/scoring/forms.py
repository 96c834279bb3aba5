"""What a file of a table is, by the end of its name: Parquet, CSV or JSON lines, packed or not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from hardmax._validation import InputError

Kind: TypeAlias = Literal["parquet", "csv", "json lines"]
Packing: TypeAlias = Literal["", "gzip", "zstd"]

KINDS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
PACKINGS: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}
WISH = f"expected {', '.join(KINDS)}, all but the first also with .gz or .zst after it"


@dataclass(frozen=True)
class Form:
    """How a table is written."""

    kind: Kind
    packing: Packing = ""
    tabs: bool = False  # between the cells of CSV; else commas, or what the header has


def form_of(path: Path) -> Form | None:
    """The form that the name of a file tells; None for other files.

    >>> form_of(Path("reviews.csv.gz"))
    Form(kind='csv', packing='gzip', tabs=False)
    """
    packing = PACKINGS.get(path.suffix.lower(), "")
    suffix = (path.with_suffix("") if packing else path).suffix.lower()
    if suffix not in KINDS or (packing and KINDS[suffix] == "parquet"):
        return None
    return Form(KINDS[suffix], packing, suffix == ".tsv")


def asked_form(path: Path, name: str) -> Form:
    """The form of a file, or one line about what is wrong with its name."""
    form = form_of(path)
    if form is None:
        raise InputError(f"{name} `{path}` has an unknown suffix: {WISH}.", argument=name)
    return form


_PACKED: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def packing_of(start: bytes) -> Packing:
    """How what begins with these bytes is packed: what comes on standard input has no name to tell it."""
    for mark, packing in _PACKED.items():
        if start.startswith(mark):
            return packing
    return ""


def sniffed(start: bytes, packing: Packing) -> Form:
    """The form of what, once unpacked, begins with these bytes.

    >>> sniffed(b'{"text": "good"}', "").kind, sniffed(b"text,stars", "").kind
    ('json lines', 'csv')
    """
    if start.startswith(b"PAR1"):
        return Form("parquet")
    is_json = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return Form("json lines" if is_json else "csv", packing)
