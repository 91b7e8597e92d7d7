"""Every engine, every size of pieces and every order of rows gives what the table in memory gives."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import load
from diffjoint.engines import DaskEngine, LocalEngine, SparkEngine, transform_dataset, verify
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:::distributed"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]  # fmt: skip
N_DRAWS = 2


@pytest.fixture(params=["local", "dask", "spark"])
def engine(request):
    if request.param == "local":
        return LocalEngine(2)
    if request.param == "dask":
        return DaskEngine(request.getfixturevalue("client"))
    return SparkEngine(request.getfixturevalue("session"))


@pytest.fixture(scope="module")
def in_memory(drawing, folder):
    """All that the imputer says of the table in memory, by the folder it goes to."""
    imputer, table = load(drawing), pa_parquet.read_table(folder)
    found = imputer.impute(table)
    draws = imputer.sample(table, N_DRAWS)
    named = {f"draw-{k + 1}": draw for k, draw in enumerate(draws)}
    sides = {side: getattr(found, side) for side in ("meaningful", "probability", "uncertainty")}
    return {"table": found.table, **sides, **named}


def complete(model, source, out, engine=None, piece_rows=70):
    """Complete a dataset with all that can be asked for; return the tables by their folders."""
    sides = zip(("mask_out", "proba_out", "uncertainty_out"), "mpu", strict=True)
    asked = {option: out.with_name(f"{out.name}-{letter}") for option, letter in sides}
    done = transform_dataset(
        model, source, out, engine=engine, piece_rows=piece_rows, n_draws=N_DRAWS, **asked
    )
    assert verify(out) == done
    return {part: pa_parquet.read_table(out / to) for part, to in done.folders.items()}, done


def test_engines_give_what_memory_gives_draws_included(
    engine, drawing, folder, in_memory, tmp_path
):
    found, done = complete(drawing, folder, tmp_path / "out", engine)
    for part, table in found.items():
        assert table.equals(in_memory[part]), part
    assert found.keys() == in_memory.keys()
    _, here = complete(drawing, folder, tmp_path / "here")
    assert done.pieces == here.pieces


@pytest.mark.parametrize("piece_rows", [33, 450])
def test_other_pieces_give_the_same_draws(drawing, folder, in_memory, tmp_path, piece_rows):
    found, _ = complete(drawing, folder, tmp_path / "out", piece_rows=piece_rows)
    for part, table in found.items():
        assert table.equals(in_memory[part]), part


def test_rows_of_a_shuffled_folder_get_the_same_draws(drawing, folder, tmp_path):
    """Rows that occur once, in files of other sizes."""
    once = pa_parquet.read_table(folder).to_pandas()[100:300].drop_duplicates(keep=False)
    shuffled = once.sample(frac=1, random_state=5)
    for name, rows, cut in (("plain", once, 100), ("shuffled", shuffled, 31)):
        (tmp_path / name).mkdir()
        for k, part in enumerate((rows[:cut], rows[cut:])):
            schema = pa_parquet.read_schema(folder / "part-0.parquet")
            table = pa.Table.from_pandas(part, schema=schema, preserve_index=False)
            pa_parquet.write_table(table, tmp_path / name / f"{k}.parquet")
    plain, _ = complete(drawing, tmp_path / "plain", tmp_path / "one")
    other, _ = complete(drawing, tmp_path / "shuffled", tmp_path / "other", piece_rows=23)
    for part in plain:
        expected = plain[part].to_pandas().set_axis(once.index)
        found = other[part].to_pandas().set_axis(shuffled.index).loc[once.index]
        pd.testing.assert_frame_equal(found, expected)


def test_a_task_that_runs_twice_at_a_time_changes_nothing(drawing, folder, in_memory, tmp_path):
    """As where a cluster starts a slow task again elsewhere, and both end."""
    engine = _Twice(LocalEngine(2))
    found, done = complete(drawing, folder, tmp_path / "out", engine)
    assert engine.n_done == 2 * len(done.pieces) * 2
    for part, table in found.items():
        assert table.equals(in_memory[part]), part


class _Twice:
    """An engine that does each task twice, side by side."""

    def __init__(self, engine):
        self.engine, self.n_done = engine, 0

    def started(self, shared):
        self._context = self.engine.started(shared)
        return self

    def __enter__(self):
        run = self._context.__enter__()

        def twice(task, pieces):
            results = list(run(task, [piece for piece in pieces for _ in range(2)]))
            self.n_done += len(results)
            return iter({getattr(one, "name", one): one for one in results}.values())

        return twice

    def __exit__(self, *how):
        return self._context.__exit__(*how)
