"""Let every step that commands take on files fail, or kill them, one step at a time.

For each command, mode and step: the files are put as they were, a copy of this process runs the real
command, and the shim (shim.c) lets its n-th step go wrong. Afterwards the files must be the old ones
or the new ones, all of them: at once after a failure, and after a kill as soon as the next command
names one of them. Of a dataset, which is written piece by piece, each file must be whole, and the
same command must go on to the new files. The fits are made once, by the commands themselves, and
shared.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

COUNT, FAIL_ONCE, DISK_FULL, KILL = range(4)
MODES = {"fails once": FAIL_ONCE, "disk full": DISK_FULL, "killed": KILL}
LONGEST = 120
"""Seconds that a run may take: with a fault it must end no later than without."""
HIDDEN = ".diffjoint-"
"""What the names of temporary files begin with."""
State = dict[str, str]


def state_of(folder: Path) -> State:
    """Return what all files hold."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@dataclass(frozen=True)
class Case:
    """A command, the files that it finds, and those that name what is to be tidied.

    Attributes
    ----------
    run : callable
        Runs it in its folder; returns the exit code.
    prepare : callable
        Makes the folder as it is before.
    outputs : tuple of str
    look : callable
        Returns what the files of a folder hold: of a database, its tables.
    by_piece : str
        A folder that is filled piece by piece, if that is what the command does.
    """

    run: Callable[[], int]
    prepare: Callable[[Path], None]
    outputs: tuple[str, ...]
    look: Callable[[Path], State] = state_of
    by_piece: str = ""


@dataclass
class Counts:
    """What was seen of one command.

    Attributes
    ----------
    n_steps : int
        Steps of a run without a fault.
    n_faults : int
        Faults injected.
    old, new : int
        Runs after which the files were the old ones, or the new ones.
    went_on : int
        Runs after which a part of the pieces was there, and the next run made the others.
    wrong : list of str
        Third states, and runs that ended in another way than in a sentence.
    """

    n_steps: int = 0
    n_faults: int = 0
    old: int = 0
    new: int = 0
    went_on: int = 0
    wrong: list[str] = field(default_factory=list)


def build_shim(folder: Path) -> Path | None:
    """Compile the shim; None where there is no C compiler, or another kind of system."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = shutil.which(compiler) or shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    shim = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return shim


class Shim:
    """The shim, which this process was started with."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.shim_disarm.restype = ctypes.c_long

    def arm(self, folder: Path, step: int, mode: int) -> None:
        """Count steps on a folder from now on; let one go wrong."""
        self._library.shim_arm(os.fsencode(folder), ctypes.c_long(step), mode)

    def disarm(self) -> int:
        """Stop, and return the number of steps."""
        return int(self._library.shim_disarm())


def inject(case: Case, shim: Shim, *, every: int = 1) -> Counts:
    """Run a command with a fault at each step, or at every so many, in each mode."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as name:
        folder, said = Path(os.path.realpath(name)) / "files", Path(name) / "said"
        _fresh(case, folder)
        _warm_up(case, folder, said)
        old = _fresh(case, folder)
        counts.n_steps, code = _count(case, shim, folder, said)
        new = case.look(folder)
        if code != 0:
            counts.wrong.append(f"without a fault: exit code {code}: {said.read_text()[-300:]}")
            return counts
        for how, mode in MODES.items():
            for step in range(1, counts.n_steps + 1, every):
                _fresh(case, folder)
                code = _run(case, shim, folder, said, step, mode)
                counts.n_faults += 1
                what = f"{how} at step {step}"
                _judge(case, shim, folder, old, new, counts, what, code, said)
    return counts


def _judge(
    case: Case,
    shim: Shim,
    folder: Path,
    old: State,
    new: State,
    counts: Counts,
    what: str,
    code: int,
    said: Path,
) -> None:
    from diffjoint.storage.placing import tidy

    is_killed = code == -signal.SIGKILL
    if is_killed and case.outputs:
        tidy(folder / case.outputs[-1])
    words = said.read_text(errors="replace")
    if not is_killed and (code not in (0, 1) or "Traceback" in words or "Unexpected" in words):
        counts.wrong.append(f"{what}: exit code {code}: {words[-300:]}")
    left = _visible(case.look(folder))
    if case.by_piece and left not in (old, new):
        went_wrong = _go_on(case, shim, folder, left, new, said)
        counts.went_on += not went_wrong
        counts.wrong += [f"{what}: {went_wrong}"] if went_wrong else []
        return
    for name in case.outputs:
        tidy(folder / name)
    hidden = [path.name for path in folder.rglob(f"{HIDDEN}*")]
    if hidden:
        counts.wrong.append(f"{what}: exit code {code}, left over: {hidden}")
    elif left == old and (code != 0 or old == new):
        counts.old += 1
    elif left == new:
        counts.new += 1
    else:
        changed = {name for name in {*old, *left} if old.get(name) != left.get(name)}
        counts.wrong.append(f"{what}: exit code {code}, a third state of {sorted(changed)}")


def _visible(state: State) -> State:
    """Leave out temporary files."""
    return {name: told for name, told in state.items() if not Path(name).name.startswith(HIDDEN)}


def _go_on(case: Case, shim: Shim, folder: Path, left: State, new: State, said: Path) -> str:
    """Run a command again that fills a folder piece by piece; return what is wrong then."""
    from diffjoint.engines.shared import STATE

    pieces = {n: told for n, told in left.items() if n not in new or STATE not in Path(n).parts}
    torn = {name for name, told in pieces.items() if new.get(name, told) != told}
    if torn:
        return f"{sorted(torn)} are not whole"
    code = _run(case, shim, folder, said, 0, COUNT)
    if code != 0:
        return f"does not go on: exit code {code}: {said.read_text(errors='replace')[-300:]}"
    done = case.look(folder)
    changed = {name for name in {*done, *new} if done.get(name) != new.get(name)}
    return f"went on to another state of {sorted(changed)}" if changed else ""


def _fresh(case: Case, folder: Path) -> State:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case.prepare(folder)
    return case.look(folder)


def _warm_up(case: Case, folder: Path, said: Path) -> None:
    """Run a command in this process, so that its copies need not import what it takes."""
    sys.stdout.flush()
    where, kept = Path.cwd(), [os.dup(1), os.dup(2)]
    try:
        os.chdir(folder)
        _say_to(said)
        case.run()
        sys.stdout.flush()
    finally:
        os.chdir(where)
        for number, usual in enumerate(kept, 1):
            os.dup2(usual, number)
            os.close(usual)


def _say_to(path: Path) -> None:
    """Let all that is said go to a file."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _count(case: Case, shim: Shim, folder: Path, said: Path) -> tuple[int, int]:
    """Return the steps of a run without a fault, and its exit code."""
    reading, writing = os.pipe()

    def run() -> int:
        code = case.run()
        os.write(writing, str(shim.disarm()).encode())
        return code

    code = _run(Case(run, case.prepare, case.outputs), shim, folder, said, 0, COUNT)
    os.close(writing)
    steps = os.read(reading, 100)
    os.close(reading)
    return int(steps or 0), code


def _run(case: Case, shim: Shim, folder: Path, said: Path, step: int, mode: int) -> int:
    """Run a command in a copy of this process; return how it ended."""
    child = os.fork()
    if child == 0:
        code = 99
        with suppress(BaseException):
            signal.alarm(LONGEST)
            _say_to(said)
            os.chdir(folder)
            shim.arm(folder, step, mode)
            code = case.run()
            shim.disarm()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
