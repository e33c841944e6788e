"""What the demo model says to what chatd itself asks about a chat."""

import msgspec

from chatd.core import chat_summary, compaction, labels, titles
from chatd.core.parts import TextPart
from chatd.core.plain_text import framed
from chatd.demo.brain import Heard, answer


def test_what_chatd_asks_about_a_chat_gets_an_answer_that_it_can_use():
    said = titles.fallback_title([TextPart(text="please count to 100 for me, will you")])
    question = framed("message", "please count to 100 for me, will you")
    title = answer([Heard("user", question)], frozenset(), system=titles.PROMPT).text
    label = answer([Heard("user", question)], frozenset(), system=labels.PROMPT).text
    summary = answer([Heard("user", question)], frozenset(), system=chat_summary.PROMPT).text
    notes = answer([Heard("user", "hello"), Heard("user", compaction.INSTRUCTIONS)], frozenset()).text

    talk = framed("conversation", "User: count to 50\n\nAssistant: 1, 2, 3")
    again = answer([Heard("user", talk)], frozenset(), system=titles.PROMPT).text

    assert again == "count to 50"
    assert titles.title_of(title) == title
    assert title in said
    assert labels.label_of(label) == label
    assert chat_summary.summary_of(summary) == summary
    assert "demo model" in notes


def test_the_file_that_it_proposes_to_read_can_be_read():
    proposed = [line for line in answer([Heard("user", "hello")], TOOLS).text.splitlines() if "read " in line]
    wanted = [answer([Heard("user", line)], TOOLS).tool for line in proposed]

    assert [tool.arguments["path"][:1] for tool in wanted if tool] == ["/"], "the tool takes absolute paths alone"


TOOLS = frozenset({"execute", "read_file", "list_templates", "create_workspace", "start_workspace"})


def heard(*results: object) -> list[Heard]:
    return [Heard("user", "run `ls`"), *(Heard("tool", msgspec.json.encode(result).decode()) for result in results)]


def test_a_command_without_a_workspace_leads_to_one_and_is_tried_again():
    nothing = {"success": False, "error": "This chat has no workspace. Call create_workspace to make one."}
    offers = {"templates": [{"id": "one"}, {"id": "two"}], "recommended_template_id": "two"}
    made = {"created": True, "workspace_name": "ada/local-1"}
    calls = [
        answer(heard(*results), TOOLS).tool for results in ([], [nothing], [nothing, offers], [nothing, offers, made])
    ]
    assert [(call.name, call.arguments) for call in calls if call] == [
        ("execute", {"command": "ls"}),
        ("list_templates", {}),
        ("create_workspace", {"template_id": "two"}),
        ("execute", {"command": "ls"}),
    ]


def test_a_failure_in_words_is_understood_too():
    said = [Heard("user", "run `ls`"), Heard("tool", "This chat has no workspace. Call create_workspace to get one.")]
    call = answer(said, TOOLS).tool
    assert call is not None
    assert call.name == "list_templates"


def test_a_workspace_that_is_stopped_is_started():
    stopped = {"success": False, "error": "The workspace is stopped. Call start_workspace."}
    call = answer(heard(stopped), TOOLS).tool
    assert call is not None
    assert call.name == "start_workspace"
    again = answer(heard(stopped, {"started": True}), TOOLS).tool
    assert again is not None
    assert again.name == "execute"


def test_what_a_command_said_is_shown_and_not_the_json_around_it():
    said = answer(heard({"success": True, "output": "one\ntwo", "exit_code": 0}), TOOLS)
    assert said.tool is None
    assert "```\none\ntwo\n```" in said.text


def test_what_fails_again_and_again_is_shown_in_the_end():
    nothing = {"success": False, "error": "Call create_workspace."}
    said = answer(heard(*[nothing] * 6), TOOLS)
    assert said.tool is None
    assert "Call create_workspace." in said.text


def test_without_templates_there_is_nothing_to_make():
    said = answer(heard({"templates": [], "next_step": "ask"}), TOOLS)
    assert said.tool is None
