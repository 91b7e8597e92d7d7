import errno
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from multiprocessing import resource_tracker, spawn

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.engines import LocalEngine, find_dataset, transform_dataset, verify
from diffjoint.engines.shared import Shared
from diffjoint.errors import FileError, InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES
from tests.engines import tasks

pytestmark = [FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow]
SIDES = ("meaningful", "probability", "uncertainty")


def contents(out):
    """Digests of the files of a completed dataset."""
    return {piece.name: piece.files["table"]["sha256"] for piece in verify(out).pieces}


@pytest.mark.parametrize("piece_rows", [64, 450])
def test_pieces_give_what_the_table_in_memory_gives(model, folder, whole, tmp_path, piece_rows):
    sides = {name: tmp_path / name for name in SIDES}
    done = transform_dataset(
        model, folder, tmp_path / "out", piece_rows=piece_rows, mask_out=sides["meaningful"],
        proba_out=sides["probability"], uncertainty_out=sides["uncertainty"],
    )  # fmt: skip
    found = pa_parquet.read_table(tmp_path / "out")
    assert found.equals(whole.table)
    assert found.schema.equals(whole.table.schema, check_metadata=True)
    for name, path in sides.items():
        assert pa_parquet.read_table(path).equals(getattr(whole, name))
    assert done.n_rows == whole.table.num_rows
    assert done.tally["cells"]["n_kept"] == whole.n_kept
    assert done.tally["cells"]["n_imputed"] == whole.n_imputed
    assert sum(column["kept"] for column in done.tally["columns"].values()) == whole.n_kept


def test_repeats_of_rows_are_judged_by_where_they_stand(model, folder, whole):
    """Otherwise the test above would hold without counting them."""
    piece = pa_parquet.read_table(folder / "part-2.parquet")
    alone = load(model).predict_mm_proba(piece)
    assert not alone.equals(whole.probability.slice(300))


def test_the_names_of_files_do_not_matter_but_for_repeats(model, visits, tmp_path):
    """Rows that occur once get the same answer wherever they stand."""
    once = visits[1][:300].sample(frac=1, random_state=1)
    (tmp_path / "in").mkdir()
    for k in range(2):
        once[k * 150 :][:150].to_parquet(tmp_path / "in" / f"{k}.parquet", index=False)
    transform_dataset(model, tmp_path / "in", tmp_path / "out", piece_rows=64)
    found = pd.read_parquet(tmp_path / "out").set_index(once.index).sort_index()
    pd.testing.assert_frame_equal(found, load(model).transform(visits[1][:300]))


def test_columns_that_folders_name_are_used_and_stay_in_the_folders(visits, tmp_path):
    mm_columns, table = visits
    for value, rows in table.groupby("employed"):
        path = tmp_path / "in" / f"employed={value}" / "1.parquet"
        path.parent.mkdir(parents=True)
        rows.drop(columns="employed").to_parquet(path, index=False)
    read = pa_parquet.read_table(tmp_path / "in")
    imputer = SelectiveImputer(mm_columns, n_boosters=1, random_state=0).fit(read)
    transform_dataset(imputer, tmp_path / "in", tmp_path / "out", piece_rows=64)
    found = pa_parquet.read_table(tmp_path / "out")
    assert found.equals(imputer.transform(read))
    files = list((tmp_path / "out" / "employed=no").iterdir())
    assert files
    assert all("employed" not in pa_parquet.read_schema(file).names for file in files)


def test_a_folder_holds_text_where_fit_saw_text(visits, tmp_path):
    """Though the names of the folders at hand all look like numbers; in text files, too."""
    mm_columns, table = visits
    grade = pd.Series(["1", "2", "2b"] * 150, name="grade")
    imputer = SelectiveImputer(mm_columns, n_boosters=1, random_state=0)
    imputer.fit(table.assign(grade=grade))
    rows = table[:40].assign(grade="2")
    for kind in ("parquet", "csv"):
        path = tmp_path / kind / "grade=2" / f"1.{kind}"
        path.parent.mkdir(parents=True)
        getattr(rows.drop(columns="grade"), f"to_{kind}")(path, index=False)
        mask = tmp_path / f"{kind}-mask"
        transform_dataset(imputer, tmp_path / kind, tmp_path / f"{kind}-out", mask_out=mask)
        read = getattr(pd, f"read_{kind}")
        found = read(mask / "grade=2" / f"1.{kind}")[table.columns]
        expected = imputer.predict_mm(rows)[table.columns]
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
        completed = read(tmp_path / f"{kind}-out" / "grade=2" / f"1.{kind}")
        assert [*completed.columns] == [*table.columns]


