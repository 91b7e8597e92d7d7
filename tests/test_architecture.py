"""The rooms and the arrows between them: imports go one way."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "diffjoint"
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FLOORS = [
    {"arrays", "errors"},
    {"config", "keys", "params", "screen", "trees"},
    {
        "memory",
        "rubin",
        "verdict",
        "persist",
        "progress",
        "edm",
        "table",
        "simulate",
        "evidence",
    },
    {"state", "statistical", "metrics", "rules", "text_files"},
    {"files", "effort"},
    {
        "mm_fill",
        "wrap",
        "model_update",
        "conditional_sample",
        "aggregate",
        "world_files",
        "detect",
        "expect",
        "knowledge",
        "search",
        "decisions",
        "disguised",
        "spelling",
    },
    {"sharpen", "wrong_calls"},
    {"algorithm", "inspection"},
    {"checkpoint", "complete", "explain", "history", "inspection_view"},
    {"diffusion", "report"},
    {"model"},
    {"self_check"},
    {"imputer"},
    {"demo", "keep"},
    {"cli"},
    {"__main__"},
]
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


@pytest.mark.parametrize(
    ("where", "banned"),
    [
        ("table", {"torch"}),
        ("edm", {"pandas", "sklearn", "narwhals"}),
        ("simulate", {"torch", "sklearn", "narwhals"}),
        ("evidence", {"torch", "pandas", "narwhals"}),
        ("report", {"torch", "pandas", "sklearn"}),
    ],
)
def test_a_room_keeps_to_its_libraries(where, banned):
    for path in (SOURCE / where).rglob("*.py"):
        assert not banned & {name.split(".")[0] for name in imported(path)}, path


NEED_TORCH = {
    "edm",
    "model_update",
    "conditional_sample",
    "sharpen",
    "algorithm",
    "checkpoint",
    "history",
    "diffusion",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_torch_is_for_the_diffusion_model_alone(path):
    """Others import the rooms that need it within functions: when something is drawn."""
    if room(path) in NEED_TORCH:
        return
    at_once = {".".join(name.split(".")[:2]) for name in imported(path, at_once=True)}
    assert not at_once & {"torch", *(f"diffjoint.{name}" for name in NEED_TORCH)}


def test_the_numbers_of_a_report_know_nothing_of_its_page():
    below = ["findings", "words", "check", "drivers", "summarize", "charts", "render"]
    for path in (SOURCE / "report").glob("*.py"):
        if path.stem == "__init__":
            continue
        used = {
            name.split(".")[2] for name in imported(path) if name.startswith("diffjoint.report.")
        }
        assert used <= set(below[: below.index(path.stem)]), path
        if path.stem not in ("charts", "render"):
            assert not {"jinja2", "markupsafe"} & {n.split(".")[0] for n in imported(path)}, path


def test_benchmarks_use_the_public_api_alone():
    public = {"diffjoint", "diffjoint.simulate", "diffjoint.metrics"}
    for path in BENCHMARKS.rglob("*.py"):
        modules = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("diffjoint")
        }
        assert modules <= public, path
