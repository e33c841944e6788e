"""schemathesis, as a process, over the published document of a running server."""

import asyncio
import sys
from pathlib import Path

from server.running import Running

CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"
# Logging out would end the session that the rest of the run needs. Tests of providers would call whatever address is
# made up, and the vendors. Streams never end.
LEFT_OUT = r"/users/logout$|/providers(/[^/]+)?/test$|/chats/watch$|/stream$"


async def fuzz(
    running: Running,
    folder: Path,
    token: str,
    *options: str,
    document: Path | None = None,
    left_out: str = LEFT_OUT,
) -> tuple[int, str]:
    """How it ended, and what it said. `document`: another one than what is published."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{running.api.url}/api/openapi.json" if document is None else str(document),
        f"--url={running.api.url}",
        f"--checks={CHECKS}",
        "--generation-deterministic",
        "--continue-on-failure",
        "--no-color",
        f"--exclude-path-regex={left_out}",
        *([f"--header=Authorization: Bearer {token}"] if token else []),
        *options,
    ]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()
