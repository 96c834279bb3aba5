"""Scored parts as the bytes in which they are kept: the same for the same rows, whoever made them when.

Parts of a Parquet file are kept as Arrow streams; those of CSV and JSON lines as they will be written. Packed by gzip,
each is a member of its own, without a time. `joining` says what becomes of them.
"""

import base64
import gzip
import io
import json
from datetime import date, datetime, time
from typing import Any

import numpy as np

from hardmax.text.scoring.arrow import Array, Schema, Table, arrow_csv, ipc, is_text, one_array, pa, pc
from hardmax.text.scoring.forms import Form

_GZIP_LEVEL = 6


def encode(table: Table, lines: list[str] | None, ours: list[str], form: Form) -> bytes:
    """A part as it is kept; `lines` are its rows as JSON has them, where they came so, without the columns `ours`."""
    if form.kind == "parquet":
        return _arrow_bytes(table)
    data = _csv_bytes(table, form) if form.kind == "csv" else _json_bytes(table, lines, ours)
    return _packed(data, form)


def _packed(data: bytes, form: Form) -> bytes:
    return gzip.compress(data, _GZIP_LEVEL, mtime=0) if form.packing == "gzip" else data


# ---------------------------------------------------------------- Parquet


def _arrow_bytes(table: Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


# ---------------------------------------------------------------- CSV


def header(schema: Schema, form: Form) -> bytes:
    """What stands before the first part."""
    if form.kind != "csv":
        return b""
    empty = pa.schema([(name, pa.string()) for name in schema.names]).empty_table()
    return _packed(_written_csv(empty, form, header=True), form)


def _csv_bytes(table: Table, form: Form) -> bytes:
    columns = [_flat(one_array(column)) for column in table.columns]
    return _written_csv(pa.table(columns, names=table.column_names), form, header=False)


def _written_csv(table: Table, form: Form, *, header: bool) -> bytes:
    sink = io.BytesIO()
    options = arrow_csv.WriteOptions(include_header=header, delimiter="\t" if form.tabs else ",")
    arrow_csv.write_csv(table, sink, options)
    return sink.getvalue()


def _flat(column: Array) -> Array:
    """A column as CSV can hold it: lists, objects and bytes become texts."""
    kind, types = column.type, pa.types
    if is_text(kind) or types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return column
    if types.is_list(kind) and (types.is_string(kind.value_type) or types.is_float64(kind.value_type)):
        return _json_lists(column)
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind) or types.is_decimal(kind):
        return column.cast(pa.string())
    found = (None if value is None else _as_plain_text(value) for value in column.to_pylist())
    return pa.array(list(found), pa.string())


def _as_plain_text(value: Any) -> str:
    said = _plain(value) if isinstance(value, bytes | date | time) else value
    return said if isinstance(said, str) else _json(said)


def _json_lists(column: Array) -> Array:
    """Lists of texts or numbers as JSON, all at once."""
    values = column.flatten()
    if pa.types.is_string(values.type):
        distinct = values.dictionary_encode()
        quoted = pa.array(
            [None if text is None else _json(text) for text in distinct.dictionary.to_pylist()], pa.string()
        )
        said = quoted.take(distinct.indices)
    else:
        said = values.cast(pa.string())
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    lists = pa.ListArray.from_arrays(pa.array(np.cumsum([0, *lengths]), pa.int32()), pc.fill_null(said, "null"))
    joined = pc.binary_join_element_wise("[", pc.binary_join(lists, ", "), "]", "")
    return pc.if_else(column.is_null(), pa.scalar(None, pa.string()), joined)


# ---------------------------------------------------------------- JSON lines


def _json_bytes(table: Table, lines: list[str] | None, ours: list[str]) -> bytes:
    if lines is None:
        rows = [_json(row) for row in table.to_pylist()]
    else:
        rows = list(map(_added, lines, table.select(ours).to_pylist()))
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "replace")


def _added(line: str, answers: dict[str, Any]) -> str:
    """A JSON object with more in it; what was there stays as it was written."""
    head = line.rstrip()[:-1].rstrip()
    return f"{head}{'' if head == '{' else ', '}{_json(answers)[1:]}"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:  # JSON has neither nan nor infinity
        return json.dumps(_finite(value), ensure_ascii=False, default=_plain)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value


def _plain(value: Any) -> Any:
    """What JSON has no word for: times as ISO 8601 has them, bytes in base 64, anything else as Python writes it."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
