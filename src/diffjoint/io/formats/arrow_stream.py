"""Read and write Arrow streams."""

from typing import BinaryIO

import pyarrow as pa

from diffjoint.io.formats.format import Format


def _read(path: str) -> pa.Table:
    with pa.OSFile(path) as file, pa.ipc.open_stream(file) as stream:
        return stream.read_all()


def _write(table: pa.Table, file: BinaryIO) -> None:
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


FORMAT = Format((".arrows",), _read, _write)
