"""A walk along the links of the published document: chats are begun, sent to, queued, edited, interrupted, forked and
archived in any order, by made-up requests that fit, and the server does not fail."""

import os
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from server.fuzzing import fuzz
from server.running import running_server

WALKS = "600" if os.environ.get("CHATD_TEST_LONG") else "100"
CHATS_ONLY = r"^/api/experimental/chats($|/\{chat\})"
# Only along the links that are published: what is guessed besides leads nowhere.
CONFIG = "[phases.stateful.inference]\nalgorithms = []\n"


def narrowed(document: dict[str, Any]) -> dict[str, Any]:
    """What fits more often than not: texts, and no ids of what is not there."""
    schemas = document["components"]["schemas"]
    for name in ("CreateChat", "SendMessage", "EditMessage", "ReleaseQueued", "ForkChat", "UpdateChat"):
        fields = schemas[name]["properties"]
        for field in [field for field in fields if field.endswith(("_id", "_ids", "_tools"))]:
            del fields[field]
    schemas["InputPart"] = {
        "type": "object",
        "properties": {"type": {"const": "text"}, "text": {"type": "string", "pattern": "^[a-zA-Z ]{1,40}[a-z]$"}},
        "required": ["type", "text"],
        "additionalProperties": False,
    }
    return document


@pytest.mark.behaviour("API-4")
async def test_no_walk_along_the_links_makes_the_server_fail(database: Any, tmp_path: Path):
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    document = tmp_path / "openapi.json"
    # Workspaces have tests of their own: here each would be a real sandbox.
    settings: dict[str, Any] = {"requests_per_minute": "0", "demo_model": "auto", "local_workspaces": "off"}
    async with running_server(database.dsn, tmp_path, **settings) as running:
        published = (await running.api.get("/api/openapi.json")).body
        document.write_bytes(msgspec.json.encode(narrowed(published)))
        code, said = await fuzz(
            running,
            tmp_path,
            running.owner.token,
            "--phases=stateful",
            f"--max-examples={WALKS}",
            f"--include-path-regex={CHATS_ONLY}",
            document=document,
        )
        still_works = await running.api.get("/readyz")
    connection = await asyncpg.connect(database.dsn)
    chats, messages = await connection.fetchrow("SELECT count(DISTINCT chat_id), count(*) FROM messages") or (0, 0)
    await connection.close()

    assert code == 0, said[-8000:]
    assert still_works.status == 200
    assert chats > 5, "the walk begins chats"
    assert messages > 3 * chats, "and goes on with them"
