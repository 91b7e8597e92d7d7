"""Where a real table comes from, and whether what was found is that table."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from diffjoint.errors import FileError

DATA_SETTING = "DIFFJOINT_DATA"
"""Environment variable: the folder that holds a folder for each source."""


@dataclass(frozen=True)
class Source:
    """A published table.

    Attributes
    ----------
    title : str
    folder : str
        Where its files are, under the data folder.
    how_to_get : str
        What to download, and where from.
    licence : str
    """

    title: str
    folder: str
    how_to_get: str
    licence: str

    def find(self, file: str, data: str | os.PathLike[str] | None = None) -> Path:
        """The path of one of the source's files.

        Parameters
        ----------
        file : str
        data : path, optional
            The data folder; the one that ``DIFFJOINT_DATA`` names if None.

        Raises
        ------
        FileError
            If it is not there; the message says what to download.
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
        """Refuse a file that is not the edition whose labels are known."""
        if table.shape != shape:
            self._refuse(f"{shape[0]:,} rows x {shape[1]} columns", _shape_of(table))

    def check_labels(
        self, cells: pd.DataFrame, counts: Mapping[str, int], what: str = "meaningful"
    ) -> None:
        """Refuse a file whose meaningful or lost cells are not where they are known to be."""
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
