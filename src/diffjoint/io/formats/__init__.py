"""Formats of tables with types: a file for each, and the list of them.

A new format is a file that makes a :class:`Format`, and its name in ``FORMATS``. Text, and the
statistical formats that need an extra library, are read by files of their own beside this folder.
"""

from diffjoint.io.formats.arrow_stream import ARROW_STREAM
from diffjoint.io.formats.feather import FEATHER
from diffjoint.io.formats.format import Format
from diffjoint.io.formats.parquet import PARQUET

__all__ = ["BY_ENDING", "FORMATS", "Format"]

FORMATS = (PARQUET, FEATHER, ARROW_STREAM)
BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}
