"""Small tables of texts in files of every form, and how to read them back."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from text.small_models import random_texts

FORMS = (".parquet", ".csv", ".tsv", ".jsonl", ".csv.gz", ".csv.zst", ".jsonl.gz", ".jsonl.zst")


def texts(count: int = 50) -> list[str]:
    """Texts of which none is empty."""
    return [f"{text} film" for text in random_texts(count)]


def write_table(path: Path, columns: dict[str, list[Any]]) -> Path:
    """The columns in a file of the form that its name tells; in CSV everything is text."""
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(columns), path, row_group_size=7)
        return path
    rows = list(zip(*columns.values(), strict=True))
    if ".jsonl" in path.name:
        data = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    else:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter="\t" if ".tsv" in path.name else ",").writerows([list(columns), *rows])
        data = stream.getvalue()
    path.write_bytes(_packed(data.encode(), path.suffix))
    return path


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows in a file; lists in CSV are read as the JSON that they are."""
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pylist()
    data = _unpacked(path.read_bytes(), path.suffix).decode()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in data.splitlines()]
    delimiter = "\t" if ".tsv" in path.name else ","
    return [_read(row) for row in csv.DictReader(io.StringIO(data, newline=""), delimiter=delimiter)]


def _read(row: dict[str, str]) -> dict[str, Any]:
    ours = {"leaders", "counting", "votes", "probability", "margin", "abstain"}
    return {name: json.loads(cell) if name in ours and cell else cell or None for name, cell in row.items()}


def _packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data)
    return pa.compress(data, "zstd", asbytes=True) if suffix == ".zst" else data


def _unpacked(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.decompress(data)
    return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read() if suffix == ".zst" else data
