"""Environments that hold what an install brings and nothing else, made of what is there already."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def needed(requirements: list[str]) -> set[Distribution]:
    """Return the distributions that some requirements bring, with all that these require."""
    found: dict[str, Distribution] = {}
    open_ones = [Requirement(text) for text in requirements]
    while open_ones:
        one = open_ones.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        if one.name.lower() not in found:
            found[one.name.lower()] = distribution(one.name)
            open_ones += map(Requirement, distribution(one.name).requires or [])
    return {*found.values()}


def lean_environment(folder: Path) -> Path:
    """Link what ``pip install diffjoint`` brings into a folder; of itself, its metadata alone."""
    own = folder / "diffjoint.dist-info"
    own.mkdir(parents=True)
    told = f"Metadata-Version: 2.1\nName: diffjoint\nVersion: {PROJECT['version']}\n"
    (own / "METADATA").write_text(told)
    for one in needed(PROJECT["dependencies"]):
        parts = {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}
        for part in parts:
            (folder / part).symlink_to(one.locate_file(part))
    return folder


def run_in(*places: Path, code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code where only the standard library and some folders can be imported."""
    path = os.pathsep.join(map(str, places))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=False, cwd=cwd, env=environment,
    )  # fmt: skip