def test_notes_on_columns_and_packed_files_stay(model, visits, tmp_path):
    """Such as the ids by which table formats know columns."""
    (tmp_path / "in").mkdir()
    rows = pa.Table.from_pandas(visits[1][:50], preserve_index=False)
    fields = [
        field.with_metadata({"PARQUET:field_id": str(i + 7)}) for i, field in enumerate(rows.schema)
    ]
    noted = rows.cast(pa.schema(fields, metadata={"owner": "me"}))
    pa_parquet.write_table(noted, tmp_path / "in" / "1.parquet")
    transform_dataset(model, tmp_path / "in", tmp_path / "out")
    before, after = (pa_parquet.read_schema(tmp_path / at / "1.parquet") for at in ("in", "out"))
    assert after.equals(before, check_metadata=True)
    (tmp_path / "packed").mkdir()
    visits[1][:50].to_csv(tmp_path / "packed" / "1.csv.gz", index=False)
    transform_dataset(model, tmp_path / "packed", tmp_path / "packed-out")
    expected = load(model).predict_mm(visits[1][:50]).to_numpy()
    found = pd.read_csv(tmp_path / "packed-out" / "1.csv.gz")
    assert (found.isna().to_numpy() == expected).all()


def test_text_stays_as_it_was_written(model, visits, tmp_path):
    (tmp_path / "in").mkdir()
    for k in range(2):
        visits[1][k * 225 : (k + 1) * 225].to_csv(tmp_path / "in" / f"{k}.csv", index=False)
    done = transform_dataset(model, tmp_path / "in", tmp_path / "out", mask_out=tmp_path / "mask")

    def read(folder):
        parts = (pd.read_csv(folder / f"{k}.csv", dtype=str, keep_default_na=False) for k in (0, 1))
        return pd.concat(parts, ignore_index=True)

    before, after, mask = map(read, (tmp_path / "in", tmp_path / "out", tmp_path / "mask"))
    there = (before != "").to_numpy()
    assert (before.to_numpy()[there] == after.to_numpy()[there]).all()
    assert ((after == "").to_numpy() == (mask == "True").to_numpy()).all()
    in_memory = load(model).predict_mm(visits[1])
    assert ((mask == "True").to_numpy() == in_memory.to_numpy()).all()
    assert verify(tmp_path / "out") == done


def test_what_is_done_is_not_done_again(model, folder, tmp_path):
    done = transform_dataset(model, folder, tmp_path / "out", piece_rows=70)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    gone = tmp_path / "out" / done.pieces[2].name
    gone.unlink()
    assert transform_dataset(model, folder, tmp_path / "out", piece_rows=70) == done
    again = {path for path, t in times.items() if path.stat().st_mtime_ns != t}
    assert again == {gone}


def test_a_full_disk_loses_nothing(model, folder, tmp_path, monkeypatch):
    expected = transform_dataset(model, folder, tmp_path / "expected", piece_rows=70)
    count, sync = iter(range(10**6)), os.fsync

    def full(number):
        if next(count) > 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(FileError, match="No space left"):
            transform_dataset(model, folder, tmp_path / "out", piece_rows=70)
    with pytest.raises(FileError, match="is not complete: .* pieces are done"):
        verify(tmp_path / "out")
    transform_dataset(model, folder, tmp_path / "out", piece_rows=70)
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
    assert verify(tmp_path / "out").tally == expected.tally


