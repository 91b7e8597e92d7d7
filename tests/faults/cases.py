"""The commands that faults are injected into, with the real code and fits that are made once."""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from diffjoint import SelectiveImputer, load, steps
from diffjoint.cli import main
from diffjoint.simulate import household_survey
from tests.conftest import TINY_INPAINT, new_imputer
from tests.faults.harness import Case, State, state_of

COLUMNS = "spouse_age,weekly_hours,commute"
SETTINGS = ["--set", "n_boosters=1"]
SIDES = ["--mask-out", "mask.csv", "--proba-out", "proba.parquet", "--uncertainty-out", "u.csv"]
PAGES = ["--review", "review.csv", "--report", "report.html"]
OUT = ("out.csv", "mask.csv", "proba.parquet", "u.csv", "review.csv", "report.html", "model2")


def cases(base: Path) -> dict[str, Case]:
    """Return a case for each command; ``base`` gets the files that they read."""
    share_fits()
    household_survey(90).observed_table.to_csv(base / "in.csv", index=False)
    fitted = base / "model"
    arguments = ["-m", COLUMNS, "-q", *SETTINGS]
    command("fit", str(base / "in.csv"), str(fitted), *arguments)()
    command("impute", str(base / "in.csv"), str(base / "out.csv"), *arguments)()
    (base / "out.csv").unlink()
    imputer = load(fitted)
    page = imputer.report(household_survey(90).observed_table)

    def prepare(*old: str) -> Callable[[Path], None]:
        def make(folder: Path) -> None:
            for path in base.iterdir():
                shutil.copy(path, folder)
            for name in old:
                (folder / name).write_text("old\n")

        return make

    def prepare_database(folder: Path) -> None:
        prepare()(folder)
        with closing(sqlite3.connect(folder / "there.db")) as there:
            there.executescript("CREATE TABLE other (a); INSERT INTO other VALUES (1), (2);")

    def prepare_folders(folder: Path) -> None:
        prepare()(folder)
        for path in ("one/out.csv", "two/mask.csv"):
            (folder / path).parent.mkdir()
            (folder / path).write_text("old\n")

    def prepare_parts(folder: Path) -> None:
        prepare()(folder)
        (folder / "parts").mkdir()
        table = household_survey(90).observed_table
        for i, rows in enumerate((table[:30], table[30:])):
            rows.to_csv(folder / "parts" / f"{i}.csv", index=False)

    impute = ["impute", "in.csv", "out.csv", *arguments]
    transform = ["transform", "model", "in.csv"]
    in_place = (*transform, "in.csv", "--force", "-q", "--mask-out", "mask.csv")
    everything = [*SIDES, *PAGES]
    world = ("simulate", "bayesian-network", "--rows", "40", "--out", "world", "-q")
    return {
        "impute": Case(command(*impute, "--model-out", "model2", *everything), prepare(*OUT), OUT),
        "impute to new files": Case(command(*impute, *SIDES), prepare(), OUT),
        "impute in blocks": Case(
            command(*impute, "--mask-out", "mask.csv"), prepare("out.csv"), OUT
        ),
        "fit": Case(command("fit", "in.csv", "model2", *arguments), prepare("model2"), OUT),
        "transform": Case(command(*transform, "out.csv", "-q", *everything), prepare(*OUT), OUT),
        "transform to Parquet": Case(
            command(*transform, "out.parquet", "-q"), prepare("out.parquet"), ("out.parquet",)
        ),
        "transform to a new database": Case(
            command(*transform, "out.db", "--mask-out", "out.db::mask", "-q"),
            prepare(),
            ("out.db",),
        ),
        "transform to a database that is there": Case(
            command(*transform, "there.db::completed", "--mask-out", "there.db::mask", "-q"),
            prepare_database,
            ("there.db",),
            look=look_at_databases,
        ),
        "transform to several folders": Case(
            command(*transform, "one/out.csv", "--mask-out", "two/mask.csv", "-q"),
            prepare_folders,
            ("one/out.csv", "two/mask.csv"),
        ),
        "transform a dataset": Case(
            command("transform", "model", "parts", "done", "-q"),
            prepare_parts,
            (),
            by_piece="done",
        ),
        "transform in place": Case(command(*in_place), prepare(), ("in.csv", *OUT)),
        "inspect": Case(command("inspect", "in.csv", "--json", "-q"), prepare(), OUT),
        "simulate": Case(command(*world), prepare(), ("world",)),
        "score": Case(command("score", "world", "world/observed.csv"), prepare_world, ()),
        "save and load in Python": Case(
            in_python(lambda: load(load_and_save("model", "model2"))), prepare("model2"), OUT
        ),
        "report in Python": Case(
            in_python(lambda: page.save("report.html")), prepare("report.html"), OUT
        ),
        "checkpoint": checkpoint_case(),
    }


