"""What all tasks of a run share: the model, how to read, and where outputs go."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from diffjoint.imputer import SelectiveImputer, load
from diffjoint.settings import DEFAULT_MEMORY_LIMIT, NA_VALUES

STATE = "_diffjoint"
"""Folder within the outputs that says what is done; other programs take it for no data."""


@dataclass(frozen=True)
class Shared:
    """What all tasks of a run share; it is sent to each worker once.

    Attributes
    ----------
    model : bytes
        The file that ``save`` wrote.
    folders : mapping
        Folders of outputs: that of completed rows is "table"; "meaningful", "probability",
        "uncertainty" and "draw-1" and so on are there if asked for.
    n_draws : int
        Completed tables to draw.
    counts_repeats : bool
        Whether answers depend on how often a row occurred before.
    unseen : str or None
        As the imputer's parameter; None: as it was saved.
    na_values : tuple of str
        Text that stands for a missing cell.
    encoding : str
        Of text files.
    n_threads : int
        Threads of each worker.
    memory_limit : str
        Memory for draws, in each worker.
    n_kept, highest_key : int
        Rows of a piece that are kept for the report: so many at most, of those with keys up to
        this.
    """

    model: bytes = field(repr=False)
    folders: Mapping[str, str]
    n_draws: int = 0
    counts_repeats: bool = False
    unseen: str | None = None
    na_values: tuple[str, ...] = NA_VALUES
    encoding: str = "utf-8"
    n_threads: int = 1
    memory_limit: str = DEFAULT_MEMORY_LIMIT
    n_kept: int = 0
    highest_key: int = 0

    @property
    def state(self) -> Path:
        """The folder that says what is done."""
        return Path(self.folders["table"]) / STATE

    @property
    def imputer(self) -> SelectiveImputer:
        """The model, read once in each process."""
        return _loaded(self.model, self.unseen, self.n_threads, self.memory_limit)


@lru_cache(maxsize=2)
def _loaded(
    model: bytes, unseen: str | None, n_threads: int, memory_limit: str
) -> SelectiveImputer:
    with tempfile.TemporaryDirectory(prefix="diffjoint-") as folder:
        path = Path(folder) / "model"
        path.write_bytes(model)
        imputer = load(path)
    imputer.set_params(n_threads=n_threads, memory_limit=memory_limit, verbose=False)
    return imputer if unseen is None else imputer.set_params(unseen=unseen)
