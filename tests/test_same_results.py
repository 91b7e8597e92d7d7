"""The command that holds results to be the same tells the same from what is not."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from benchmarks.fixed.fingerprints import fingerprint
from benchmarks.fixed.results import without_words

from benchmarks import same_results
from diffjoint import SelectiveImputer
from diffjoint.simulate import DATA_SETTING

TABLE = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": ["x", None, "y"]}, index=[3, 1, 2])
PIECES = {"completed": TABLE, "mask": TABLE.isna().to_numpy(), "counts": {"n_kept": 1}}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Write or compare what calls give, by default one with three pieces; its code and words."""

    def run(what, calls=None, *options):
        calls = {"tiny": PIECES} if calls is None else calls
        made = {name: lambda _, pieces=pieces: pieces for name, pieces in calls.items()}
        monkeypatch.setattr(same_results, "CALLS", made)
        code = same_results.main([what, str(tmp_path / "prints.json"), *options])
        return code, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (TABLE.assign(a=[1.0, np.nextafter(2.0, 3.0), np.nan]), {"a"}),
        (TABLE.astype({"a": "float32"}), {"a"}),
        (TABLE.assign(b=TABLE["b"].astype("category")), {"b"}),
        (TABLE.assign(a=[-0.0, 2.0, np.nan], b="x"), {"a", "b"}),
        (TABLE.reset_index(drop=True), {"(rows)"}),
        (TABLE[["b", "a"]], {"(rows)"}),
        (TABLE.assign(c=1), {"c", "(rows)"}),
        (TABLE.copy(), set()),
    ],
)
def test_a_table_that_differs_is_told_by_its_parts(other, parts):
    before, after = fingerprint(TABLE), fingerprint(other)
    assert {part for part in {**before, **after} if before.get(part) != after.get(part)} == parts


def test_levels_that_no_cell_has_are_told_apart():
    few, many = (
        pd.Categorical(["x", "y"], categories=levels) for levels in (["x", "y"], ["x", "y", "z"])
    )
    assert fingerprint(pd.DataFrame({"a": few})) != fingerprint(pd.DataFrame({"a": many}))


@pytest.mark.parametrize(
    "results",
    [
        (1, 1.0, True, "1", None),
        (np.zeros(2), np.zeros((2, 1)), np.zeros(2, dtype="float32"), np.zeros(2, dtype=bool)),
        (TABLE, pl.from_pandas(TABLE), TABLE.to_numpy()),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}, schema={"a": pl.Int32})),
        (b"a", b"b", "a"),
    ],
)
def test_results_of_other_kinds_are_told_apart(results):
    assert len({json.dumps(fingerprint(result)) for result in results}) == len(results)


def test_numpys_scalars_and_the_order_of_keys_do_not_matter():
    assert fingerprint({"a": np.float64(0.1)}) == fingerprint({"a": 0.1})
    assert fingerprint([{"a": 1, "b": (2,)}]) == fingerprint([{"b": [2], "a": np.int64(1)}])


def test_words_are_left_out_of_tables():
    told = pd.DataFrame({"row": [0], "reason": ["by chance"], "probability": [0.5]})
    assert list(without_words(told)) == ["row", "probability"]
    assert without_words(pl.from_pandas(told)).columns == ["row", "probability"]


def test_what_is_the_same_is_counted(run):
    assert run("write")[0] == 0
    assert run("compare") == (0, "3 pieces of 1 calls are the same, bit for bit.\n")


def test_what_differs_is_listed(run):
    run("write", {"tiny": PIECES, "old": PIECES})
    changed = {"completed": TABLE.assign(a=0.0), "counts": {"n_kept": 2}, "draws": TABLE}
    code, said = run("compare", {"tiny": changed})
    assert code == 1
    assert said.splitlines() == [
        "tiny, completed: not the same in a",
        "tiny, mask: gone",
        "tiny, counts: not the same in n_kept",
        "tiny, draws: new",
        "old: the call is gone",
        "5 differences, in 3 pieces of 1 calls.",
    ]


def test_calls_that_are_not_asked_for_are_not_compared(run):
    run("write", {"tiny": PIECES, "other": PIECES})
    code, said = run("compare", {"tiny": PIECES, "other": {}}, "--only", "tiny")
    assert (code, said) == (0, "3 pieces of 1 calls are the same, bit for bit.\n")
    assert run("compare", {"tiny": PIECES, "other": {}})[0] == 1


def test_a_new_call_is_named_and_nothing_at_all_is_no_success(run):
    run("write")
    code, said = run("compare", {"tiny": PIECES, "later": PIECES})
    assert code == 0
    assert "later: not compared, not in the file" in said
    code, said = run("compare", {"tiny": PIECES, "later": PIECES}, "--only", "later")
    assert code == 1
    assert said.endswith("No call was compared.\n")


def test_a_file_that_is_not_there_is_found_out_first(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("compare")
    assert "prints.json is not there. Have it written first" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        same_results.main(["write", str(tmp_path / "folder" / "prints.json")])
    assert "folder is no folder" in capsys.readouterr().err


def test_other_versions_are_said(run, tmp_path):
    run("write")
    path = tmp_path / "prints.json"
    path.write_text(path.read_text().replace('"numpy": "', '"numpy": "0.'))
    code, said = run("compare")
    assert code == 0
    assert f"numpy: 0.{np.__version__} then, {np.__version__} now." in said


def test_real_tables_that_are_not_there_are_skipped_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(DATA_SETTING, raising=False)
    path, calls = str(tmp_path / "prints.json"), ["simulated", "acs-2018-wyoming"]
    assert same_results.main(["write", path, "--only", *calls]) == 0
    assert "acs-2018-wyoming: skipped. American Community Survey" in capsys.readouterr().err
    assert same_results.main(["compare", path, "--only", *calls]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "acs-2018-wyoming: not compared, skipped when the file was written"
    assert said[1].endswith(" pieces of 1 calls are the same, bit for bit.")


def test_calls_give_the_same_twice_and_another_where_the_code_differs(
    tmp_path, monkeypatch, capsys
):
    path = str(tmp_path / "prints.json")
    assert same_results.main(["write", path, "--only", "resumed", "inspect"]) == 0
    assert "14 pieces of 2 calls are fixed" in capsys.readouterr().out
    assert same_results.main(["compare", path, "--only", "resumed"]) == 0
    assert "13 pieces of 1 calls are the same" in capsys.readouterr().out
    fit = SelectiveImputer.fit
    monkeypatch.setattr(
        SelectiveImputer, "fit", lambda self, X: fit(self.set_params(random_state=1), X)
    )
    assert same_results.main(["compare", path, "--only", "resumed"]) == 1
    assert "resumed, fit rows: completed: not the same in" in capsys.readouterr().out
