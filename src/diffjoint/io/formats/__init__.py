"""Formats of tables with types: a file for each, and the list of them.

A new format is a file here that ends with its ``FORMAT``, and its name in ``NAMES``. One of
databases, which hold several tables, makes a :class:`Database`, and has its name in ``DATABASES``.
Text, and the statistical formats that need an extra library, are read by files of their own beside
this folder.
"""

from importlib import import_module

from diffjoint.io.formats.duckdb import DUCKDB
from diffjoint.io.formats.format import Database, Format, Session
from diffjoint.io.formats.sql import SQL
from diffjoint.io.formats.sqlite import SQLITE

__all__ = ["BY_ENDING", "DATABASES", "FORMATS", "SQL", "Database", "Format", "Session"]

NAMES = ("parquet", "feather", "arrow_stream")
FORMATS: tuple[Format, ...] = tuple(import_module(f"{__name__}.{name}").FORMAT for name in NAMES)
BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}
DATABASES = {ending: form for form in (DUCKDB, SQLITE) for ending in form.endings}
