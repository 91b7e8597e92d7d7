import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import load
from diffjoint.engines import LocalEngine, check_dataset, report_dataset, transform_dataset
from diffjoint.engines import summary as summaries
from diffjoint.errors import FileError, InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytestmark = [FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow]


@pytest.fixture(scope="module")
def out(model, folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("reported") / "out"
    transform_dataset(model, folder, out, piece_rows=64)
    return out


@pytest.fixture(scope="module")
def in_memory(model, folder):
    return load(model).report(pa_parquet.read_table(folder)).summary


def test_the_report_counts_what_that_of_the_table_counts(model, out, in_memory):
    found = report_dataset(model, out).summary
    for name in ("n_rows", "n_columns", "n_observed", "n_kept", "n_imputed", "n_left", "n_review"):
        assert getattr(found, name) == getattr(in_memory, name), name
    for own, expected in zip(found.columns, in_memory.columns, strict=True):
        if own.kind in ("integer", "categorical"):
            assert own == expected
        assert own.likely == expected.likely
        assert (own.n_missing, own.n_kept) == (expected.n_missing, expected.n_kept)
    assert sum(column.n_kept for column in found.columns) > 0


def test_the_report_depends_neither_on_pieces_nor_on_workers(model, folder, out, tmp_path):
    again = tmp_path / "again"
    transform_dataset(model, folder, again, piece_rows=450, engine=LocalEngine(2))
    one, other = (report_dataset(model, path, self_check=True) for path in (out, again))
    assert one.html == other.html


def test_nothing_is_read_again(model, out, tmp_path, in_memory):
    told = tmp_path / "told"
    shutil.copytree(out / "_diffjoint", told / "_diffjoint")
    assert report_dataset(model, told).summary.n_kept == in_memory.n_kept


def test_the_self_check_counts_all_rows(model, folder, out, monkeypatch):
    monkeypatch.setattr(summaries, "n_kept", lambda n_columns: 200)
    monkeypatch.setattr("diffjoint.engines.report.n_kept", lambda n_columns: 200)
    found = check_dataset(model, out)
    expected = load(model).self_check(pa_parquet.read_table(folder))
    for name in ("n_missing", "expected_wrong"):
        np.testing.assert_allclose(found.wrong_calls[name], expected.wrong_calls[name], atol=1e-8)
    at_thresholds = [
        check.calls[check.calls["change"].str.contains("threshold")].reset_index(drop=True)
        for check in (found, expected)
    ]
    pd.testing.assert_frame_equal(*at_thresholds)
    assert {*found.calls["change"]} == {*expected.calls["change"]}
    assert (found.values["n_missing"] == expected.values["n_missing"]).all()
    assert any("200 of 450 rows were checked" in note for note in found.notes)
    assert "counted in all rows" in found.notes[-1]


def test_kept_rows_are_those_with_the_lowest_keys(model, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("diffjoint.engines.transform.n_kept", lambda n_columns: 50)
    monkeypatch.setattr(summaries, "SPARE", 2)
    found = []
    for size in (70, 150):
        done = transform_dataset(model, folder, tmp_path / str(size), piece_rows=size)
        names = [piece.name for piece in done.pieces]
        state = tmp_path / str(size) / "_diffjoint"
        found.append(summaries.read_summaries(state, names, 50)[1])
        held = [np.load(path)["keys"] for path in (state / "summaries").glob("*.npz")]
        assert 50 <= sum(map(len, held)) < 100
    assert found[0].equals(found[1])
    assert found[0].num_rows == 50


def test_text_is_reported_on_too(model, visits, tmp_path):
    (tmp_path / "in").mkdir()
    for k in range(2):
        visits[1][k * 225 :][:225].to_csv(tmp_path / "in" / f"{k}.csv", index=False)
    done = transform_dataset(model, tmp_path / "in", tmp_path / "out")
    report = report_dataset(model, tmp_path / "out", title="Visits")
    assert report.summary.n_kept == done.tally["cells"]["n_kept"]
    assert "Visits" in report.html


def test_what_cannot_be_reported_on_is_named(model, out, visits, tmp_path):
    with pytest.raises(FileError, match="holds no manifest"):
        report_dataset(model, tmp_path)
    other = load(model).set_params(threshold=0.3)
    with pytest.raises(InputError, match="completed by another model"):
        report_dataset(other, out)
    shutil.copytree(out, tmp_path / "out")
    gone = next((tmp_path / "out" / "_diffjoint" / "summaries").glob("*.npz"))
    gone.write_bytes(gone.read_bytes()[:100])
    with pytest.raises(FileError, match="Cannot read what was noted of part-"):
        report_dataset(model, tmp_path / "out")
    (tmp_path / "out" / gone.stem).unlink()
