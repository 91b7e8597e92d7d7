"""Describe the source of a real table, find its files, and check that they are the right ones."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from diffjoint.errors import FileError

DATA_SETTING = "DIFFJOINT_DATA"
"""Environment variable that names the data folder, which holds a folder for each source."""


@dataclass(frozen=True)
class Source:
    """Source of a published table.

    Attributes
    ----------
    title : str
    folder : str
        Folder of its files within the data folder.
    how_to_get : str
        What to download, and where from.
    licence : str
    """

    title: str
    folder: str
    how_to_get: str
    licence: str

    def find(self, file: str, data: str | os.PathLike[str] | None = None) -> Path:
        """Return the path of one of the source's files.

        Parameters
        ----------
        file : str
        data : path, optional
            Data folder. By default the one that ``DIFFJOINT_DATA`` names.

        Raises
        ------
        FileError
            If there is no such file. The message says what to download.
        """
        root = data if data is not None else os.environ.get(DATA_SETTING)
        if not root:
            raise FileError(
                f"{self.title}: no data folder is named. Set {DATA_SETTING} to a folder with "
                f"{self.folder}/{file} in it. To get it: {self.how_to_get}"
            )
        path = Path(root) / self.folder / file
        if not path.is_file():
            raise FileError(f"{self.title}: {path} is not there. To get it: {self.how_to_get}")
        return path

    def check_shape(self, table: pd.DataFrame, shape: tuple[int, int]) -> None:
        """Raise an error if a table's shape is not that of the edition whose labels are known."""
        if table.shape != shape:
            self._refuse(f"{shape[0]:,} rows x {shape[1]} columns", _shape_of(table))

    def check_labels(
        self, cells: pd.DataFrame, counts: Mapping[str, int], what: str = "meaningful"
    ) -> None:
        """Raise an error if the number of meaningful or lost cells of a column is not as known."""
        found = {str(name): int(n) for name, n in cells.sum().items() if n}
        if found != dict(counts):
            wrong = sorted(
                f"{name}: {counts.get(name, 0)} expected, {found.get(name, 0)} found"
                for name in {*counts, *found}
                if counts.get(name, 0) != found.get(name, 0)
            )
            self._refuse(f"known counts of {what} cells", "; ".join(wrong))

    def _refuse(self, expected: str, got: str) -> None:
        raise FileError(
            f"{self.title}: expected {expected}; got {got}. This is another edition, or it was "
            f"altered. To get the right one: {self.how_to_get}"
        )


def _shape_of(table: pd.DataFrame) -> str:
    return f"{table.shape[0]:,} x {table.shape[1]}"
