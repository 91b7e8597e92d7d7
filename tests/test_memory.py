import numpy as np
import pandas as pd
import pytest

from diffjoint import Diffusion, SelectiveImputer, _memory
from diffjoint._memory import check_room, resident_bytes, rows_within
from diffjoint.cli import main
from diffjoint.errors import InputError
from diffjoint.io import text
from diffjoint.simulate import household_survey
from diffjoint.steps import impute_blocks, learn_only
from tests.conftest import FEW_CELLS

pytestmark = FEW_CELLS
MM = ["spouse_age", "weekly_hours", "commute"]
MB = 10**6


@pytest.fixture(scope="module")
def survey():
    table = household_survey(300).observed_table
    return pd.concat([table, table.iloc[:80], table.iloc[:80]], ignore_index=True)


@pytest.fixture(scope="module")
def fitted(survey):
    return SelectiveImputer(MM, n_boosters=1, random_state=0).fit(survey)


def blocks_of(table, n_rows):
    return lambda: (table.iloc[i : i + n_rows] for i in range(0, len(table), n_rows))


def joined(results, part):
    return pd.concat([getattr(result, part) for result in results])


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [70, 1_000])
def test_a_table_in_blocks_is_completed_as_the_whole_is(survey, fitted, n_rows):
    imputer = SelectiveImputer(MM, n_boosters=1, random_state=0)
    learn_only(imputer, lambda: survey)
    whole = fitted.impute(survey)
    results = list(impute_blocks(imputer, blocks_of(survey, n_rows)))
    for part in ("table", "meaningful", "review"):
        pd.testing.assert_frame_equal(joined(results, part), getattr(whole, part))
    for part in ("probability", "uncertainty"):
        pd.testing.assert_frame_equal(joined(results, part), getattr(whole, part), rtol=1e-12)
    for name in ("n_observed", "n_kept", "n_imputed", "n_left", "n_review", "n_unticked"):
        assert sum(getattr(result, name) for result in results) == getattr(whole, name)


@pytest.mark.slow
def test_new_rows_in_blocks_are_completed_as_the_whole_is(survey, fitted):
    new = household_survey(500).observed_table.iloc[300:]
    new = pd.concat([survey.iloc[:50], new, new, survey.iloc[:50]], ignore_index=True)
    results = list(impute_blocks(fitted, blocks_of(new, 60)))
    pd.testing.assert_frame_equal(joined(results, "table"), fitted.impute(new).table)


@pytest.fixture
def survey_file(tmp_path, survey):
    path = tmp_path / "survey.csv"
    survey.to_csv(path, index=False)
    return path


def saved(table, path):
    SelectiveImputer(MM, diffusion=Diffusion(max_epochs=1), random_state=0).fit(table).save(path)


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--mm-output", "indicator"], ["--code", "45=lost"]])
def test_a_file_in_blocks_is_written_as_the_whole_is(survey_file, tmp_path, monkeypatch, options):
    def written(name, *more):
        paths = [tmp_path / f"{name}.{part}.csv" for part in ("out", "mask", "proba", "spread")]
        sides = zip(("--mask-out", "--proba-out", "--uncertainty-out"), paths[1:], strict=True)
        sides = [part for side in sides for part in side]
        command = [
            "impute",
            survey_file,
            paths[0],
            "-m",
            ",".join(MM),
            "-q",
            *sides,
            "--set",
            "n_boosters=1",
        ]
        assert run(*command, *options, *more) == 0
        return [path.read_bytes() for path in paths]

    whole = written("whole", "--review", tmp_path / "review.csv")
    monkeypatch.setattr(text, "BLOCK_BYTES", 2_000)
    assert written("blocks") == whole


@pytest.mark.slow
def test_a_block_that_fails_leaves_the_old_file(survey_file, survey, tmp_path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", 2_000)
    model, out = tmp_path / "model", tmp_path / "out.csv"
    saved(survey, model)
    out.write_text("old")
    with survey_file.open("a") as file:
        file.write("P9,33,perhaps,,no,,,900\n")
    assert run("transform", model, survey_file, out, "-q", "--unseen", "error") == 2
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out.csv", "survey.csv"]


@pytest.mark.slow
def test_a_limit_with_room_for_all_rows_changes_nothing(survey_file, tmp_path, capsys):
    outs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    command = ["impute", survey_file, "--set", "n_boosters=1"]
    assert run(*command, outs[0], "-m", ",".join(MM)) == 0
    assert run(*command, outs[1], "-m", ",".join(MM), "--memory-limit", "50GB") == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert "has room" not in "".join(capsys.readouterr())


@pytest.mark.slow
def test_a_tight_limit_learns_from_some_rows_and_completes_all(
    survey_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(_memory, "FEWEST_ROWS", 100)
    monkeypatch.setattr(_memory, "resident_bytes", lambda: 0)
    monkeypatch.setattr(_memory, "FIXED", 0)
    out = tmp_path / "out.csv"
    limit = 200 * 8 * (_memory.BY_CELL + _memory.BY_GROWN_CELL)
    command = ["impute", survey_file, out, "-m", ",".join(MM), "--threads", 1]
    assert run(*command, "--memory-limit", f"{limit}B") == 0
    assert "has room to learn from 200 of the 460 rows" in " ".join(capsys.readouterr().out.split())
    assert len(pd.read_csv(out)) == 460
    assert pd.read_csv(out)["age"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["impute", "transform"])
def test_a_limit_that_is_too_low_is_refused_before_any_work(
    command, survey_file, survey, tmp_path, capsys
):
    model = []
    if command == "transform":
        model = [tmp_path / "model"]
        saved(survey, model[0])
    searched = ["-m", ",".join(MM)] if command == "impute" else []
    out = tmp_path / "out.csv"
    assert run(command, *model, survey_file, out, *searched, "--memory-limit", "50MB") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--memory-limit must be at least" in told
    assert "got 50 MB. Raise it, or leave it out." in told
    assert not out.exists()


@pytest.mark.slow
def test_more_room_learns_from_more_rows_up_to_all():
    learnt = [
        rows_within(resident_bytes() + room * MB, 10**6, 20, 2) for room in (400, 800, 10_000)
    ]
    assert 10_000 < learnt[0] < learnt[1] < learnt[2] == 10**6


@pytest.mark.slow
def test_a_small_table_is_learnt_whole_or_not_at_all():
    assert rows_within(resident_bytes() + 300 * MB, 500, 20, 2) == 500
    with pytest.raises(InputError, match=r"memory_limit must be at least \d+ MB for 500 rows"):
        rows_within(10 * MB, 500, 20, 2)


@pytest.mark.slow
def test_rows_to_complete_need_room_too():
    check_room(resident_bytes() + 300 * MB, 10**6)
    with pytest.raises(InputError, match="for 100,000,000 rows"):
        check_room(resident_bytes() + 300 * MB, 10**8)


def test_memory_that_was_freed_is_given_back():
    parts = [np.ones(20_000) for _ in range(1_000)]
    held = resident_bytes()
    del parts
    _memory.release_freed_memory()
    assert resident_bytes() < held - 100 * MB
