"""Chats that are longer than a test could talk: their middle is put into the database."""

from typing import Any

import asyncpg

from browser.app import App
from chatd.testing.vendors.script import Say, Turn

_FILL = """
INSERT INTO messages (
    chat_id, id, created_at, revision, role, visibility, compressed, deleted, content_version, content, model_config_id
)
SELECT
    last.chat_id, last.id + n, last.created_at + interval '1 second' * n, last.revision,
    (CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END)::message_role, 'both', false, false, 1,
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', replace(
        CASE WHEN n % 2 = 1 THEN $2::text ELSE $3::text END, '{n}', ((n + 1) / 2)::text
    ))),
    last.model_config_id
FROM (SELECT * FROM messages WHERE chat_id = $1 AND role = 'assistant' ORDER BY id DESC LIMIT 1) AS last,
    generate_series(1, 2 * $4::int) AS n
"""


async def long_chat(
    app: App, dsn: str, turns: int, *, asked: str = "Question {n}", answered: str = "Answer {n}"
) -> dict[str, Any]:
    """A chat that rests, with so many turns after its first; `{n}` is the number of a turn."""
    app.plays(Turn(Say("Hi.")))
    chat = await app.chats.create("the very first")
    await app.chats.resting(chat)
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute("SELECT set_config('chatd.transition', 'load', true)")
            await connection.execute(_FILL, chat["id"], asked, answered, turns)
            await connection.execute("SELECT setval('messages_id_seq', (SELECT max(id) FROM messages))")
    finally:
        await connection.close()
    return chat