def share_fits() -> None:
    """Have fits of the same imputer made once: copies of this process find them done."""
    fit, done = SelectiveImputer._fit, {}

    def shared(self: SelectiveImputer, understood: Any) -> Any:
        key = repr(sorted(self.get_params().items(), key=str))
        if key not in done:
            coded = fit(self, understood)
            done[key] = (dict(self.__dict__), coded)
        state, coded = done[key]
        self.__dict__.update(state)
        return coded

    SelectiveImputer._fit = shared  # type: ignore[method-assign]
    learn, models = steps.learn_value_model, {}

    def shared_model(observation: Any, *how: Any) -> Any:
        key = observation.values.tobytes()
        if key not in models:
            models[key] = learn(observation, *how)
        return models[key]

    steps.learn_value_model = shared_model


def command(*arguments: str) -> Callable[[], int]:
    """Return what runs a command and gives its exit code."""

    def run() -> int:
        try:
            main(arguments)
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return run


def in_python(call: Callable[[], object]) -> Callable[[], int]:
    """Return what calls the library; named errors are exit code 1."""
    from diffjoint.errors import DiffJointError

    def run() -> int:
        try:
            call()
        except DiffJointError as error:
            print(error)
            return 1
        except OSError as error:
            print(error)
            return 1
        return 0

    return run


def load_and_save(source: str, path: str) -> str:
    load(source).save(path)
    return path


def look_at_databases(folder: Path) -> State:
    """Return what all files hold: of databases, all tables, as whoever writes next finds them."""
    state = {}
    for path in sorted(folder.glob("*.db")):
        with closing(sqlite3.connect(path)) as found:
            state[path.name] = "\n".join(found.iterdump())
            found.execute("PRAGMA user_version = 0")  # removes what was left beside it
    others = {name: told for name, told in state_of(folder).items() if name not in state}
    return {**others, **state}


def prepare_world(folder: Path) -> None:
    """Make a world to score."""
    from diffjoint.io.world_files import save_world
    from diffjoint.simulate import make_world

    save_world(make_world("bayesian-network", rows=40, seed=0), folder / "world")


def checkpoint_case() -> Case:
    """Return the case of a run of passes that goes on from its checkpoint and saves the next."""
    import torch

    from diffjoint.diffusion.checkpoint import Checkpoint

    passes: list[tuple[Any, ...]] = []
    save = Checkpoint.save

    def remember(self: Checkpoint, *what: Any) -> None:
        passes.append((self.fingerprint, *what))
        save(self, *what)

    Checkpoint.save = remember  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        imputer = new_imputer(
            ["spouse_age"], **TINY_INPAINT, checkpoint=folder, random_state=0, detector="paper"
        )
        imputer.fit(household_survey(60).observed_table)
        spaces = imputer._fitted.model.space, imputer.settings_
    Checkpoint.save = save  # type: ignore[method-assign]
    assert len(passes) == 2
    (mark, *first), (_, *second) = passes

    def checkpoint(folder: str) -> Checkpoint:
        return Checkpoint(folder, mark, torch.device("cpu"))

    def prepare(folder: Path) -> None:
        checkpoint(str(folder)).save(*first)

    def go_on() -> None:
        resumed = checkpoint(".").resume(None, *spaces)
        assert resumed is not None
        assert resumed.last.iteration == first[1].iteration
        checkpoint(".").save(*second)

    return Case(in_python(go_on), prepare, ("checkpoint.diffjoint",))
