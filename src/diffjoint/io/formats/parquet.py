"""Read and write Parquet files."""

import pyarrow as pa
from pyarrow.parquet import ParquetFile, read_table, write_table

from diffjoint.io.formats.format import Format


def _read(path: str) -> pa.Table:
    """Read a table; one in which columns share a name can be read in this way alone."""
    try:
        return read_table(path)
    except pa.ArrowInvalid as error:
        if "Multiple matches" not in str(error):
            raise
        with ParquetFile(path) as file:
            return file.read()


FORMAT = Format((".parquet", ".pq"), _read, write_table)
