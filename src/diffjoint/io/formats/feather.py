"""Read and write Feather files, which are Arrow files."""

from pyarrow.feather import read_table, write_feather

from diffjoint.io.formats.format import Format

FORMAT = Format((".feather", ".arrow"), read_table, write_feather)
