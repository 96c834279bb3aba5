"""What compiled code is made from, and whether it has changed since it was imported."""

import hashlib
import os
from pathlib import Path

_PACKAGE = Path(__file__).parent
_COMPILING = ("compiling", "kernel_cache", "kernel_sources", "threads")


def kernel_sources() -> list[Path]:
    """Everything of ours that compiled code is made from: `kernels.py`, all in a folder `kernels`, and how it is made.

    Kernels import nothing else of the package, so that no constant is compiled in unseen; `tests/test_compiling.py`
    holds that.
    """
    found = [_PACKAGE / f"{name}.py" for name in _COMPILING]
    for folder, folders, files in os.walk(_PACKAGE):
        folders[:] = [name for name in folders if name != "__pycache__"]  # there may be thousands of files in there
        all_of_it = "kernels" in Path(folder).relative_to(_PACKAGE).parts
        found += [Path(folder, name) for name in files if name.endswith(".py") and (all_of_it or name == "kernels.py")]
    return sorted(found)


def digest_now() -> str:
    """Of the kernel sources as they are on disk; empty where they cannot be read (in a zip)."""
    digest = hashlib.sha256()
    try:
        for path in kernel_sources():
            for part in (path.relative_to(_PACKAGE).as_posix().encode(), path.read_bytes()):
                digest.update(hashlib.sha256(part).digest())
    except OSError:
        return ""
    return digest.hexdigest()


AT_START = digest_now()
