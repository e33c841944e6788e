"""What the demo model says to what chatd itself asks about a chat."""

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
