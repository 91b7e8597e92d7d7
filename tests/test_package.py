"""What is shipped: an install that needs no torch, a wheel and a source distribution that work."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import yaml
from packaging.requirements import Requirement

import diffjoint
from diffjoint.errors import InputError
from diffjoint.simulate import household_survey
from tests.conftest import new_imputer
from tests.environments import PROJECT, ROOT, lean_environment, run_in

SOURCE = ROOT / "src"
DEFAULT = """
import sys
from diffjoint import SelectiveImputer, load
from diffjoint.cli import main
from diffjoint.simulate import household_survey

def run(*arguments):
    try:
        main(arguments)
    except SystemExit as end:
        return end.code

survey = household_survey(150).observed_table
survey.to_csv("survey.csv", index=False)
options = ["--report", "report.html", "--review", "review.csv", "--model-out", "model"]
options += ["-m", "commute", "--set", "n_boosters=1", "--threads", "1"]
assert run("inspect", "survey.csv") == 0
assert run("impute", "survey.csv", "out.csv", *options) == 0
assert run("transform", "model", "survey.csv", "again.csv", "-q") == 0
assert run("impute", "survey.csv", "no.csv", "--detector", "paper") == 2
assert run("impute", "survey.csv", "no.csv", "--preset", "paper") == 2
imputer = SelectiveImputer(["commute"], n_boosters=1, n_threads=1, random_state=0).fit(survey)
imputer.sample(survey[:20], 1)
for fails in (
    lambda: imputer.sample(survey, draws="diffusion"),
    lambda: imputer.save("draws", draws="diffusion"),
    lambda: SelectiveImputer(detector="paper").fit(survey),
    lambda: SelectiveImputer(preset="paper").fit(survey),
    lambda: load("model", device="cuda"),
):
    try:
        fails()
    except ValueError as error:
        print(error)
    else:
        raise AssertionError
"""


@pytest.fixture(scope="module")
def lean(tmp_path_factory):
    return lean_environment(tmp_path_factory.mktemp("lean") / "site")


@pytest.mark.slow
def test_the_default_and_the_command_line_need_no_torch_and_say_what_does(lean, tmp_path):
    ran = run_in(SOURCE, lean, code=DEFAULT, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    line = "needs torch, which is not installed. Install it: pip install 'diffjoint[diffusion]'."
    said = [text for text in ran.stdout.splitlines() if "torch" in text]
    assert all(text.endswith(line) for text in said), said
    assert [text.removesuffix(line).strip() for text in said] == [
        "The diffusion model", "The diffusion model", "detector='paper'", "preset='paper'",
        "device='cuda'",
    ]  # fmt: skip
    asked = (
        "Drawing by the diffusion model (--detector paper, --preset paper, --set sampler=inpaint)"
    )
    assert ran.stderr.count(f"Error: {asked} {line}") == 2
    assert not (tmp_path / "no.csv").exists()
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_what_needs_torch_names_the_option_that_asked_for_it(monkeypatch):
    monkeypatch.setattr("diffjoint._extras.find_spec", lambda name: None)
    survey = household_survey(60).observed_table
    with pytest.raises(InputError, match=r"^sampler='inpaint' needs torch, .*diffjoint\[diff"):
        new_imputer(["commute"], sampler="inpaint").fit(survey)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_a_saved_model_of_draws_says_what_it_needs(tiny, tmp_path, monkeypatch):
    survey = household_survey(60).observed_table
    new_imputer(["commute"], **tiny).fit(survey).save(tmp_path / "model")
    monkeypatch.setattr("diffjoint._extras.find_spec", lambda name: None)
    loaded = diffjoint.load(tmp_path / "model")
    with pytest.raises(InputError, match="The diffusion model needs torch"):
        loaded.transform(survey)


def test_the_metadata_say_what_the_project_is():
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= {
        *PROJECT["classifiers"]
    }
    assert PROJECT["requires-python"] == ">=3.11"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["version"] == diffjoint.__version__
    assert cited["license"] == PROJECT["license"]
    assert [author["name"] for author in cited["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "abstract"} <= cited.keys()
    assert (ROOT / PROJECT["readme"]).is_file()
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])


def imported_by(folder):
    """What the modules of a folder import from outside, in functions or not."""
    names = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").partition(".")[0])
    return names - {*sys.stdlib_module_names, "diffjoint"}


def test_every_library_that_is_imported_is_declared():
    others = {"sklearn": "scikit-learn"}
    needed = {Requirement(text).name for text in PROJECT["dependencies"]}
    extras = {
        Requirement(text).name
        for name, texts in PROJECT["optional-dependencies"].items()
        for text in texts
        if name not in ("dev", "docs", "benchmarks", "examples")
    }
    imported = {others.get(name, name) for name in imported_by(SOURCE)}
    assert imported <= needed | extras | {"torch", "polars", "click", "markupsafe", "py4j"}
    assert needed <= imported
    assert "torch" not in needed


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, and the wheel that is built from it."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    folder = tmp_path_factory.mktemp("dist")
    clean = shutil.copytree(
        ROOT, folder / "clone", ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
    )
    _build(clean, folder, "sdist")
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _build(unpacked, folder, "wheel")
    (wheel,) = folder.glob("*.whl")
    return unpacked, wheel


def _build(source, folder, target):
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", target]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


@pytest.mark.slow
def test_the_wheel_that_the_source_distribution_makes_shows_its_demo_without_torch(
    built, lean, tmp_path
):
    """In an environment of what is declared, which holds nothing that it does not bring."""
    _, wheel = built
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile"]
    done = subprocess.run(
        [*pip, "--target", str(site), str(wheel)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    script = site / "bin" / "diffjoint"
    code = f"import runpy, sys; sys.argv = ['diffjoint', 'demo', '--quiet']; runpy.run_path({str(script)!r}, run_name='__main__')"
    ran = run_in(site, lean, code=code, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "called rightly" in ran.stdout
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert f"diffjoint {PROJECT['version']}" in page
    assert "torch" not in page


@pytest.mark.slow
def test_the_wheel_holds_the_package_alone_and_its_metadata(built):
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("dist-info/METADATA")]
        told = archive.read(metadata).decode()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"diffjoint", f"diffjoint-{PROJECT['version']}.dist-info"}
    in_source = {
        str(path.relative_to(SOURCE))
        for path in (SOURCE / "diffjoint").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert in_source == {name for name in names if name.startswith("diffjoint/")}
    required = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", told, re.MULTILINE)
    assert required == [Requirement(text).name for text in PROJECT["dependencies"]]
    assert "License-Expression: MIT" in told
    assert "Provides-Extra: diffusion" in told


@pytest.mark.slow
def test_the_source_distribution_holds_what_its_tests_need(built):
    unpacked, _ = built
    there = {path.name for path in unpacked.iterdir()}
    assert {"src", "tests", "docs", "benchmarks", "examples", "Makefile", "CITATION.cff"} <= there
    assert {"README.md", "LICENSE", "constraints.txt", "pyproject.toml", "mkdocs.yml"} <= there