def test_pieces_that_cannot_be_read_are_named_and_done_later(model, folder, tmp_path):
    (tmp_path / "in").mkdir()
    for file in folder.iterdir():
        (tmp_path / "in" / file.name).write_bytes(file.read_bytes())
    broken = tmp_path / "in" / "part-1.parquet"
    good = broken.read_bytes()
    broken.write_bytes(good[:4] + bytes(1500) + good[1504:])
    with pytest.raises(FileError, match=r"cannot be read: .*part-1.parquet, rows"):
        transform_dataset(model, tmp_path / "in", tmp_path / "out", piece_rows=70)
    broken.write_bytes(good)
    transform_dataset(model, tmp_path / "in", tmp_path / "out", piece_rows=70)
    transform_dataset(model, folder, tmp_path / "expected", piece_rows=70)
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")


def test_a_worker_that_dies_is_replaced(model, folder, whole, tmp_path):
    shared = Shared(model.read_bytes(), {"table": str(tmp_path / "out")})
    pieces = list(find_dataset(folder).pieces(70))
    with LocalEngine(2).started(shared) as run:
        records = list(run(tasks.complete_and_die_once, pieces))
    assert (tmp_path / "out.killed").exists()
    assert {record.name for record in records} == {piece.name for piece in pieces}
    assert pa_parquet.read_table(tmp_path / "out").num_rows == whole.table.num_rows


def test_a_worker_that_a_broken_pool_forgot_ends_when_it_is_told(tmp_path):
    """One that was being started while the pool broke is not terminated by the pool."""
    context = multiprocessing.get_context("spawn")
    ended, ending = context.Pipe(duplex=False)
    (tmp_path / "shared").write_bytes(pickle.dumps("what tasks share"))
    worker = context.Process(target=tasks.set_up_and_wait, args=(str(tmp_path / "shared"), ended))
    worker.start()
    ending.close()
    worker.join(60)
    assert worker.exitcode == 1


