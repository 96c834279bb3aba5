"""The IMDb reviews from the Hub: fetched once, kept in the user's cache, and checked."""

# pyright: reportMissingImports=false
import hashlib
from pathlib import Path
from typing import Any

from hardmax._validation import InputError, require_extra

NAME = "imdb"
REPOSITORY, REVISION = "stanfordnlp/imdb", "e6281661ce1c48d982bc483cf8a173c1bbeb5d31"
FILES = {split: f"plain_text/{split}-00000-of-00001.parquet" for split in ("train", "test")}
SHA256 = {
    "train": "db47d16b5c297cc0dd625e519c81319c24c9149e70e8496de5475f6fa928342c",
    "test": "b52e26e2f872d282ffac460bf9770b25ac6f102cda0e6ca7158df98c94e8b3da",
}
WAY_OUT = f"Download {REPOSITORY} by other means and name the file, or the folder aclImdb"


def fetch_imdb(split: str) -> Path:
    """The Parquet file of a split, from the cache if it is there, else from the Hub."""
    hub = _hub()
    try:
        fetched = hub.hf_hub_download(REPOSITORY, FILES[split], repo_type="dataset", revision=REVISION)
    except Exception as error:  # what a missing network raises differs from one version of the library to the next
        raise InputError(f"`{NAME}` cannot be fetched from the Hub ({type(error).__name__}). {WAY_OUT}.") from None
    path = Path(fetched)
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[split]:
        raise InputError(f"`{path}` is not the file that was asked for: its SHA-256 differs. Remove it, and try again.")
    return path


def _hub() -> Any:
    require_extra(f"`{NAME}` (from the Hub; a file or the folder aclImdb needs nothing)", "hub", "huggingface_hub")
    import huggingface_hub

    return huggingface_hub
