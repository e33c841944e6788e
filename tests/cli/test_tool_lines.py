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
