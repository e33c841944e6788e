"""Dependencies point one way: the table of ARCHITECTURE.md, held against every import in the code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "chatd"

# What a part of chatd may import of the others. `cli` knows everything, but of `testing` only what `llm-mock` runs.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "__main__": {"cli"},
    "core": set(),
    "wire": {"core"},
    "clock": set(),
    "background": set(),
    "stoppable": set(),
    "minting": {"core"},
    "observe": {"core"},
    "store": {"core", "clock", "background", "observe"},
    "providers": {"core", "clock", "background", "stoppable", "observe"},
    "git_hosts": {"core", "clock", "providers"},
    "demo": {"core", "clock"},
    "push": {"core", "clock", "observe", "store", "providers"},
    "workspaces": {"core", "wire", "clock", "background", "stoppable", "minting", "observe", "store", "agent"},
    "diffs": {"core", "wire", "clock", "background", "stoppable", "observe", "store", "git_hosts", "workspaces"},
    "engine": {
        "core",
        "wire",
        "clock",
        "background",
        "stoppable",
        "minting",
        "observe",
        "store",
        "providers",
        "workspaces",
    },
    "server": {
        "core",
        "wire",
        "clock",
        "background",
        "stoppable",
        "minting",
        "observe",
        "store",
        "providers",
        "git_hosts",
        "demo",
        "engine",
        "push",
        "workspaces",
        "diffs",
    },
    "agent": {"core", "wire", "clock", "background", "minting"},
    "client": {"core", "wire", "clock", "minting"},
    "cli": {
        "core",
        "wire",
        "clock",
        "background",
        "minting",
        "observe",
        "store",
        "providers",
        "server",
        "agent",
        "client",
        "testing",
        "workspaces",
        "git_hosts",
    },
    "testing": {"core", "wire", "clock", "store", "minting"},
}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported_parts(path: Path) -> set[str]:
    """Every part of chatd that a module imports: at the top, inside functions, under TYPE_CHECKING."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "chatd" else [module]
        found.update(name.split(".")[1] for name in names if name.startswith("chatd."))
    return found


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_part_may(path: Path):
    part = _part(path)

    assert _imported_parts(path) - {part, "__version__"} <= MAY_IMPORT[part]


def test_the_command_has_of_testing_only_the_scripted_vendors():
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chatd.testing"):
                assert (node.module or "").startswith("chatd.testing.vendors"), path.name


def test_workspaces_have_of_the_agent_only_what_its_folder_tells():
    """What an agent is started with, who runs in its folder and what the kernel says of processes; none of its work."""
    for path in sorted((PACKAGE / "workspaces").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chatd.agent"):
                assert node.module in {
                    "chatd.agent.options",
                    "chatd.agent.place",
                    "chatd.agent.system_processes",
                    "chatd.agent.written",
                }, path.name


def test_the_engine_has_of_the_wire_only_what_agents_say():
    for path in sorted((PACKAGE / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chatd.wire"):
                assert (node.module or "").startswith("chatd.wire.agent"), path.name


def test_the_table_in_the_map_says_the_same():
    table = dict(
        re.findall(
            r"^\| `src/chatd/([a-z_]+)(?:\.py)?` \| [^|]* \| ([^|]*) \|$",
            (ROOT / "ARCHITECTURE.md").read_text("utf-8"),
            re.M,
        )
    )
    written = {
        part: set() if allowed.strip() == "nothing" else {name.strip() for name in allowed.split(",")}
        for part, allowed in table.items()
        if not allowed.startswith("everything")
    }

    assert written == {part: allowed for part, allowed in MAY_IMPORT.items() if part in written}
    assert set(table) == {part for part in MAY_IMPORT if not part.startswith("__")}


def test_the_allowed_imports_have_no_circle():
    order: list[str] = []
    left = {part: set(allowed) for part, allowed in MAY_IMPORT.items()}
    while left:
        free = sorted(part for part, allowed in left.items() if not allowed & set(left))
        assert free, f"these import each other: {sorted(left)}"
        order += free
        for part in free:
            del left[part]


def test_core_is_pure():
    impure = {
        "asyncio",
        "time",
        "random",
        "secrets",
        "os",
        "logging",
        "structlog",
        "socket",
        "threading",
        "pathlib",
    }
    for path in sorted((PACKAGE / "core").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), f"{path.name}: async in core"
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & impure, path.name
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in impure, path.name


def test_sql_is_written_in_the_store_only():
    statement = re.compile(r"\s*(--.*\s+)?(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE)\s")
    for path in _modules():
        if _part(path) not in ("store", "testing"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    assert not statement.match(node.value), f"{path}: SQL outside the store"


@pytest.mark.behaviour("STATE-6")
def test_the_engine_has_no_time_but_the_clock_it_is_given():
    for path in sorted((PACKAGE / "engine").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & {"time", "datetime", "sched"}, path.name
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in {"time", "datetime"}, path.name
                assert node.module != "chatd.clock" or [alias.name for alias in node.names] == ["Clock"], path.name
            elif isinstance(node, ast.Attribute):
                assert node.attr not in {"sleep", "timeout", "timeout_at", "wait_for", "call_later", "call_at"} or (
                    ast.unparse(node.value).endswith("clock")
                ), f"{path.name}:{node.lineno}"
