"""Clouds from files, exactly: CSV, JSON, npy, npz and Parquet; files written whole or not at all.

Bytes, text and JSON from a file or standard input, and one clear line for whatever is wrong with them.

`wish` is what the line says was expected; it ends the line. Nothing here needs numpy, so that a command that only reads
does not wait for it.

Arrays from the bytes of npy and npz files. Pickles, which could run code, are never opened; and a small file cannot
ask for large memory: what an array or an archive says of its size is looked at before any of it is unpacked.

Columns of written numbers into an array: fast where they are plain decimals, exact always.

A text is what it says: "0.1" is 1/10. Where float64 holds every number of the column without rounding, floats come
back, the same numbers and cheaper; otherwise Fractions.

Numbers in columns of text: CSV, TSV, or separated by spaces.

Cells may be quoted, as CSV has it: what is between quotes is one cell. A comma inside of one is refused: `"1,234"` is
1.234 to some and 1234 to others, and nobody but the writer knows.

Clouds from files, and results into files: whole or not at all.

A text file says decimals, so its numbers are read as the decimals they are written as: `0.1` is 1/10, not the
nearest binary fraction. npy and npz files hold floats, and those are what they are.
"""

import csv
import errno
import gc
import io
import json
import math
import os
import re
import secrets
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import repeat
from math import prod
from operator import eq, ne
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.lib import format as npy

from hardmax._tokens.batches import Ragged
from hardmax._validation import InputError, check_path, check_str, shorten
from hardmax.certificate import FILE_SIZE

CERTIFICATE = "expected what `hardmax limit --certificate` writes"
UNPACKED_LIMIT = "HARDMAX_UNPACKED_LIMIT"
# What can stand where a document breaks off: the beginning of a word, of a number, or of an escaped character.
_UNFINISHED = re.compile(
    r"t(r(ue?)?)?|f(a(l(se?)?)?)?|n(u(ll?)?)?|N(aN?)?|-?(I[nfity]{0,7})?|\.|(\.\d+)?[eE][-+]?|u[0-9a-fA-F]{0,4}"
)


class _RepeatedKey(Exception):
    """Two values for one key: which of them is meant, the file does not say."""


def shown_name(path: str | Path) -> str:
    """How errors speak of a file; the text `-` is standard input.

    >>> shown_name("points.csv"), shown_name("-")
    ('`points.csv`', 'standard input')
    """
    return "standard input" if path == "-" else f"`{path}`"


def reason(error: OSError) -> str:
    """Why the system refused, in its own words, ready to stand inside a line."""
    return (error.strerror or type(error).__name__).lower()


def read_bytes(path: str | Path, wish: str, *, at_most: int | None = None, way_out: str = "") -> bytes:
    """All that is in a file, or on standard input for `-`; nothing beyond `at_most` bytes is read.

    `way_out` tells those who have a larger file what lets more be read.
    """
    name, size = shown_name(path), -1 if at_most is None else at_most + 1
    try:
        if path == "-":
            data = sys.stdin.buffer.read(size)
        else:
            with Path(path).open("rb") as stream:
                data = stream.read(size)
    except FileNotFoundError:
        raise InputError(f"{name} does not exist: {wish}.") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: {wish}.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {reason(error)}.") from None
    if at_most is not None and len(data) > at_most:
        raise InputError(f"{name} is larger than {_size(at_most)}, the most that is read{way_out}: {wish}.")
    return data


