"""A fuzz of the published API document: whatever is sent, the server does not fail and errors keep their shape.

An owner is let everywhere. A member sends the same to what members may do, since what they may not is refused by then,
and nobody to what is for anyone.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from server.fuzzing import LEFT_OUT, fuzz
from server.running import running_server

IS_LONG = bool(os.environ.get("CHATD_TEST_LONG"))
# What is generated for a member is much the same as for an owner, who sends it to the same routes.
EXAMPLES = {"owner": 12, "member": 4, "nobody": 12}
MANY = 200
EVERY_PHASE = "--phases=examples,coverage,fuzzing"
ROUTES = {
    "owner": "",
    "member": r"/chats($|/\{chat\}|/files|/cost|/config/user-|/model-configs)|/users/\{user\}",
    "nobody": r"/users/(first|login)$|/buildinfo$|/download$",
}


async def run(database: Any, folder: Path, who: str, *options: str, left_out: str = LEFT_OUT) -> None:
    # Workspaces have tests of their own: here each would be a real sandbox.
    settings: dict[str, Any] = {"requests_per_minute": "0", "demo_model": "auto", "local_workspaces": "off"}
    async with running_server(database.dsn, folder, **settings) as running:
        token = {"nobody": "", "owner": running.owner.token}.get(who) or (await running.add_user("mia")).token
        code, said = await fuzz(running, folder, token, *options, left_out=left_out)
        still_works = await running.api.get("/readyz")

    assert code == 0, said[-8000:]
    assert still_works.status == 200


@pytest.mark.behaviour("API-4")
@pytest.mark.parametrize("who", ROUTES)
async def test_no_input_makes_the_server_fail(database: Any, tmp_path: Path, who: str):
    only = [] if IS_LONG or not ROUTES[who] else [f"--include-path-regex={ROUTES[who]}"]
    await run(database, tmp_path, who, EVERY_PHASE, f"--max-examples={MANY if IS_LONG else EXAMPLES[who]}", *only)


@pytest.mark.behaviour("API-4")
@pytest.mark.parametrize("who", ["member", "nobody"])
async def test_no_input_of_who_may_not_makes_the_server_fail(database: Any, tmp_path: Path, who: str):
    others = f"{LEFT_OUT}|{ROUTES[who]}"
    await run(database, tmp_path, who, "--phases=fuzzing", "--max-examples=1", left_out=others)
