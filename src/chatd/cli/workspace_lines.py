"""What is worth showing of the tools that work in a workspace."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

# The one argument that says what a call is about.
_ABOUT: Final = {
    "execute": "command",
    "process_output": "process_id",
    "process_signal": "process_id",
    "read_file": "path",
    "write_file": "path",
    "attach_file": "path",
    "list_templates": "query",
    "create_workspace": "name",
    "read_skill": "name",
}


def about_call(tool: str, args: object) -> str | None:
    """In place of all its arguments; None where they have to speak for themselves."""
    if not isinstance(args, dict):
        return None
    given = cast("dict[str, Any]", args)
    if tool == "edit_files":
        return ", ".join(str(file.get("path")) for file in _objects(given.get("files"))) or None
    if tool not in _ABOUT:
        return None
    about = str(given.get(_ABOUT[tool]) or "")
    return f"$ {about}" if tool == "execute" else about


def about_result(tool: str, result: object) -> str | None:
    """In place of the whole result; None for a result of another tool, or of another shape."""
    if not isinstance(result, dict) or tool not in _RESULTS:
        return None
    given = cast("dict[str, Any]", result)
    return _RESULTS[tool](given)


def is_failure(result: object) -> bool:
    """A failure with fields is an object with an error, or with a success that is none. What runs on has not failed."""
    if not isinstance(result, dict):
        return False
    given = cast("dict[str, Any]", result)
    if given.get("running") or given.get("backgrounded"):
        return False
    return bool(given.get("error")) or given.get("success") is False


def _command(result: Mapping[str, Any]) -> str | None:
    if "exit_code" not in result:
        return None
    said = [str(result.get("output") or "").rstrip("\n")]
    if result.get("backgrounded") or result.get("running"):
        said.append(f"runs on as {result.get('background_process_id') or result.get('id') or 'a process'}")
    elif result.get("error"):
        said.append(str(result["error"]))
    elif result["exit_code"] != 0:
        said.append(f"exit code {result['exit_code']}")
    return "\n".join(line for line in said if line)


def _page(result: Mapping[str, Any]) -> str | None:
    count = result.get("lines_read")
    if count is None:
        return None
    total = result.get("total_lines") or count
    return f"{count} of {total} lines" if total != count else f"{count} {'line' if count == 1 else 'lines'}"


def _written(result: Mapping[str, Any]) -> str | None:
    size = result.get("size")
    return None if size is None else f"{size} bytes{' in a new file' if result.get('created') else ''}"


def _diffs(result: Mapping[str, Any]) -> str | None:
    lines = [line for file in _objects(result.get("files")) for line in str(file.get("diff", "")).splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))) or None


def _templates(result: Mapping[str, Any]) -> str | None:
    names = [str(each.get("display_name") or each.get("name")) for each in _objects(result.get("templates"))]
    return ", ".join(names) or None


def _workspace(result: Mapping[str, Any]) -> str | None:
    said = [str(result.get(name) or "") for name in ("error", "workspace_name", "message")]
    return " ".join(each for each in said if each) or None


_RESULTS: Final[Mapping[str, Callable[[Mapping[str, Any]], str | None]]] = {
    "execute": _command,
    "process_output": _command,
    "read_file": _page,
    "write_file": _written,
    "attach_file": _written,
    "edit_files": _diffs,
    "list_templates": _templates,
    "create_workspace": _workspace,
    "start_workspace": _workspace,
    "stop_workspace": _workspace,
}


def _objects(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", each) for each in cast("list[object]", value) if isinstance(each, dict)]