def check_unpacked(size: int, stored: int, name: str) -> None:
    """Refuses what would be far larger in memory than in its file: more than 256 MiB, and 100 times its size there.

    The environment variable HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    at_most = _unpacked_limit(stored)
    if size > at_most:
        more = f"{UNPACKED_LIMIT}={size} allows it"
        raise InputError(f"{name} unpacks to {_size(size)}, and at most {_size(at_most)} is read of it: {more}.")


def _unpacked_limit(stored: int) -> int:
    said = os.environ.get(UNPACKED_LIMIT, "")
    if said and not (said.isascii() and said.isdigit() and len(said) < 20):
        raise InputError(f"{UNPACKED_LIMIT} must be a number of bytes, not {said!r:.60}.")
    return int(said) if said else max(256 * 2**20, 100 * stored)


def decode(data: bytes, name: str, wish: str) -> str:
    """The text that the bytes are in UTF-8, without the mark of byte order that some programs put first."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is 0x{data[error.start]:02x}"
        raise InputError(f"{name} is not UTF-8 text ({place}): {wish}.") from None


def read_json(path: str | Path, wish: str, *, at_most: int | None = None) -> Any:
    """What the JSON in a file, or on standard input for `-`, says."""
    return parse_json(read_bytes(path, wish, at_most=at_most), shown_name(path), wish)


def read_certificate(path: str | Path, effort: float) -> dict[str, Any]:
    """The certificate of a limit in a file, or on standard input for `-`; a larger effort reads larger files."""
    size = int(min(FILE_SIZE * max(1, effort), sys.maxsize - 1))
    data = read_bytes(path, CERTIFICATE, at_most=size, way_out=" (more with a larger `effort=` or `--effort`)")
    certificate = parse_json(data, shown_name(path), CERTIFICATE)
    if not isinstance(certificate, dict) or "format" not in certificate:
        raise InputError(f"{shown_name(path)} is JSON, but no certificate: {CERTIFICATE}.")
    return certificate


