"""Real reviews, where they are: tests that want them are skipped, visibly, where they are not."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "imdb"


def reviews(split: str, count: int) -> list[str]:
    """The first texts of a split of IMDb."""
    return read_split(split, count)["text"].to_pylist()


def read_split(split: str, count: int):
    """The first rows of a split of IMDb, half of them negative, as an Arrow table."""
    path = FOLDER / f"{split}.parquet"
    if not path.exists():
        pytest.skip(f"the IMDb reviews are not there ({path.name})")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(path)
    step = max(1, len(table) // count)
    return table.take(list(range(0, len(table), step))[:count])
