"""Complete the lazy tables of other libraries: Dask and Spark data frames, polars lazy frames.

Each row is completed by itself, so that the result does not depend on how a library cuts a table
into parts. Repeats of a row that ``fit`` learnt from all get the same answer; in a table in memory,
and in datasets of files, each repeat is judged by its own models.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from diffjoint.engines.shared import Shared
from diffjoint.engines.transform import model_bytes
from diffjoint.imputer import SelectiveImputer
from diffjoint.state import each_row_by_itself

Model = SelectiveImputer | str | os.PathLike[str]
"""A fitted imputer, or the file that its ``save`` wrote."""


def transform_dask(model: Model, frame: Any) -> Any:
    """Complete a Dask data frame, partition by partition, when it is computed.

    Parameters
    ----------
    model : SelectiveImputer or path
    frame : dask.dataframe.DataFrame
        With the columns of ``fit``.

    Returns
    -------
    dask.dataframe.DataFrame
        Of the same columns, dtypes, index and partitions.
    """
    from dask import delayed

    shared = _shared(model)
    held = delayed(shared, pure=False)  # a task of its own: workers are sent it once
    return frame.map_partitions(_complete_part, held, meta=_complete_part(frame._meta, shared))


def transform_spark(model: Model, frame: Any) -> Any:
    """Complete a Spark data frame by ``mapInArrow``, when it is computed.

    Parameters
    ----------
    model : SelectiveImputer or path
        It is sent to each worker once.
    frame : pyspark.sql.DataFrame
        With the columns of ``fit``.

    Returns
    -------
    pyspark.sql.DataFrame
    """
    from pyspark.sql.types import BooleanType, StructType

    held = frame.sparkSession.sparkContext.broadcast(_shared(model))
    added = _added_columns(held.value.imputer, frame.columns)
    schema = StructType(frame.schema.fields)
    for name in added:
        schema = schema.add(name, BooleanType())
    return frame.mapInArrow(lambda batches: _complete_batches(held.value, batches), schema)


def transform_lazy(model: Model, frame: Any) -> Any:
    """Complete a polars lazy frame in batches, when it is collected or sunk into a file.

    Parameters
    ----------
    model : SelectiveImputer or path
    frame : polars.LazyFrame
        With the columns of ``fit``.

    Returns
    -------
    polars.LazyFrame
        ``sink_parquet`` writes it without holding the whole.

    Examples
    --------
    >>> import polars as pl
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import transform_lazy
    >>> from diffjoint.simulate import household_survey
    >>> world = household_survey(300)
    >>> survey = pl.from_pandas(world.observed_table)
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0).fit(survey)
    >>> transform_lazy(imputer, survey.lazy()).collect().equals(imputer.transform(survey))
    True
    """
    import polars as pl

    shared, schema = _shared(model), frame.collect_schema()
    added = _added_columns(shared.imputer, schema.names())
    schema = pl.Schema({**schema, **dict.fromkeys(added, pl.Boolean)})
    return frame.map_batches(
        lambda part: _complete(shared, part) if part.height else schema.to_frame(),
        streamable=True,
        schema=schema,
    )


def batch_completer(
    model: Model,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that completes Arrow record batches one by one, for any engine.

    Parameters
    ----------
    model : SelectiveImputer or path

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import batch_completer
    >>> from diffjoint.simulate import household_survey
    >>> world = household_survey(300)
    >>> survey = pa.Table.from_pandas(world.observed_table)
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0).fit(survey)
    >>> batches = batch_completer(imputer)(iter(survey.to_batches(100)))
    >>> pa.Table.from_batches(batches).equals(imputer.transform(survey))
    True
    """
    shared = _shared(model)
    return lambda batches: _complete_batches(shared, batches)


def _shared(model: Model) -> Shared:
    return Shared(model_bytes(model), {})


def _complete(shared: Shared, rows: Any) -> Any:
    """Complete some rows."""
    with each_row_by_itself():
        return shared.imputer.transform(rows)


def _complete_part(rows: Any, shared: Shared) -> Any:
    """Complete a partition of a Dask data frame; those without rows stay as they are."""
    if len(rows):
        return _complete(shared, rows)
    return rows.assign(**dict.fromkeys(_added_columns(shared.imputer, list(rows.columns)), False))


def _complete_batches(
    shared: Shared, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Complete record batches."""
    for batch in batches:
        if batch.num_rows:
            yield from (
                _complete(shared, pa.Table.from_batches([batch])).combine_chunks().to_batches()
            )


def _added_columns(imputer: SelectiveImputer, names: list[str]) -> list[str]:
    """Return the names of columns that the completed table has beside those of the table."""
    return [str(name) for name in imputer.get_feature_names_out() if name not in names]
