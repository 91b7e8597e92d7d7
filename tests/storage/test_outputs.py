"""Outputs reach what they are written to: files, links, pipes, devices, and several together."""

import errno
import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from diffjoint.errors import FileError
from diffjoint.io.files import read_file, write_file
from diffjoint.storage import locks
from diffjoint.storage.atomic import check_writable, staged_outputs, when_in_place, write_whole
from diffjoint.storage.placing import own_prefix, tidy, whole_folder

WRITES_THREE = """
import os, signal, sys
from diffjoint.storage import atomic
def killed(event, args):
    global n_steps
    if event in ("os.rename", "os.link", "os.remove", "open"):
        n_steps += 1
        if n_steps > int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
n_steps = 0
sys.addaudithook(killed)
with atomic.staged_outputs():
    for name in sys.argv[2].split():
        atomic.write_whole(name, lambda file: file.write(b"new"))
"""


def write(path, content=b"new"):
    write_whole(path, lambda file: file.write(content))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_pipe_is_written_to(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    check_writable(pipe)
    write(pipe)
    reader.join(10)
    assert got == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_a_device_stays_a_device(tmp_path):
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    check_writable(link)
    write(link)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert names(tmp_path) == ["null"]


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("to", ["pipe", "file"])
def test_standard_output_by_its_path(tmp_path, path, to):
    code = f"""
from diffjoint.storage import locks
from diffjoint.storage.atomic import check_writable, write_whole
print("before")
check_writable({path!r})
write_whole({path!r}, lambda file: file.write(b"new"))
print("after")
"""
    if to == "pipe":
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        assert done.stdout == b"before\nnewafter\n"
        return
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\nnewafter\n"
    assert names(tmp_path) == ["out"]


def test_tables_go_through_pipes(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n001,x\n,y\n")
    pipe, got = tmp_path / "out.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    file = read_file(str(tmp_path / "in.csv"))
    write_file(str(pipe), file.table, file)
    reader.join(10)
    assert got == ["a,b\n001,x\n,y\n"]


def test_links_modes_and_owners_stay(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    if os.getuid() == 0:
        os.chown(real, 4321, 1234)
    before = real.stat()
    link.symlink_to(real)
    write(link)
    after = real.stat()
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert [(s.st_mode, s.st_uid, s.st_gid) for s in (before, after)] == [
        (before.st_mode, before.st_uid, before.st_gid)
    ] * 2


def test_a_link_to_itself_is_refused_in_words(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for function in (check_writable, write):
        with pytest.raises(FileError, match="Cannot write"):
            function(tmp_path / "loop" / "file")


def test_a_name_may_be_as_long_as_a_file_system_takes(tmp_path):
    path = tmp_path / ("n" * 255)
    check_writable(path)
    write(path)
    assert path.read_bytes() == b"new"


# Several outputs


def test_nothing_is_put_in_place_if_one_fails(tmp_path):
    (tmp_path / "a").write_text("old")

    def fail():
        with staged_outputs():
            write(tmp_path / "a")
            write(tmp_path / "b")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_an_output_that_cannot_be_written_stops_all(tmp_path):
    def write_both():
        with staged_outputs():
            write(tmp_path / "a")
            write(tmp_path / "no" / "b")

    with pytest.raises(FileError, match="Cannot write"):
        write_both()
    assert names(tmp_path) == []


def test_all_are_put_in_place_at_the_end(tmp_path):
    with staged_outputs():
        write(tmp_path / "a", b"first")
        write(tmp_path / "a", b"second")
        write(tmp_path / "b")
        assert not (tmp_path / "a").exists()
    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"second"


def test_what_must_be_there_at_once_is(tmp_path):
    with staged_outputs():
        write_whole(tmp_path / "a", lambda file: file.write(b"new"), at_once=True)
        assert (tmp_path / "a").read_bytes() == b"new"


def run_three(folder, n_steps, check=True, paths="a b c"):
    """Write three files, and be killed at a step unless it is beyond the last."""
    command = [sys.executable, "-c", WRITES_THREE, str(n_steps), paths]
    return subprocess.run(command, cwd=folder, check=check).returncode


def contents(folder):
    return [(folder / name).read_text() for name in "abc" if (folder / name).exists()]


@pytest.mark.parametrize("old", [["old"] * 3, []], ids=["replaced", "new"])
def test_a_kill_at_any_step_leaves_all_old_or_all_new(tmp_path, old):
    """As the next run finds them, before it writes anything itself."""
    (tmp_path / ".diffjoint-other-0.tmp").write_text("of another")
    (tmp_path / ".a.tmp").write_text("of somebody")
    states = set()
    for n_steps in range(0, 60, 4):
        for name in "abc":
            (tmp_path / name).unlink(missing_ok=True)
        for name, text in zip("abc", old, strict=False):
            (tmp_path / name).write_text(text)
        code = run_three(tmp_path, n_steps, check=False)
        tidy(tmp_path / "a")
        assert contents(tmp_path) in (old, ["new"] * 3)
        states.add((code, *contents(tmp_path)))
        for name in "bc":
            tidy(tmp_path / name)
        there = {".a.tmp", ".diffjoint-other-0.tmp", *("abc" if contents(tmp_path) else "")}
        assert set(names(tmp_path)) == there
    assert len(states) >= 2


@pytest.mark.slow
def test_what_was_written_after_a_kill_is_left_alone(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("old")
    for n_steps in range(60):
        if run_three(tmp_path, n_steps, check=False) == 0 or contents(tmp_path)[0] == "new":
            break
    (tmp_path / "a").write_text("mine")
    tidy(tmp_path / "a")
    assert contents(tmp_path) == ["mine", "old", "old"]


@pytest.mark.slow
def test_a_kill_is_undone_from_whichever_folder_is_named_next(tmp_path):
    """Outputs in several folders; the next run names only what is in the last."""
    paths, folders = ["one/a", "one/b", "two/c"], ["one", "two"]
    for folder in folders:
        (tmp_path / folder).mkdir()
    ends = set()
    for n_steps in range(0, 60, 3):
        for path in paths:
            (tmp_path / path).write_text("old")
        code = run_three(tmp_path, n_steps, check=False, paths=" ".join(paths))
        tidy(tmp_path / "two" / "c")
        left = [(tmp_path / path).read_text() for path in paths]
        assert left in (["old"] * 3, ["new"] * 3)
        ends.add((code, left[0]))
        for path in paths[:2]:
            tidy(tmp_path / path)
        assert [names(tmp_path / folder) for folder in folders] == [["a", "b"], ["c"]]
    assert len(ends) >= 2


def test_notes_that_lead_in_a_circle_or_nowhere_end(tmp_path):
    for here, there in (("one", "two"), ("two", "one")):
        (tmp_path / here).mkdir()
        note = tmp_path / here / f".diffjoint-0000000{len(here + there) % 7}.elsewhere"
        note.write_text(json.dumps(str(tmp_path / there)))
    gone = tmp_path / "one" / ".diffjoint-0000000a.elsewhere"
    gone.write_text(json.dumps(str(tmp_path / "a disk that was taken out")))
    for i, text in enumerate(["", "[", "3", '"relative"', '"/nul\\u0000"', "[" * 100_000]):
        (tmp_path / "one" / f".diffjoint-1000000{i}.elsewhere").write_text(text)
    tidy(tmp_path / "one" / "new")
    assert names(tmp_path / "one") == [gone.name]


def test_what_another_process_finished_meanwhile_is_not_undone(tmp_path, monkeypatch):
    """A journal is opened; before it is locked, its process is done, and lets go of it."""
    new = tmp_path / "new"
    new.write_text("new")
    told = new.stat()
    stamp = [told.st_ino, told.st_size, told.st_mtime_ns]
    journal = tmp_path / ".diffjoint-00000000.begun"
    journal.write_text(json.dumps([{"target": str(new), "was_there": False, "new": stamp}]))
    lock = locks.lock

    def too_late(number):
        journal.unlink(missing_ok=True)
        return lock(number)

    monkeypatch.setattr("diffjoint.storage.locks.lock", too_late)
    tidy(new)
    assert names(tmp_path) == ["new"]


def test_runs_at_once_leave_the_files_of_one_of_them(tmp_path):
    def run(content):
        for _ in range(20):
            with staged_outputs():
                for name in "abc":
                    write(tmp_path / name, content)

    for _ in range(3):
        threads = [threading.Thread(target=run, args=(b"%d" % i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(contents(tmp_path))) == 1
        assert names(tmp_path) == ["a", "b", "c"]


def test_a_folder_that_somebody_else_locks_is_not_waited_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr("diffjoint.storage.locks._LONGEST_WAIT", 0.1)
    number = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_EX)
    write(tmp_path / "a")
    os.close(number)
    assert names(tmp_path) == ["a"]


def test_without_locks_only_what_is_old_is_left_over(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    with staged_outputs():
        write(tmp_path / "a", b"ours")
        tidy(tmp_path / "a")
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == ["a"]
    left_over = tmp_path / f"{own_prefix(tmp_path / 'a')}00000000.tmp"
    left_over.write_text("left")
    os.utime(left_over, (0, 0))
    tidy(tmp_path / "a")
    assert names(tmp_path) == ["a"]


def test_what_other_outputs_left_behind_goes_after_a_day(tmp_path):
    left_over = tmp_path / f"{own_prefix(tmp_path / 'b')}00000000.tmp"
    left_over.write_text("left")
    tidy(tmp_path / "a")
    assert names(tmp_path) == [left_over.name]
    os.utime(left_over, (0, 0))
    tidy(tmp_path / "a")
    assert names(tmp_path) == []


def test_what_is_written_is_read_by_no_more_people_than_what_is_replaced(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    with staged_outputs():
        write(tmp_path / "a")
        beside = next(path for path in tmp_path.iterdir() if path.name != "a")
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("becomes", ["nothing", "a file"])
def test_a_folder_that_is_gone_at_the_end_leaves_the_others_as_they_were(tmp_path, becomes):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "a").write_text("old")

    def write_both():
        with staged_outputs():
            write(tmp_path / "one" / "a")
            write(tmp_path / "two" / "b")
            shutil.rmtree(tmp_path / "two")
            if becomes == "a file":
                (tmp_path / "two").write_text("a file")

    with pytest.raises(FileError, match="Choose a path in a folder that exists"):
        write_both()
    assert names(tmp_path / "one") == ["a"]
    assert (tmp_path / "one" / "a").read_text() == "old"


def test_what_cannot_be_put_back_is_put_back_by_the_next_run(tmp_path, monkeypatch):
    """A disk that fails twice."""
    for name in "ab":
        (tmp_path / name).write_text("old")
    replace, n_calls = os.replace, []

    def fail(source, target):
        n_calls.append(target)
        if len(n_calls) > 1:
            raise OSError(errno.EIO, "broken")
        replace(source, target)

    def write_both():
        with staged_outputs():
            for name in "ab":
                write(tmp_path / name)

    with monkeypatch.context() as failing:
        failing.setattr("os.replace", fail)
        with pytest.raises(FileError, match="nor put back .* The next run that names it puts it"):
            write_both()
    tidy(tmp_path / "b")
    assert [(tmp_path / name).read_text() for name in "ab"] == ["old", "old"]
    assert names(tmp_path) == ["a", "b"]


def test_an_output_that_cannot_be_put_in_place_puts_all_back(tmp_path):
    (tmp_path / "a").write_text("old")

    def write_both():
        with staged_outputs():
            for name in "abc":
                write(tmp_path / name)
            (tmp_path / "c").mkdir()

    with pytest.raises(FileError, match="Cannot write .*c: "):
        write_both()
    assert names(tmp_path) == ["a", "c"]
    assert (tmp_path / "a").read_text() == "old"


def test_journals_of_others_do_nothing(tmp_path):
    """A folder from a stranger can hold anything under these names."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    entry = {"target": str(mine), "was_there": False, "new": [1, 4, 0]}
    targets = ["/", "", "mine", "/nul\0", "/\ud800", 3, None, "x" * 5_000]
    odd = [[{**entry, "target": target}] for target in targets]
    odd += [[{**entry, "new": new}] for new in (["9" * 5_000], [1e999], [float("nan")], {}, "abc")]
    texts = [json.dumps(said) for said in ([entry], {}, [1], *odd)]
    for i, text in enumerate([*texts, "[[[", "[" * 100_000, ""]):
        for state in ("begun", "done"):
            (tmp_path / f".diffjoint-{i:08x}.{state}").write_text(text)
    (tmp_path / ".diffjoint-ffffffff.begun").symlink_to("mine")
    tidy(tmp_path / "new")
    assert names(tmp_path) == [".diffjoint-ffffffff.begun", "mine"]
    assert mine.read_text() == "mine"


def test_what_is_said_waits_until_all_is_in_place(tmp_path):
    said = []
    with staged_outputs(), staged_outputs():
        write(tmp_path / "a")
        when_in_place(lambda: said.append((tmp_path / "a").exists()))
        assert said == []
    assert said == [True]
    when_in_place(lambda: said.append("now"))
    assert said == [True, "now"]


def test_a_file_that_is_being_written_is_not_left_over(tmp_path):
    with staged_outputs():
        write(tmp_path / "a", b"ours")
        write_whole(tmp_path / "a", lambda file: file.write(b"theirs"), at_once=True)
        assert (tmp_path / "a").read_bytes() == b"theirs"
    assert (tmp_path / "a").read_bytes() == b"ours"


def test_a_folder_of_our_own_is_not_waited_for(tmp_path, monkeypatch):
    """It is locked while it is filled, by the process that fills it."""
    monkeypatch.setattr("diffjoint.storage.locks._LONGEST_WAIT", 60.0)
    started = time.monotonic()
    with whole_folder(tmp_path / "world") as beside:
        write_whole(beside / "table.csv", lambda file: file.write(b"new"))
    assert time.monotonic() - started < 30
    assert (tmp_path / "world" / "table.csv").read_bytes() == b"new"
