"""What is loaded, and when: a start should not wait for what it does not use."""

import subprocess
import sys
from pathlib import Path

import pytest

import diffjoint
from diffjoint import detectors
from diffjoint.detectors import Detector
from diffjoint.settings import DETECTOR_NAMES
from diffjoint.simulate import household_survey

SLOW = {"numpy", "pandas", "pyarrow", "narwhals", "scipy", "sklearn", "matplotlib", "torch"}
"""Libraries that take a noticeable time to load."""
RUN = """
def run(*arguments):
    from diffjoint.cli import main
    try:
        main(arguments)
    except SystemExit as end:
        return end.code
"""


def loaded_after(code, *arguments):
    """Run Python in a process of its own; return which slow libraries it has loaded."""
    tell = f"print('loaded', *({SLOW!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{RUN}\n{code}\n{tell}", *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.fixture(scope="module")
def survey_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("start") / "survey.csv"
    household_survey(200).observed_table.to_csv(path, index=False)
    return path


def test_importing_the_package_loads_nothing():
    assert loaded_after("import diffjoint; dir(diffjoint); diffjoint.__version__") == set()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["impute", "--help"], 0),
        (["simulate", "--help"], 0),
        (["survey.csv"], 2),
        (["impute", "in.csv", "out.csv", "--no-such-option"], 2),
        (["impute", "in.csv", "out.csv", "--seed", "-1"], 2),
        (["impute", "in.csv", "out.csv", "--preset", "slow"], 2),
        (["fit", "in.csv", "model", "--set", "depth=3"], 2),
        (["simulate", "bayesian-network", "--out", "world", "--mechanism", "fire"], 2),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else str(part),
)
def test_help_and_wrong_options_load_nothing(arguments, code):
    assert loaded_after(f"assert run(*{arguments!r}) == {code}") == set()


@pytest.mark.slow
def test_a_first_look_needs_no_torch(survey_file):
    loaded = loaded_after("assert run('inspect', sys.argv[1], '--quiet') == 0", survey_file)
    assert "pandas" in loaded
    assert not loaded & {"torch", "matplotlib"}


@pytest.mark.slow
def test_the_command_line_completes_tables_without_torch(survey_file, tmp_path):
    code = """
source, folder = sys.argv[1:]
options = ["-m", "auto", "--report", f"{folder}/report.html", "--review", f"{folder}/review.csv"]
options += ["--model-out", f"{folder}/model", "--self-check", "--threads", "1", "-q"]
assert run("impute", source, f"{folder}/out.csv", *options) == 0
assert run("transform", f"{folder}/model", source, f"{folder}/again.csv", "-q") == 0
assert run("fit", source, f"{folder}/other", "-m", "commute", "-q") == 0
"""
    assert "torch" not in loaded_after(code, survey_file, tmp_path)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


FITTED = """
import warnings; warnings.simplefilter("ignore")
import pandas as pd
from diffjoint import SelectiveImputer, load
survey = pd.read_csv(sys.argv[1])
imputer = SelectiveImputer(["commute"], n_threads=1, random_state=0).fit(survey)
"""


@pytest.mark.slow
def test_the_default_needs_torch_for_draws_by_diffusion_alone(survey_file, tmp_path):
    code = f"""{FITTED}
imputer.transform(survey), imputer.impute(survey[:50]), imputer.predict_mm_proba(survey)
imputer.explain(survey), imputer.review(survey), imputer.self_check(survey)
imputer.report(survey, self_check=True).html
imputer.save(sys.argv[2])
load(sys.argv[2], device="cpu").transform(survey)
imputer.sample(survey[:20], 1)
assert "torch" not in sys.modules
imputer.sample(survey[:20], 1, draws="diffusion")
"""
    assert "torch" in loaded_after(code, survey_file, tmp_path / "model")


@pytest.mark.slow
def test_a_loaded_model_needs_torch_for_draws_by_diffusion_alone(survey_file, tmp_path):
    made = f"{FITTED}\nimputer.save(sys.argv[2], draws='diffusion')"
    assert "torch" in loaded_after(made, survey_file, tmp_path / "model")
    code = f"""
import pandas as pd
from diffjoint import load
loaded, survey = load({str(tmp_path / "model")!r}), pd.read_csv(sys.argv[1])
loaded.transform(survey)
assert "torch" not in sys.modules
loaded.sample(survey[:20], 1)
"""
    assert "torch" in loaded_after(code, survey_file)


def test_every_public_name_is_there():
    assert {name for name in diffjoint.__all__ if getattr(diffjoint, name) is None} == set()
    assert set(diffjoint.__all__) <= set(dir(diffjoint))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        diffjoint.nothing  # noqa: B018


def test_what_help_lists_is_what_there_is():
    files = {path.stem for path in Path(detectors.__file__).parent.glob("*.py")}
    assert files - {"__init__", "belief"} == set(DETECTOR_NAMES)
    assert all(isinstance(detectors.load_detector(name), Detector) for name in DETECTOR_NAMES)
