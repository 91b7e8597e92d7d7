"""A format of JSON lines: all that its file in ``io/formats/`` holds."""

import json

import pyarrow as pa

from diffjoint.io.formats.format import Format


def _read(path):
    with open(path, encoding="utf-8") as file:
        try:
            return pa.Table.from_pylist([json.loads(line) for line in file])
        except json.JSONDecodeError as error:
            raise pa.ArrowInvalid(str(error)) from error


def _write(table, file):
    for row in table.to_pylist():
        file.write(json.dumps(row).encode() + b"\n")


FORMAT = Format((".jsonl",), _read, _write)