def test_workers_that_keep_dying_are_given_up(model, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("diffjoint.engines.local.MOST_ATTEMPTS", 1)
    shared = Shared(model.read_bytes(), {"table": str(tmp_path / "out")})
    pieces = list(find_dataset(folder).pieces(70))
    with LocalEngine(2).started(shared) as run, pytest.raises(FileError, match="Workers have died"):
        list(run(tasks.die, pieces))


def test_workers_that_die_before_they_hear_anything_are_given_up(folder):
    """However much tasks share: it is not sent through a pipe that nobody reads."""
    pieces = list(find_dataset(folder).pieces(150))
    resource_tracker.ensure_running()
    usual = spawn.get_executable()
    spawn.set_executable("/bin/false")
    try:
        with (
            LocalEngine(2).started(bytes(10**6)) as run,
            pytest.raises(FileError, match=r"Workers have died 3 times .* under `if __name__"),
        ):
            list(run(tasks.die, pieces))
    finally:
        spawn.set_executable(usual)


def test_a_worker_that_would_start_workers_is_told_why(monkeypatch):
    """It runs a script that starts them as it is imported; else it would wait for ever."""
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(InputError, match=r'under `if __name__ == "__main__":`'):
        LocalEngine(2).started(None)


def test_a_run_that_is_killed_goes_on_to_the_same_bytes(model, folder, tmp_path):
    transform_dataset(model, folder, tmp_path / "expected", piece_rows=7)
    command = [sys.executable, "-m", "diffjoint", "transform", str(model), str(folder)]
    command += [str(tmp_path / "out"), "--piece-rows", "7", "--quiet"]
    run = subprocess.Popen(command)
    records = tmp_path / "out" / "_diffjoint" / "pieces"
    while run.poll() is None and len(list(records.rglob("*.json"))) < 3:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert not (tmp_path / "out" / "_diffjoint" / "manifest.json").exists()
    transform_dataset(model, folder, tmp_path / "out", piece_rows=7)
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")


def test_verify_finds_every_fault(model, folder, tmp_path):
    out = tmp_path / "out"
    done = transform_dataset(model, folder, out, piece_rows=150)
    first, second, third = (out / piece.name for piece in done.pieces)
    for fault in ("was altered", "bytes in place of", "is missing", "not in the manifest"):
        kept = {path: path.read_bytes() for path in (first, second, third)}
        if fault == "was altered":
            first.write_bytes(kept[first][:-1] + bytes([kept[first][-1] ^ 1]))
        elif fault == "bytes in place of":
            second.write_bytes(kept[second][:-1])
        elif fault == "is missing":
            third.unlink()
        else:
            (out / "other.parquet").write_bytes(b"")
        with pytest.raises(FileError, match=fault):
            verify(out)
        for path, content in kept.items():
            path.write_bytes(content)
    (out / "other.parquet").unlink()
    assert verify(out) == done


def test_another_run_does_not_go_on_with_these_pieces(model, folder, tmp_path, monkeypatch):
    transform_dataset(model, folder, tmp_path / "out", piece_rows=150)
    with pytest.raises(FileError, match="output of another run; what differs: pieces"):
        transform_dataset(model, folder, tmp_path / "out", piece_rows=70)
    monkeypatch.setattr("diffjoint.__version__", "0.0.1", raising=False)
    with pytest.raises(FileError, match=r"what differs: the version of diffjoint\. Start it as"):
        transform_dataset(model, folder, tmp_path / "out", piece_rows=150)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(FileError, match="new or an empty folder"):
        transform_dataset(model, folder, tmp_path / "full")


def test_outputs_stay_apart_from_each_other_and_from_what_is_read(model, folder, tmp_path):
    with pytest.raises(InputError, match="holds the files that are read"):
        transform_dataset(model, folder, folder)
    with pytest.raises(InputError, match="do not lie in each other"):
        transform_dataset(model, folder, tmp_path / "out", mask_out=tmp_path / "out" / "mask")
    with pytest.raises(InputError, match="lies in the folder that is read"):
        transform_dataset(model, folder, folder / "completed")


def test_other_columns_are_refused_before_anything_is_written(model, folder, tmp_path):
    (tmp_path / "in").mkdir()
    table = pa_parquet.read_table(folder)
    pa_parquet.write_table(table.drop_columns("age"), tmp_path / "in" / "1.parquet")
    with pytest.raises(InputError, match="must have the columns that fit saw"):
        transform_dataset(model, tmp_path / "in", tmp_path / "out")
    (tmp_path / "in" / "1.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        transform_dataset(model, tmp_path / "in", tmp_path / "out")
    (tmp_path / "text").mkdir()
    table.drop_columns("age").to_pandas().to_csv(tmp_path / "text" / "1.csv", index=False)
    with pytest.raises(InputError, match=r"1\.csv must have the columns that fit saw"):
        transform_dataset(model, tmp_path / "text", tmp_path / "out")
    (tmp_path / "text" / "1.csv").write_bytes(b"")
    with pytest.raises(FileError, match=r"as text: .*1\.csv \(it is empty"):
        transform_dataset(model, tmp_path / "text", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_without_rows_stays_one(model, folder, tmp_path):
    (tmp_path / "in").mkdir()
    table = pa_parquet.read_table(folder)
    for k, rows in enumerate((table.slice(0, 0), table.slice(0, 50))):
        pa_parquet.write_table(rows, tmp_path / "in" / f"{k}.parquet")
    done = transform_dataset(model, tmp_path / "in", tmp_path / "out")
    assert [piece.n_rows for piece in done.pieces] == [0, 50]
    assert isinstance(pa_parquet.read_table(tmp_path / "out"), pa.Table)


def test_records_are_plain_text(model, folder, tmp_path):
    transform_dataset(model, folder, tmp_path / "out", piece_rows=150)
    manifest = json.loads((tmp_path / "out" / "_diffjoint" / "manifest.json").read_text())
    assert manifest["n_rows"] == 450
    assert manifest["tally"]["columns"]["spouse_age"]["missing"] > 0


def test_what_the_system_refuses_is_told_with_how_to_go_on(model, folder, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO), "disk")

    with monkeypatch.context() as broken:
        broken.setattr("diffjoint.engines.manifest._write", refuse)
        with pytest.raises(FileError, match="Cannot read or write disk: .* start the run again"):
            transform_dataset(model, folder, tmp_path / "out")
    assert transform_dataset(model, folder, tmp_path / "out").n_rows > 0
