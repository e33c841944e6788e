"""What is shown of a tool's call and of its result."""

from typing import Any

from chatd.cli.tool_lines import RESULT_LINES, call_line, result_lines
from chatd.core import compaction

_WIDTH = 80


def _result(tool: str, result: Any) -> list[str]:
    return result_lines({"tool_name": tool, "result": result}, _WIDTH)


def test_a_summary_of_the_chat_is_shown_without_its_figures():
    call = call_line({"tool_name": compaction.TOOL_NAME, "args": {"source": "manual"}}, _WIDTH)
    lines = _result(compaction.TOOL_NAME, {"summary": "They spoke of owls.", "source": "manual", "usage_percent": 0.5})

    assert call == "● summarising the chat so far"
    assert lines == ["  ✓ summarised They spoke of owls."]


def test_lines_that_are_left_out_are_counted():
    one = _result("execute", "\n".join(["owl"] * (RESULT_LINES + 1)))
    two = _result("execute", "\n".join(["owl"] * (RESULT_LINES + 2)))

    assert (one[-1], two[-1]) == ("    … 1 more line", "    … 2 more lines")


def test_a_command_is_shown_with_what_it_said_and_how_it_ended():
    call = call_line({"tool_name": "execute", "args": {"command": "make\ntest", "timeout": "5m"}}, _WIDTH)
    good = _result("execute", {"success": True, "output": "one\ntwo\n", "exit_code": 0, "wall_duration_ms": 3})
    silent = _result("execute", {"success": True, "exit_code": 0, "wall_duration_ms": 3})
    bad = _result("execute", {"success": False, "output": "", "exit_code": 2, "wall_duration_ms": 3})
    late = _result("execute", {"success": False, "exit_code": -1, "error": "It timed out.", "wall_duration_ms": 3})
    behind = _result("execute", {"success": True, "exit_code": 0, "backgrounded": True, "background_process_id": "p1"})
    on = _result("execute", {"success": False, "exit_code": -1, "running": True, "background_process_id": "p2"})

    assert call == "● execute $ make test"
    assert call_line({"tool_name": "start_workspace", "args": {}}, _WIDTH) == "● start_workspace"
    assert good == ["  ✓ execute", "    one", "    two"]
    assert silent == ["  ✓ execute"]
    assert bad == ["  ✗ execute exit code 2"]
    assert late == ["  ✗ execute It timed out."]
    assert behind == ["  ✓ execute runs on as p1"]
    assert on == ["  ✓ execute runs on as p2"]


def test_files_are_shown_by_what_was_done_with_them():
    assert call_line({"tool_name": "read_file", "args": {"path": "/a/b", "limit": 3}}, _WIDTH) == "● read_file /a/b"
    assert _result("read_file", {"content": "1\tx", "lines_read": 1, "total_lines": 9}) == [
        "  ✓ read_file 1 of 9 lines"
    ]
    assert _result("write_file", {"ok": True, "size": 7, "created": True}) == ["  ✓ write_file 7 bytes in a new file"]
    edits = {"files": [{"path": "/a", "edits": []}, {"path": "/b", "edits": []}]}
    assert call_line({"tool_name": "edit_files", "args": edits}, _WIDTH) == "● edit_files /a, /b"
    diff = "--- /a\n+++ /a\n@@ -1 +1 @@\n-old\n+new\n"
    assert _result("edit_files", {"ok": True, "files": [{"path": "/a", "diff": diff}]}) == [
        "  ✓ edit_files",
        "    -old",
        "    +new",
    ]


def test_a_workspace_is_shown_by_its_name_or_by_what_went_wrong():
    made = {"created": True, "build_id": "b", "workspace_name": "ada/local-1", "workspace_id": "w"}
    assert _result("create_workspace", made) == ["  ✓ create_workspace ada/local-1"]
    assert _result("create_workspace", {"error": "No room.", "build_id": "b"}) == ["  ✗ create_workspace No room."]
    offered = {"templates": [{"id": "1", "name": "local", "display_name": "Local sandbox"}], "page": 1}
    assert _result("list_templates", offered) == ["  ✓ list_templates Local sandbox"]


def test_results_of_another_shape_are_shown_as_they_are():
    assert _result("execute", {"odd": "shape"}) == ["  ✓ execute shape"]
    assert _result("edit_files", {"files": "none"}) == ["  ✓ edit_files none"]
    assert call_line({"tool_name": "execute", "args": "odd"}, _WIDTH) == "● execute odd"