def parse_json(
    data: bytes, name: str, wish: str, *, object_hook: Callable[[dict[str, Any]], Any] = dict, **hooks: Any
) -> Any:
    """What the JSON in `data` says; hooks are those of `json.loads`. No object may have a key twice.

    >>> parse_json(b'{"alpha": 0.1}', "`run.json`", "expected a run", parse_float=str)
    {'alpha': '0.1'}
    >>> parse_json(b'{"alpha": 0.', "`run.json`", "expected a run")
    Traceback (most recent call last):
    hardmax._validation.InputError: `run.json` breaks off (line 1, column 12: Expecting ',' delimiter): expected a run.
    """

    def said(pairs: list[tuple[str, Any]]) -> Any:
        return object_hook(_once(pairs))

    if not data.strip():
        raise InputError(f"{name} is empty: {wish}.")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=said, **hooks)
    except json.JSONDecodeError as error:
        what = "breaks off" if _breaks_off(error) else "is not JSON"
        complaint = f"{what} (line {error.lineno}, column {error.colno}: {error.msg})"
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        complaint = f"{'breaks off' if cut else 'is not JSON'} (byte {error.start} is 0x{data[error.start]:02x})"
    except _RepeatedKey as error:
        complaint = f"has the key {error.args[0]!r:.60} twice in one object"
    except RecursionError:
        complaint = "is nested too deeply"
    except ValueError as error:
        if "digits" not in str(error):  # what a hook found is for its owner to say
            raise
        complaint = "is not JSON that can be read (a number has too many digits)"
    raise InputError(f"{name} {complaint}: {wish}.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKey(key)
        found[key] = value
    return found


def _breaks_off(error: json.JSONDecodeError) -> bool:
    rest = error.doc[error.pos :].strip()
    return error.msg.startswith("Unterminated string") or _UNFINISHED.fullmatch(rest) is not None


def _size(count: int) -> str:
    return f"{count // 2**20} MiB" if count >= 2**20 else f"{count} bytes"


NPY_MAGIC, ZIP_MAGIC = b"\x93NUMPY", b"PK\x03\x04"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_array(data: bytes, name: str) -> np.ndarray:
    """The array of an npy file; `name` is for errors."""
    if not data.startswith(NPY_MAGIC):
        raise InputError(f"{name} is not an npy file: expected one that numpy.save wrote.")
    try:
        return _array(data, name)
    except InputError:
        raise
    except Exception:  # numpy and tokenize have a dozen names for a broken header
        raise _broken(name, "npy") from None


def read_arrays(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name; `name` is for errors.

    They may unpack to 256 MiB, or to 100 times the size of the file if that is more; the environment variable
    HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    if not data.startswith(ZIP_MAGIC):
        raise InputError(f"{name} is not an npz file: expected one that numpy.savez wrote.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, len(data), name)
            return {member.filename.removesuffix(".npy"): _array(_unpack(archive, member), name) for member in members}
    except InputError:
        raise
    except Exception:  # zipfile, zlib, numpy and tokenize have a dozen names for a broken file
        raise _broken(name, "npz") from None


def _check_members(members: list[zipfile.ZipInfo], stored: int, name: str) -> None:
    # Other ways of packing are unpacked in pieces of any size.
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise InputError(f"{name} is packed in an unusual way: expected an archive that numpy.savez_compressed wrote.")
    if len({member.filename for member in members}) != len(members):
        raise InputError(f"{name} holds two arrays of one name. Save it again.")
    check_unpacked(sum(member.file_size for member in members), stored, name)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as stream:
        # Up to the size that it says, and checked against its sum: who says less than there is, is broken.
        return stream.read(member.file_size + 1)


def _array(data: bytes, name: str) -> np.ndarray:
    stream = io.BytesIO(data)
    shape, is_fortran, dtype = _HEADERS[npy.read_magic(stream)](stream)
    if dtype.hasobject:
        raise InputError(f"{name} holds pickled objects, which could run code: save numbers instead.")
    count, start = prod(shape), stream.tell()
    if count * dtype.itemsize != len(data) - start or min(shape, default=0) < 0:
        raise ValueError("an array of another size than its header says")
    array = np.frombuffer(data, dtype, count, start) if count * dtype.itemsize else np.empty(count, dtype)
    # A copy, since what is read may be written on.
    return array.reshape(shape, order="F" if is_fortran else "C").copy(order="K")


def _broken(name: str, kind: str) -> InputError:
    return InputError(f"{name} is broken: it cannot be read as {kind}. Save it again.")


Place: TypeAlias = Callable[[int], str]  # names the cell of that index in an error

LONGEST_PLAIN = 19  # characters: sign, point and digits whose integer int64 can hold
_PLAIN_MARKS = b"+-.0123456789\n"  # the newline stands between cells
LARGEST_ODD_PART = 2**53  # of a float64 that is a whole number


def read_numbers(cells: Sequence[Any], place: Place) -> np.ndarray:
    """A flat array of the numbers that the cells say: float64 if it holds them all, else Fractions.

    >>> read_numbers(["0.5", "-3"], place=str)
    array([ 0.5, -3. ])
    >>> read_numbers(["0.1", "7/5", "1e-3"], place=str)
    array([Fraction(1, 10), Fraction(7, 5), Fraction(1, 1000)], dtype=object)
    """
    plain = _plain_decimals(cells)
    return _of_plain(*plain) if plain else _of_any(_each_number(cells, place), place)


def is_number(cell: str) -> bool:
    """Whether the text says a number; "nan" and "inf" count, to be refused with a better reason."""
    return _number(cell) is not None


def fractions_array(values: list[Fraction]) -> np.ndarray:
    """An object array of the values."""
    # Left to itself numpy would ask every Fraction whether it is a sequence.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain_decimals(cells: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """Integers and decimal places of cells like -1.25 (-125 and 2); None if some cell is written in another way."""
    if set(map(type, cells)) != {str}:
        return None
    joined = "\n".join(cells)
    # Spaces of any kind would be counted as decimal places, and `int` would read over them.
    if not joined.isascii() or joined.encode().translate(None, _PLAIN_MARKS) or ".-" in joined or ".+" in joined:
        return None
    if joined.count("\n") != len(cells) - 1:
        return None
    points = np.fromiter(map(str.find, cells, repeat(".")), np.int64, len(cells))
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if lengths.max() > LONGEST_PLAIN or joined.count(".") != (points >= 0).sum():
        return None
    try:
        integers = np.array(list(map(int, joined.replace(".", "").split("\n"))), dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return integers, np.where(points < 0, 0, lengths - points - 1)


def _of_plain(integers: np.ndarray, places: np.ndarray) -> np.ndarray:
    # m / 10^p = (m / 5^p) / 2^p is dyadic exactly if 5^p divides m.
    fives = 5**places
    dyadic = integers // fives
    odd_parts = np.abs(dyadic) // np.maximum(dyadic & -dyadic, 1)
    if (dyadic * fives == integers).all() and (odd_parts <= LARGEST_ODD_PART).all():
        return np.ldexp(dyadic.astype(np.float64), -places)
    return fractions_array(list(map(Fraction, integers.tolist(), (10**places).tolist())))


def _of_any(numbers: Sequence[Decimal | Fraction], place: Place) -> np.ndarray:
    floats = np.array(list(map(float, numbers)))
    # A short text such as 1e999999999 has more digits than memory: what float64 loses altogether is refused.
    lost = ~np.isfinite(floats)
    zeros = np.flatnonzero(floats == 0)
    lost[zeros] = [numbers[index] != 0 for index in zeros.tolist()]
    if lost.any():
        index = int(lost.argmax())
        raise InputError(f"{place(index)} is {numbers[index]}: expected 0 or a size between 1e-300 and 1e300.")
    if all(map(eq, map(Decimal, floats.tolist()), numbers)):
        return floats
    return fractions_array([Fraction(*number.as_integer_ratio()) for number in numbers])


def _each_number(cells: Sequence[Any], place: Place) -> Sequence[Decimal | Fraction]:
    try:
        if set(map(type, cells)) == {str}:
            decimals = list(map(Decimal, cells))
            if all(map(Decimal.is_finite, decimals)):
                return decimals
    except InvalidOperation:
        pass  # a quotient, or no number: look at the cells one by one
    numbers = [_number(cell) for cell in cells]
    for index, number in enumerate(numbers):
        if number is None:
            raise InputError(f"{place(index)} is {_shown(cells[index])}: expected a number.{_hint(cells[index])}")
        if isinstance(number, Decimal) and not number.is_finite():
            raise InputError(f"{place(index)} is {cells[index].strip()}: expected a finite number.")
    return [number for number in numbers if number is not None]


def _number(cell: Any) -> Decimal | Fraction | None:
    if not isinstance(cell, str):
        return None
    try:
        if "/" not in cell:
            return Decimal(cell)
        above, _, below = cell.partition("/")
        quotient = Fraction(int(above), int(below))
        return quotient if math.isfinite(quotient) else None
    except (InvalidOperation, ValueError, ZeroDivisionError, OverflowError):
        return None


def _shown(cell: Any) -> str:
    if not isinstance(cell, str):
        return shorten(cell)
    return shorten(cell.strip()) if cell.strip() else "empty"


def _hint(cell: Any) -> str:
    # A cell with half a pair of quotes, or with a tab in it, was cut out between two commas.
    is_cut = isinstance(cell, str) and ("," in cell or "\t" in cell.strip() or cell.count('"') == 1)
    return " Write decimals with a point." if is_cut else ""


# A cell in quotes that need not be there. Without them "1,5" would be two cells and 1"5 would be 15: such quotes stay.
_QUOTED = re.compile(r'(?<![^\s,;])"[ \t]*([^\s",;#]*)[ \t]*"(?![^\s,;])')
_IN_QUOTES = re.compile(r'"[^"]*"')
_BETWEEN_SPACES = re.compile(r'(?:"[^"]*"|\S)+')


def read_columns(text: str, name: str) -> np.ndarray:
    """The table, (n, d), that a text says: float64 if it holds all of its numbers, else Fractions."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if '"' in text:
        text = _QUOTED.sub(r"\1", text)
    lines = text.split("\n")
    if "#" in text:
        lines = [_without_comment(line) for line in lines]
    numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    if numbers and _is_header(lines[numbers[0] - 1], name):
        del numbers[0]
    if not numbers:
        raise InputError(f"{name} holds no tokens: expected one per line, its coordinates separated by commas.")
    lines = [lines[number - 1] for number in numbers]

    delimiter = _delimiter(lines[0])
    if '"' in text and any('"' in line for line in lines):
        rows = [_cells(line, delimiter) for line in lines]
        widths, cells = list(map(len, rows)), [cell for row in rows for cell in row]
    else:
        widths = [line.count(delimiter) + 1 for line in lines] if delimiter else [len(line.split()) for line in lines]
        cells = (delimiter or " ").join(lines).split(delimiter)
    return _read_table(cells, widths, numbers, name)


def _read_table(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int], name: str) -> np.ndarray:
    width = widths[0]
    for number, found in zip(numbers, widths, strict=True):
        if found != width:
            plural = "column" if found == 1 else "columns"
            raise InputError(f"{name} line {number} has {found} {plural}: expected {width} as on line {numbers[0]}.")

    def place(cell: int) -> str:
        return f"{name} line {numbers[cell // width]}, column {cell % width + 1} (token {cell // width})"

    return read_numbers(cells, place).reshape(len(widths), width)


def _is_header(line: str, name: str) -> bool:
    cells = _cells(line, _delimiter(line))
    if any(is_number(cell) for cell in cells) or not any(mark.isalpha() for mark in line):
        return False
    # A table saved with its row numbers has a nameless first column: as a coordinate it would ruin the cloud.
    if len(cells) > 1 and not cells[0].strip():
        raise InputError(f"{name} has no name over column 1, which looks like row numbers: save it without them.")
    return True


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return [_unquoted(cell) for cell in _BETWEEN_SPACES.findall(line)]
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return line.split(delimiter)  # of which one has a quote too many, and is no number


def _unquoted(cell: str) -> str:
    return cell[1:-1] if _IN_QUOTES.fullmatch(cell) else cell


def _delimiter(line: str) -> str | None:
    # The semicolon first: where it separates, a comma may be somebody's decimal point.
    outside = _IN_QUOTES.sub("", line) if '"' in line else line
    return next((mark for mark in (";", ",", "\t") if mark in outside), None)


def _without_comment(line: str) -> str:
    if '"' not in line:
        return line.partition("#")[0]
    start = _IN_QUOTES.sub(lambda quoted: "_" * len(quoted[0]), line).find("#")
    return line if start < 0 else line[:start]


Table: TypeAlias = np.ndarray  # (n, d), float64 or Fractions

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".json": "json",
    ".npy": "npy",
    ".npz": "npz",
}
WISH, JSON_WISH = "expected a file of tokens, or `-` for standard input", "expected [[0, 1], [1, 0]]"
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def read_cloud(path: str | Path, *, format: str | None = None) -> Table | list[Table] | Ragged:
    """The tokens in a file, or on standard input for `-`: one cloud, or several.

    | form | one cloud | several clouds |
    |---|---|---|
    | CSV, TSV, text in columns | a token a line; header, blank lines and `#` comments allowed | |
    | JSON | list of rows, or `{"tokens": rows}` | list of lists of rows, or as in npz |
    | npy | shape (n, d) | shape (B, n, d) |
    | npz | the only array, or `tokens` | the same, or `tokens` with `offsets` (and `multiplicities`) |

    `format` ("csv", "json", "npy" or "npz") overrules the suffix. Decimals have a point: `1,5` is refused where it
    stands for one number. An npz file may unpack to 256 MiB, or to 100 times its own size if that is more; the
    environment variable HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    check_path(path)
    name, data = shown_name(path), read_bytes(path, WISH)
    if not data.strip():
        raise InputError(f"{name} is empty: expected one token per line, its coordinates separated by commas.")
    with _no_garbage_search():
        return _READERS[_format(path, data, name, format)](data, name)


def read_metric(text: str, name: str = "`metric`") -> list[list[Fraction]]:
    """The rows of a matrix, written out as `2,1;1,1` or kept in a file that `read_cloud` reads; `name` is for errors.

    >>> read_metric("2,1/2;1/2,1")
    [[Fraction(2, 1), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 1)]]
    """
    text = check_str(text, name)
    matrix = read_cloud(text) if _is_there(text) else _written_matrix(text, name)
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
        raise InputError(f"{name} in `{text}` holds several matrices: expected one, a row per line.")
    return [[Fraction(entry) for entry in row] for row in matrix.tolist()]


def write_whole(path: str | Path, data: bytes) -> None:
    """Writes the file completely, or leaves what was there: no reader ever meets half a file.

    A file that is replaced keeps its permissions, and a link stays a link. Once this returns the data are on the disk.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: the file it points to is replaced
    if target.exists() and not target.is_file():
        raise InputError(f"`{path}` cannot be written: it is not a file. Name a file in an existing folder.")
    short_name = os.fsencode(target.name)[:200].decode(errors="ignore")  # systems count bytes, up to 255
    draft = target.with_name(f".{short_name}.{secrets.token_hex(4)}.part")
    try:
        # What replaces a file that others may not read is never readable for them.
        draft.touch(0o600 if target.exists() else 0o666, exist_ok=False)
        with draft.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"`{path}` cannot be written: {_why_not(path, target, error)}.") from None
    finally:
        with suppress(OSError):  # it became the file, or was never made
            draft.unlink()


def sync_folder(folder: Path) -> None:
    """Put on the disk which files are in the folder, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _why_not(path: str | Path, target: Path, error: OSError) -> str:
    folder = Path(path).parent
    if not target.parent.is_dir():
        return f"the folder `{folder}` does not exist"
    # It is the folder that must be writable: the new file takes the place of the old one.
    return f"no new file can be made in the folder `{folder}`" if error.errno == errno.EACCES else reason(error)


# ---------------------------------------------------------------- what the bytes are


def _format(path: str | Path, data: bytes, name: str, format: str | None) -> str:
    if format is not None:
        if format not in _READERS:
            raise InputError(f"`format` must be one of {', '.join(_READERS)}, not {format!r}.")
        return format
    suffix = Path(path).suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    if suffix:
        raise InputError(f"{name} has the suffix {suffix!r}: expected one of {', '.join(FORMATS)}.")
    # Standard input and pipes have no suffix; their first bytes tell.
    if data.startswith(NPY_MAGIC):
        return "npy"
    if data.startswith(ZIP_MAGIC):
        return "npz"
    return "json" if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{") else "csv"


def _decode(data: bytes, name: str) -> str:
    text = decode(data, name, "save it as UTF-8, or as .npy")
    if "\0" in text:
        raise InputError(f"{name} holds binary data where text belongs: save it as UTF-8, or as .npy.")
    return text


@contextmanager
def _no_garbage_search() -> Iterator[None]:
    # A reader makes millions of small objects, all of them wanted; searching them for garbage takes half of its time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


# ---------------------------------------------------------------- text in columns


def _read_csv(data: bytes, name: str) -> Table:
    return read_columns(_decode(data, name), name)


def _is_there(text: str) -> bool:
    try:
        return text != "" and Path(text).exists()
    except OSError:  # a long matrix is too long for a name
        return False


def _written_matrix(text: str, name: str) -> Table:
    rows = [row.split(",") for row in text.strip().strip(";").split(";")]
    if not any(is_number(cell) for row in rows for cell in row):
        wish = "expected rows such as '2,1;1,1', or a file that holds them"
        raise InputError(f"{name} `{text}` is neither a matrix nor a file: {wish}.")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise InputError(f"{name} row {number} has {len(row)} entries: expected {width} as in row 1.")

    def place(cell: int) -> str:
        return f"{name} row {cell // width + 1}, column {cell % width + 1}"

    return read_numbers([cell for row in rows for cell in row], place).reshape(len(rows), width)


# ---------------------------------------------------------------- JSON


def _read_json(data: bytes, name: str) -> Table | list[Table] | Ragged:
    # Numbers stay the text they are: a float would be rounded before anyone could tell.
    found = parse_json(data, name, JSON_WISH, parse_float=str, parse_int=str, parse_constant=str)
    if isinstance(found, dict):
        if "tokens" not in found:
            raise InputError(f"{name} has no key 'tokens': expected {{\"tokens\": [[0, 1], [1, 0]]}}.")
        if "offsets" in found:
            counts = found.get("multiplicities")
            whole = None if counts is None else _whole_numbers(counts, f"{name} multiplicities")
            return Ragged(_table(found["tokens"], name), _whole_numbers(found["offsets"], f"{name} offsets"), whole)
        found = found["tokens"]
    if _is_list_of_lists(found) and any(map(_is_list_of_lists, found)):
        return [_table(cloud, f"{name} cloud {number}") for number, cloud in enumerate(found)]
    return _table(found, name)


def _is_list_of_lists(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(inner, list) for inner in value)


def _whole_numbers(values: Any, name: str) -> np.ndarray:
    if not isinstance(values, list) or not all(isinstance(text, str) and _WHOLE.fullmatch(text) for text in values):
        raise InputError(f"{name} must be a list of whole numbers from 0 up.")
    return np.array([int(text) for text in values], dtype=np.int64)


def _table(rows: Any, name: str) -> Table:
    if rows == []:
        raise InputError(f"{name} holds no tokens: {JSON_WISH}.")
    if not _is_list_of_lists(rows):
        raise InputError(f"{name} must be a list of tokens, each a list of numbers: {JSON_WISH}.")
    width = len(rows[0])
    if width == 0:
        raise InputError(f"{name} token 0 has no coordinates: {JSON_WISH}.")
    for token, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"{name} token {token} has {len(row)} coordinates: expected {width} as in token 0.")

    def place(cell: int) -> str:
        return f"{name} token {cell // width}, coordinate {cell % width}"

    return read_numbers([cell for row in rows for cell in row], place).reshape(len(rows), width)


# ---------------------------------------------------------------- npy and npz


def _read_npy(data: bytes, name: str) -> Table:
    return _stored_table(read_array(data, name), name)


def _read_npz(data: bytes, name: str) -> Table | Ragged:
    arrays = read_arrays(data, name)
    if len(arrays) != 1 and "tokens" not in arrays:
        raise InputError(f"{name} holds the arrays {', '.join(sorted(arrays)) or '(none)'}: expected `tokens`.")
    tokens = _stored_table(arrays.get("tokens", next(iter(arrays.values()))), name)
    if "offsets" not in arrays:
        return tokens
    return Ragged(tokens, arrays["offsets"], arrays.get("multiplicities"))


def _stored_table(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InputError(f"{name} holds {array.dtype} values: expected float64.")
    if array.ndim not in (2, 3):
        raise InputError(f"{name} holds an array of shape {array.shape}: expected (n, d), or (clouds, n, d).")
    if 0 in array.shape:
        raise InputError(f"{name} holds no tokens: its array has shape {array.shape}.")
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        *cloud, token, coordinate = np.argwhere(~np.isfinite(floats))[0].tolist()
        place = f"cloud {cloud[0]}, token {token}" if cloud else f"token {token}"
        value = floats[*cloud, token, coordinate]
        raise InputError(f"{name} {place}, coordinate {coordinate} is {value}: expected a finite number.")
    # Integers reach past 2^53, where float64 leaves some out.
    integers = array.ravel().tolist() if array.dtype.kind in "iu" else []
    if any(map(ne, floats.ravel().tolist(), integers)):
        return fractions_array([Fraction(integer) for integer in integers]).reshape(array.shape)
    return floats


_READERS = {"csv": _read_csv, "json": _read_json, "npy": _read_npy, "npz": _read_npz}
