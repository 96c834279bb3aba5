"""The members of the zip archive that `torch.save` writes, by name, each checked before it is read.

Such an archive has one folder, nothing in it is compressed, and no name occurs twice; so that what is read is never
larger than the file, and never ambiguous.
"""

import io
import re
import zipfile

from hardmax._files import ZIP_MAGIC
from hardmax._validation import InputError

LARGEST_FILE = 128 * 2**20  # bytes: sixteen times what a vocabulary of 121,296 rows takes in 16 dimensions
MOST_MEMBERS = 100
WISH = "expected a classifier of the paper's authors, as torch.save wrote it"

_ENCRYPTED = 1  # bit of the flags of a member
_NAME = re.compile(r"[^/\\\0]{1,200}(?:/[^/\\\0]{1,200}){1,3}")


def read_members(data: bytes, name: str) -> dict[str, bytes]:
    """What is in the archive's one folder, by name within it; `name` is for errors."""
    if not data.startswith(ZIP_MAGIC):
        raise InputError(f"{name} is not a zip archive: {WISH}.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check(members, len(data), name)
            return {member.filename.partition("/")[2]: archive.read(member) for member in members}
    except InputError:
        raise
    except Exception:  # zipfile and struct have a dozen names for a broken archive
        raise InputError(f"{name} is broken: it cannot be read as a zip archive. Copy it again.") from None


def _check(members: list[zipfile.ZipInfo], size: int, name: str) -> None:
    if not 0 < len(members) <= MOST_MEMBERS:
        raise InputError(f"{name} holds {len(members)} files: {WISH}.")
    for member in members:
        path = member.filename
        if not _NAME.fullmatch(path) or {".", ".."} & set(path.split("/")):
            raise InputError(f"{name} holds a file called {path!r:.60}: {WISH}.")
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise InputError(f"{name} is compressed ({path!r:.60} in it), which torch.save does not do: {WISH}.")
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"{name} is encrypted ({path!r:.60} in it): {WISH}.")
    paths = [member.filename for member in members]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise InputError(f"{name} holds two files called {twice!r:.60}. Copy it again.")
    if len({path.partition("/")[0] for path in paths}) > 1:
        raise InputError(f"{name} holds more than one folder: {WISH}.")
    # Members that share their bytes would unpack to more than the file.
    if sum(member.file_size for member in members) > size:
        raise InputError(f"{name} says that it holds more than it has. Copy it again.")
