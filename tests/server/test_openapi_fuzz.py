"""A fuzz of the published API document: whatever is sent, the server does not fail and errors keep their shape."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from server.running import running_server

EXAMPLES = "200" if os.environ.get("CHATD_TEST_LONG") else "12"
CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"


@pytest.mark.behaviour("API-4")
@pytest.mark.parametrize("who", ["nobody", "member", "owner"])
async def test_no_input_makes_the_server_fail(database: Any, tmp_path: Path, who: str):
    async with running_server(database.dsn, tmp_path, requests_per_minute="0", demo_model="auto") as running:
        token = {"nobody": "", "owner": running.owner.token}.get(who) or (await running.add_user("mia")).token
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{running.api.url}/api/openapi.json",
            f"--max-examples={EXAMPLES}",
            f"--checks={CHECKS}",
            "--phases=examples,coverage,fuzzing",
            "--generation-deterministic",
            "--continue-on-failure",
            "--no-color",
            # It would end the session that the rest of the run needs.
            "--exclude-path=/api/v2/users/logout",
            # They would call whatever address is made up, and the vendors; and streams never end.
            "--exclude-path-regex=/providers(/[^/]+)?/test$|/chats/watch$|/stream$",
        ]
        if who != "nobody":
            command.append(f"--header=Authorization: Bearer {token}")
        fuzz = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=tmp_path
        )
        output, _ = await fuzz.communicate()
        still_works = await running.api.get("/readyz")

    assert fuzz.returncode == 0, output.decode()[-8000:]
    assert still_works.status == 200
