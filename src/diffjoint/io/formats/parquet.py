"""Read and write Parquet files."""

from pyarrow.parquet import read_table, write_table

from diffjoint.io.formats.format import Format

PARQUET = Format((".parquet", ".pq"), read_table, write_table)
