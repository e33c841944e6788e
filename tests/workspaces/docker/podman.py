"""A container engine of the tests' own: Podman's service, with an image that needs no registry."""

import asyncio
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from chatd.clock import SystemClock
from chatd.workspaces.local.installation import Installation, Mount, sandboxed

IMAGE = "localhost/chatd-trial:1"
WAIT_SECONDS = 60.0
# Podman asks for more open files than some machines let it have, and its usual runtime knows no hybrid control groups.
CONTAINERS_CONF = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


class NoPodman(Exception):
    pass


@contextmanager
def podman() -> Generator[str]:
    """The address of a service that runs. Raises NoPodman, saying why there is none."""
    if shutil.which("podman") is None:
        raise NoPodman("podman is not installed (Debian: apt install podman runc netavark aardvark-dns)")
    folder = Path(tempfile.mkdtemp(prefix="chatd-podman-"))  # short: a socket is in it
    config = folder / "containers.conf"
    config.write_text(CONTAINERS_CONF + ('runtime = "runc"\n' if shutil.which("runc") else ""))
    env = {**os.environ, "CONTAINERS_CONF": str(config), "XDG_RUNTIME_DIR": str(folder)}
    command = ["podman", "--root", str(folder / "root"), "--runroot", str(folder / "run")]
    url = f"unix://{folder}/podman.sock"
    service: subprocess.Popen[bytes] | None = None
    try:
        _run([*command, "import", "-", IMAGE], env, _image())
        _run([*command, "run", "--rm", "--network", "none", "-v", "/usr:/usr:ro", IMAGE, "/usr/bin/true"], env)
        with (folder / "service.log").open("wb") as log:
            served = [*command, "system", "service", "-t", "0", url]
            # In its own folder: a file that tells of a container without memory is written where it runs.
            service = subprocess.Popen(served, env=env, cwd=folder, stdout=log, stderr=log)
        asyncio.run(_answers(folder / "podman.sock"))
        yield url
    finally:
        if service is not None:
            service.terminate()
            service.wait()
        subprocess.run([*command, "system", "reset", "--force"], env=env, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def mounts() -> tuple[Mount, ...]:
    """This machine's programs, this Python and this chatd: what an image of chatd's has of its own."""
    return (Mount("/usr", "/usr"), *sandboxed().mounts)


def agent() -> list[str]:
    installation: Installation = sandboxed()
    return installation.command([])


def _run(command: list[str], env: dict[str, str], given: bytes | None = None) -> None:
    try:
        done = subprocess.run(command, env=env, input=given, capture_output=True, timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NoPodman(f"podman did not end within {WAIT_SECONDS:g} seconds") from error
    if done.returncode != 0:
        raise NoPodman(f"podman does not work here: {done.stderr.decode().strip()[-500:]}")


def _image() -> bytes:
    """Empty folders, the usual links, and one user."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, owner in (("home", 0), ("home/chatd", 1000), ("usr", 0), ("tmp", 0), ("etc", 0), ("run", 0)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, owner, owner
            folder.mode = 0o1777 if name == "tmp" else 0o755
            tar.addfile(folder)
        for name in ("bin", "sbin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
        text = b"root:x:0:0:root:/root:/bin/sh\nchatd:x:1000:1000::/home/chatd:/bin/sh\n"
        users = tarfile.TarInfo("etc/passwd")
        users.size, users.mode = len(text), 0o644
        tar.addfile(users, io.BytesIO(text))
    return content.getvalue()


async def _answers(socket: Path) -> None:
    clock = SystemClock()
    until = clock.monotonic() + WAIT_SECONDS
    while clock.monotonic() < until:
        try:
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket))) as session,
                session.get("http://engine/_ping") as reply,
            ):
                if reply.status == 200:
                    return
        except (aiohttp.ClientError, OSError):
            pass
        await clock.sleep(0.05, timer="podman")
    raise NoPodman("podman's service did not answer")
