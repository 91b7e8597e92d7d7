"""A survey in an SPSS or Stata file: what stands for a missing cell is declared in the file."""

import json
import shlex

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from diffjoint import inspect
from diffjoint.io.files import read_file
from tests.first_contact.command_line import run

CODES = {"hrs_work": {-8.0: "Not applicable", -9.0: "Refused"}, "income": {-9.0: "Refused"}}
LETTERS = {-8.0: "a", -9.0: "b"}


def workers(n=240):
    """Half of them work; hours of the others do not apply, and some refuse."""
    rng = np.random.default_rng(0)
    works = np.repeat([1.0, 2.0], n // 2)
    hours = np.where(works == 1, rng.normal(38, 6, n).round(), -8.0)
    income = rng.lognormal(7.5, 0.4, n).round()
    hours[:12], income[-20:] = -9.0, -9.0
    return pd.DataFrame({"works": works, "hrs_work": hours, "income": income})


@pytest.fixture(params=["sav", "dta"])
def declared(request, tmp_path):
    path, table = tmp_path / f"work.{request.param}", workers()
    if request.param == "sav":
        declared = {name: list(codes) for name, codes in CODES.items()}
        pyreadstat.write_sav(table, str(path), variable_value_labels=CODES, missing_ranges=declared)
        return path
    labels = {n: {LETTERS[c]: text for c, text in own.items()} for n, own in CODES.items()}
    for name in CODES:
        table[name] = table[name].astype(object).replace(LETTERS)
    pyreadstat.write_dta(
        table, str(path), missing_user_values={n: list(own) for n, own in labels.items()},
        variable_value_labels=labels,
    )  # fmt: skip
    return path


@pytest.mark.slow
def test_inspect_reads_declared_codes_as_impute_does(declared, capsys):
    assert run("inspect", declared) == 0
    shown = capsys.readouterr().out
    assert "By their labels: hrs_work:" in shown
    assert "may stand for a missing cell" not in shown
    assert run("inspect", declared, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["disguised"] == []
    assert [column["n_missing"] for column in told["columns"]] == [0, 132, 20]
    complete = shlex.split(told["next"][0]["command"])
    assert "--code" not in complete
    assert run(*complete[1:4], "-m", "hrs_work", "--set", "n_boosters=1", "-q") == 0
    after = read_file(complete[3])
    keeps = inspect(after.table, reason_codes=after.reason_codes)
    assert [column.n_missing for column in keeps.columns] == [0, 120, 0]


def test_a_column_whose_codes_say_meaningful_is_a_candidate():
    """Too few cells for any evidence: the codes are enough."""
    found = inspect(workers(40), reason_codes={"hrs_work": {-8: "meaningful", -9: "lost"}})
    assert found.mm_columns == ["hrs_work"]
    assert found.columns[1].reason == "its codes say so"
    assert found.columns[1].n_missing == 32
    assert [one.column for one in found.disguised] == ["income"]
