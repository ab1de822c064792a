"""Reads Parquet tables as rows of JSON values; their formats are recognized as for JSON.

pyarrow, a dependency of Streamlit, is imported on the first such file (0.1 s). Times, dates and
decimals become text, so that they follow the rules of all other files. The table is decoded in
small batches that the budget counts: a column of one repeated long text is stored millions of times
smaller than it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from segviz.loaders.budget import Budget
from segviz.loaders.document import Rows
from segviz.loaders.errors import LoadError

if TYPE_CHECKING:
    import pyarrow

MAGIC = b"PAR1"

_BATCH = 64


def read_parquet(data: bytes, budget: Budget) -> Rows:
    """Returns the rows of a Parquet file as objects by column name.

    Raises LoadError if the file is damaged or encrypted, or unpacks to more than the budget.
    """
    import pyarrow
    from pyarrow import parquet

    rows = Rows()
    try:
        with parquet.ParquetFile(pyarrow.BufferReader(data)) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                budget.take(batch.nbytes)  # before repeated texts are expanded
                budget.split(batch.num_rows)
                columns = [_as_values(column) for column in batch.columns]
                rows += [
                    dict(zip(batch.schema.names, row, strict=True))
                    for row in zip(*columns, strict=True)
                ]
    except LoadError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, RecursionError):
        what = "the Parquet table is damaged or cut off"
        raise LoadError(what, remedy="download it again") from None
    return rows


def _as_values(column: pyarrow.Array) -> list[object]:
    """Returns a column as Python values, as JSON would hold them."""
    from pyarrow import types

    # As texts: Python's own times end with the year 9999 and have no nanoseconds.
    if types.is_timestamp(column.type) or types.is_date(column.type):
        column = column.cast("string")
    return [_plain(value) for value in column.to_pylist()]


def _plain(value: object) -> object:
    """Converts a Parquet value to a JSON value: maps to lists, bytes and times to text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str | int | float | None) else str(value)
