"""Read a dataset to learn from it: rows of all its files with the same columns and types."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from diffjoint.engines.engine import Run
from diffjoint.engines.fragment import PieceError, read_rows, reading, text_of, with_folders
from diffjoint.engines.pieces import Dataset, Piece, check_columns, columns_of
from diffjoint.errors import FileError, InputError, message_of
from diffjoint.io.files import read_file
from diffjoint.io.text import TextTable, in_one_format
from diffjoint.settings import NA_VALUES

PIECE_ROWS = 100_000
"""Rows that are held at a time, about."""
_TYPES = {
    "whole": pa.int64(),
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "text": pa.string(),
}
"""Types of columns of text files, by what they hold."""


@dataclass(frozen=True)
class HowToRead:
    """How text files are read; of others their types say it.

    Attributes
    ----------
    na_values : tuple of str
        Text that stands for a missing cell.
    encoding : str
    reason_codes : mapping or None
        Codes for missing cells.
    """

    na_values: tuple[str, ...] = NA_VALUES
    encoding: str = "utf-8"
    reason_codes: Mapping[Any, Any] | None = None


@dataclass(frozen=True)
class Rows:
    """Rows of a piece, to be read in the columns and types that all pieces have.

    Attributes
    ----------
    piece : Piece
    schema : pyarrow.Schema
    text : TextTable or None
        How the piece is read, if it is a text file.
    """

    piece: Piece
    schema: pa.Schema
    text: TextTable | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The piece's name."""
        return self.piece.name

    def tables(self) -> Iterator[pa.Table]:
        """Read the rows, some at a time; a table at least."""
        if self.text is None:
            with _named(self.piece):
                rows = read_rows(self.piece)
            yield rows.cast(self.schema)
            return
        held: list[pa.Table] = []
        for block in self.text.blocks():
            if sum(map(len, held)) >= PIECE_ROWS:
                yield pa.concat_tables(held)
                held = []
            frame = with_folders(block.table, self.piece)
            held.append(pa.Table.from_pandas(frame, self.schema, preserve_index=False))
        yield pa.concat_tables(held)


def rows_of(dataset: Dataset, how: HowToRead, run: Run) -> list[Rows]:
    """Return the rows of a dataset's pieces, in columns and types that all of them have."""
    first = next(dataset.heads())
    with _named(first):
        own = columns_of(first, how.encoding)
    added = [name for name, _ in first.added(own)]
    check_columns(dataset, [*own, *added], how.encoding)
    pieces = list(dataset.pieces(PIECE_ROWS))
    if not dataset.is_text:
        schema = _schema_of_files(list(dataset.heads()), [*own, *added])
        return [Rows(piece, schema) for piece in pieces]
    found = dict(run(_look_at_text, pieces))
    texts = in_one_format([found[piece.name] for piece in pieces])
    fields = [
        pa.field(name, pa.string() if form.has_codes else _TYPES[form.holds])
        for name, form in zip(own, texts[0].formats, strict=True)
    ]
    schema = pa.schema([*fields, *(pa.field(name, _folder_type(first, name)) for name in added)])
    return [Rows(piece, schema, text) for piece, text in zip(pieces, texts, strict=True)]


def _look_at_text(how: HowToRead, piece: Piece) -> tuple[str, TextTable]:
    """Find out what the columns of a text file hold."""
    with _named(piece):
        file = read_file(piece.source, how.na_values, how.encoding, None, how.reason_codes)
        return piece.name, text_of(file)


@contextmanager
def _named(piece: Piece) -> Iterator[None]:
    """Say which piece it is that cannot be read, and what to do."""
    try:
        with reading(piece):
            yield
    except PieceError as error:
        why = message_of(error).rstrip(".")
        raise FileError(
            f"Cannot read {why}. Repair the file, or move it out of the dataset, and run again."
        ) from error


def _schema_of_files(heads: Sequence[Piece], names: Sequence[str]) -> pa.Schema:
    """Return the types in which the columns of all Parquet files can be read."""
    schemas = [pa_parquet.read_schema(head.source) for head in heads]
    fields = []
    for name in names:
        types: dict[pa.DataType, str] = {}
        for head, schema in zip(heads, schemas, strict=True):
            own = schema.field(name).type if name in schema.names else _folder_type(head, name)
            types.setdefault(own, head.source)
        like = schemas[0].field(name) if name in schemas[0].names else pa.field(name, pa.null())
        fields.append(like.with_type(_common_type(name, types)).with_nullable(True))
    return pa.schema(fields, metadata=schemas[0].metadata)


def _folder_type(piece: Piece, name: str) -> pa.DataType:
    return pa.int64() if name in piece.whole else pa.string()


def _common_type(name: str, types: Mapping[pa.DataType, str]) -> pa.DataType:
    """Return the type that holds what a column has in all files; each type with a file of it."""
    kinds = [*types]
    if len(kinds) == 1:
        return kinds[0]
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    schemas = [pa.schema([(name, kind)]) for kind in plain]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(name).type
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        told = " and ".join(f"{kind} in {file}" for kind, file in [*types.items()][:2])
        raise InputError(
            f"Column '{name}' must have one type in all files; it is {told}. Convert the files to "
            'one type, or learn from those that have it: a pattern such as "visits/2024*.parquet" '
            "names some files."
        ) from error
