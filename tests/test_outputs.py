"""Outputs reach what they are written to: files, links, pipes, devices, and several together."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from diffjoint._atomic import check_writable, staged_outputs, write_whole
from diffjoint.errors import FileError
from diffjoint.io.files import read_file, write_file

WRITES_TWO = """
import os, signal, sys
from diffjoint import _atomic
put, n_put = _atomic._put, 0
def killed(*args):
    global n_put
    n_put += 1
    if n_put > int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    put(*args)
_atomic._put = killed
with _atomic.staged_outputs():
    for name in "abc":
        _atomic.write_whole(name, lambda file: file.write(b"new"))
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
from diffjoint._atomic import check_writable, write_whole
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


@pytest.mark.parametrize("n_put", [0, 1, 2])
def test_a_kill_between_renames_is_cleaned_up_by_the_next_run(tmp_path, n_put):
    for name in "abc":
        (tmp_path / name).write_text("old")
    (tmp_path / ".diffjoint-other-0.tmp").write_text("of another")
    (tmp_path / ".a.tmp").write_text("of somebody")
    killed = subprocess.run(
        [sys.executable, "-c", WRITES_TWO, str(n_put)], cwd=tmp_path, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    states = [(tmp_path / name).read_text() for name in "abc"]
    assert states == ["new"] * n_put + ["old"] * (3 - n_put)
    assert len(names(tmp_path)) == 5 + 3 - n_put
    subprocess.run([sys.executable, "-c", WRITES_TWO, "9"], cwd=tmp_path, check=True)
    assert names(tmp_path) == [".a.tmp", ".diffjoint-other-0.tmp", "a", "b", "c"]
    assert [(tmp_path / name).read_text() for name in "abc"] == ["new"] * 3


def test_a_file_that_is_being_written_is_not_left_over(tmp_path):
    with staged_outputs():
        write(tmp_path / "a", b"ours")
        write_whole(tmp_path / "a", lambda file: file.write(b"theirs"), at_once=True)
        assert (tmp_path / "a").read_bytes() == b"theirs"
    assert (tmp_path / "a").read_bytes() == b"ours"
