"""Starts an agent that is nobody's child: it outlives the server, and nothing of the server's is in it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

import chatd
from chatd.agent.options import AgentOptions
from chatd.agent.place import Place, Record
from chatd.core.errors import StartRefused

# All that an agent inherits. The rest of the starter's environment may hold secrets of the server's, which commands
# could read from the agent: it is left behind, not filtered.
INHERITED: Final = frozenset(
    {"PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"}
)
# This very chatd, wherever it is installed. PYTHONPATH would do as well, but commands would inherit it.
_PROGRAM: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); import chatd.agent.__main__"
_MOST_LOG_BYTES: Final = 1024 * 1024  # an agent writes when it fails; more than this is of long ago


def start_detached(options: AgentOptions) -> Record:
    """Who serves in the folder: an agent that lives already, else a new one, once it can be reached."""
    place = Place.at(options.folder)
    if (live := place.live_record()) is not None:
        return live
    address = _start(msgspec.structs.replace(options, foreground=True), place.log)
    record = place.live_record()
    if record is None:
        raise StartRefused(f"The agent at {address} ended right after its start.", detail=f"See {place.log}.")
    return record


def _start(options: AgentOptions, log: Path) -> str:
    if log.exists() and log.stat().st_size > _MOST_LOG_BYTES:
        log.unlink()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        started = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(Path(chatd.__file__).parents[1]), *options.arguments()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=descriptor,
            env=environment(os.environ),
            cwd="/",  # no folder is kept busy
            start_new_session=True,  # no terminal, and no signal that is meant for the starter's group
        )
    finally:
        os.close(descriptor)
    assert started.stdout is not None
    with started.stdout as said:
        address = said.readline().decode().strip()
    if not address:
        raise StartRefused(f"The agent did not start: it ended with {started.wait()}.", detail=f"See the end of {log}.")
    started.returncode = 0  # it is not waited for: once we are gone, it is a child of the system's
    return address


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What an agent starts with."""
    return {name: value for name, value in given.items() if name in INHERITED or name.startswith("LC_")}
