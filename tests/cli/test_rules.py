"""``diffjoint rules`` and ``diffjoint check``."""

import json
import tomllib
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from diffjoint.cli import main
from diffjoint.simulate import household_survey

GATES = {"spouse_age": "married", "weekly_hours": "employed", "commute": "employed"}
RULES = {column: f'{gate} == "yes"' for column, gate in GATES.items()}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = household_survey(1_000, loss_rate=0.2).observed_table
    table.to_csv("survey.csv", index=False)
    return table


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code


def test_found_rules_are_shown_and_written(survey, tmp_path, capsys):
    outputs = ["--out", "rules.toml", "--svg", "gates.svg", "--mermaid", "gates.mmd"]
    assert run("rules", "survey.csv", *outputs) == 0
    assert 'employed == "yes"' in capsys.readouterr().out
    assert tomllib.loads((tmp_path / "rules.toml").read_text())["rules"] == RULES
    assert ET.fromstring((tmp_path / "gates.svg").read_text()).tag.endswith("svg")
    assert (tmp_path / "gates.mmd").read_text().count("-->") == 3


def test_found_rules_are_printed_as_json(survey, capsys):
    assert run("rules", "survey.csv", "--json", "--columns", "commute") == 0
    (rule,) = json.loads(capsys.readouterr().out)
    assert (rule["column"], rule["text"]) == ("commute", RULES["commute"])
    assert rule["n_exceptions"] == 0


def test_a_table_that_obeys_its_rules_passes_the_check(survey, capsys):
    run("rules", "survey.csv", "--out", "rules.toml", "--quiet")
    assert run("check", "survey.csv", "--rules", "rules.toml") == 0
    assert "No cell breaks its rule" in capsys.readouterr().out


def test_a_table_that_breaks_a_rule_fails_the_check(survey, capsys):
    row = survey.index[survey["married"] == "no"][0]
    survey.loc[row, "spouse_age"] = 41
    survey.to_csv("survey.csv", index=False)
    rule = f"spouse_age: {RULES['spouse_age']}"
    assert run("check", "survey.csv", "--rule", rule, "--out", "broken.csv") == 1
    (broken,) = pd.read_csv("broken.csv").to_dict("records")
    assert (broken["row"], broken["column"], broken["likely_wrong"]) == (
        row,
        "spouse_age",
        "spouse_age",
    )
    assert "1 cell breaks its rule" in capsys.readouterr().out


def test_a_check_without_rules_is_refused(survey, capsys):
    assert run("check", "survey.csv") == 2
    assert "--rules FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("[rules]\nspouse_age = 1\n", 2, "must hold a rule in text"),
        ("[rules\n", 1, "is no TOML file"),
        ("[rules]\nspouse_age = 'wed == 1'\n", 2, "is not a column of the table"),
    ],
)
def test_a_file_of_rules_that_cannot_be_read_is_refused(
    survey, tmp_path, capsys, text, code, words
):
    (tmp_path / "rules.toml").write_text(text)
    assert run("check", "survey.csv", "--rules", "rules.toml") == code
    assert words in " ".join(capsys.readouterr().err.split())


def test_rules_are_read_from_the_universes_of_a_codebook(survey, tmp_path, capsys):
    book = pd.DataFrame(
        {"Variable": ["age", "commute"], "Label": ["", ""], "Universe": ["", RULES["commute"]]}
    )
    book.to_csv(tmp_path / "book.csv", index=False)
    assert run("check", "survey.csv", "--rules", "book.csv") == 0
    book.drop(columns="Universe").to_csv(tmp_path / "book.csv", index=False)
    assert run("check", "survey.csv", "--rules", "book.csv") == 2
    assert "and a column 'universe'" in " ".join(capsys.readouterr().err.split())


def test_a_rule_is_given_once(survey, tmp_path, capsys):
    (tmp_path / "rules.toml").write_text("[rules]\ncommute = 'employed == \"yes\"'\n")
    rule = 'commute: employed == "yes"'
    assert run("check", "survey.csv", "--rules", "rules.toml", "--rule", rule) == 2
    assert "two rules for 'commute'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_a_completed_file_obeys_the_rules_of_a_file(survey):
    run("rules", "survey.csv", "--out", "rules.toml", "--quiet")
    assert run("impute", "survey.csv", "out.csv", "--rules", "rules.toml", "--quiet") == 0
    completed = pd.read_csv("out.csv")
    for column, gate in GATES.items():
        assert (completed[column].notna() == (completed[gate] == "yes")).all()
