"""The rooms and the arrows between them: imports go one way."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "diffjoint"
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FLOORS = [
    {"_messages", "_numbers"},
    {"errors", "_types"},
    {"parameters", "storage", "_extras", "_memory", "_progress"},
    {"settings", "trees"},
    {"table", "simulate"},
    {"state", "metrics"},
    {"knowledge", "evidence", "relations"},
    {"io", "_effort", "skip_rules"},
    {"detectors", "values"},
    {"diffusion", "draws"},
    {"fitting"},
    {"inspection", "results"},
    {"report"},
    {"inference"},
    {"imputer"},
    {"analysis", "steps"},
    {"engines"},
    {"cli"},
    {"__main__"},
]
"""The rooms, the lowest first: folders, and the few files beside them."""
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem != "__init__"
)


def imported(path: Path, *, at_once: bool = False) -> set[str]:
    """What a module imports; with ``at_once`` only what is imported together with it."""
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_lower_floors(path):
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "diffjoint" or len(parts) < 2 or parts[1] == "__version__":
            continue
        assert parts[1] in FLOOR, f"{path.name} imports {name} from the package's front"
        if parts[1] != room(path):
            assert FLOOR[parts[1]] < FLOOR[room(path)], f"{path.name} imports {name}"


def test_every_room_has_its_floor():
    assert {room(path) for path in MODULES} == set(FLOOR)


def test_the_page_on_architecture_shows_every_room():
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = page.partition("```\n")[2].partition("```")[0].splitlines()
    shown = [room for line in picture for room in line[:28].split()]
    heights = [[shown.index(room) for room in rooms] for rooms in reversed(FLOORS)]
    for above, below in pairwise(heights):
        assert max(above) < min(below), "the picture has the floors in their order"


@pytest.mark.parametrize(
    ("where", "banned"),
    [
        ("trees", {"torch", "pandas", "narwhals"}),
        ("table", {"torch"}),
        ("simulate", {"torch", "sklearn", "narwhals"}),
        ("state", {"torch", "pandas", "sklearn", "narwhals"}),
        ("knowledge", {"torch", "sklearn"}),
        ("evidence", {"torch", "pandas", "narwhals"}),
        ("skip_rules", {"torch", "pandas", "sklearn", "narwhals"}),
        ("io", {"torch", "sklearn"}),
        ("detectors", {"torch", "pandas", "sklearn", "narwhals"}),
        ("values", {"torch", "pandas", "narwhals"}),
        ("diffusion", {"pandas", "narwhals"}),
        ("draws", {"torch", "pandas", "narwhals"}),
        ("diffusion/edm", {"pandas", "sklearn", "narwhals"}),
        ("fitting", {"torch", "sklearn"}),
        ("inspection", {"torch", "sklearn"}),
        ("results", {"torch", "sklearn"}),
        ("report", {"torch", "pandas", "sklearn"}),
        ("analysis", {"torch"}),
        ("engines", {"torch", "sklearn"}),
        ("cli", {"torch", "sklearn"}),
    ],
)
def test_a_room_keeps_to_its_libraries(where, banned):
    paths = list((SOURCE / where).rglob("*.py"))
    assert paths
    for path in paths:
        assert not banned & {name.split(".")[0] for name in imported(path)}, path


WITHOUT_TORCH = {"diffusion/__init__.py", "diffusion/aggregate.py"}
"""Files of the diffusion room that others may import at once."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_torch_is_for_the_diffusion_model_alone(path):
    """Others import the rooms that need it within functions: when something is drawn."""
    if room(path) == "diffusion" and str(path.relative_to(SOURCE)) not in WITHOUT_TORCH:
        return
    for name in imported(path, at_once=True):
        parts = name.split(".")
        assert parts[0] != "torch", path
        if parts[:2] == ["diffjoint", "diffusion"]:
            assert parts[2:3] in ([], ["aggregate"]), f"{path} imports {name}"


MOST_LINES = 60
"""Lines of a function at most, its docstring not counted."""
MOST_LINES_OF_ALL = 500
"""Lines of a module and of a class at most, docstrings included."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_fit_on_a_screen_and_modules_hold_one_idea(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES_OF_ALL
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            assert n_lines(node) <= MOST_LINES_OF_ALL, node.name
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = n_lines(node.body[0]) if ast.get_docstring(node) else 0
            assert n_lines(node) - docstring <= MOST_LINES, node.name


def n_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_numbers_of_a_report_know_nothing_of_its_page():
    below = ["drawn", "findings", "collect", "words", "states", "check", "drivers", "kept", "head"]
    below += ["patterns", "together", "distributions", "counted"]
    below += ["summarize", "sketch"]
    below += ["svg", "charts", "missing_charts", "render"]
    for path in (SOURCE / "report").glob("*.py"):
        if path.stem == "__init__":
            continue
        used = {
            name.split(".")[2] for name in imported(path) if name.startswith("diffjoint.report.")
        }
        assert used <= set(below[: below.index(path.stem)]), path
        if path.stem not in ("svg", "charts", "missing_charts", "render"):
            assert not {"jinja2", "markupsafe"} & {n.split(".")[0] for n in imported(path)}, path


def test_benchmarks_use_the_public_api_alone():
    public = {"diffjoint", "diffjoint.engines", "diffjoint.simulate", "diffjoint.metrics"}
    for path in BENCHMARKS.rglob("*.py"):
        modules = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("diffjoint")
        }
        assert modules <= public, path
