"""Starts the agent of a workspace: in a sandbox, or directly where that was asked for."""

import asyncio
import os
import pwd
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from chatd.agent.options import AgentOptions
from chatd.agent.system_processes import carries, living
from chatd.workspaces.local.call_filter import call_filter
from chatd.workspaces.local.folder import WorkspaceFolder
from chatd.workspaces.local.installation import Installation, Mount, direct, sandboxed
from chatd.workspaces.local.keeper_options import Bubblewrap, KeeperOptions
from chatd.workspaces.local.keyring import leave_session_keyring
from chatd.workspaces.local.limits import Groups
from chatd.workspaces.local.sandbox import (
    AGENT,
    EGRESS,
    EGRESS_SOCKET,
    HOME,
    PROGRAMS,
    USER,
    View,
    arguments,
    environment,
    made_up_files,
    places_of,
)
from chatd.workspaces.local.staging import stage

_MARK: Final = "CHATD_WORKSPACE_ID"  # in the environment of an agent without a sandbox, and of all it starts
# As the first thing of an agent without a sandbox, so that all it starts is in the groups too.
_JOIN: Final = 'for group in $1; do echo 0 >"$group/cgroup.procs"; done; shift; exec "$@"'


class NotLaunched(Exception):
    pass


async def launch_confined(
    options: KeeperOptions,
    folder: WorkspaceFolder,
    bubblewrap: Bubblewrap,
    groups: Groups,
    *,
    most_processes: int,
    started: Callable[[int], None],
) -> asyncio.subprocess.Process:
    """Bubblewrap, which ends with us. `started` is told its first process, which goes on only afterwards."""
    leave_session_keyring()
    installation = sandboxed()
    view = _view(options, folder, bubblewrap, installation)
    contents = {path: _memory_file(text) for path, text in view.files.items()}
    info, info_end = os.pipe()
    block, release = os.pipe()
    filtering = _call_filter(bubblewrap)
    # Not on the command line, which everyone inside can read: it tells where things are on this machine.
    given = [*arguments(view, contents), *(each for number in filtering for each in ("--seccomp", str(number)))]
    if any("\0" in each for each in given):
        raise NotLaunched("A value of the template's environment has a NUL in it.")
    seen = _memory_file("".join(f"{each}\0" for each in given))
    passed = (*contents.values(), *filtering, seen, info_end, block)
    account = options.account
    try:
        process = await asyncio.create_subprocess_exec(
            bubblewrap.program,
            *("--args", str(seen), "--info-fd", str(info_end), "--block-fd", str(block), "--"),
            *installation.command(_inside(options).arguments(), most_processes=most_processes),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": PROGRAMS},
            cwd="/",
            pass_fds=passed,
            umask=0o022,
            user=account.uid if account.switch else None,
            group=account.gid if account.switch else None,
            extra_groups=[] if account.switch else None,
        )
        for descriptor in passed:
            os.close(descriptor)
        try:
            if inner := _inner_pid(info):
                groups.add(inner)
                started(inner)
                os.write(release, b".")
            else:
                _kill(process)  # it has ended by itself, or is one that can't be limited
        except BaseException:
            _kill(process)  # let go, it would run outside of its groups
            raise
    finally:
        os.close(info)
        os.close(release)
    return process


async def launch_directly(
    options: KeeperOptions, folder: WorkspaceFolder, groups: Groups
) -> asyncio.subprocess.Process:
    agent = AgentOptions(
        folder=folder.agent,
        home=folder.home,
        workspace_id=options.workspace_id,
        idle_minutes=options.idle_minutes,
        foreground=True,
    )
    given = environment(options.environment, home=str(folder.home), user=_own_name(), programs=None)
    return await asyncio.create_subprocess_exec(
        *("sh", "-c", _JOIN, "sh", "\n".join(map(str, groups.folders))),
        *direct().command(agent.arguments()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**given, _MARK: options.workspace_id},
        cwd="/",
        umask=0o022,
        start_new_session=True,
    )


def marked(workspace_id: str) -> list[int]:
    """The agent without a sandbox, if it lives, and all that it started and that has kept its environment."""
    mark = f"{_MARK}={workspace_id}".encode()
    return [process.pid for process in living() if process.pid != os.getpid() and carries(process.pid, mark)]


def agents_groups(folder: WorkspaceFolder, workspace_id: str) -> Groups:
    """The control groups that an agent without a sandbox has made for its commands, as it has noted."""
    try:
        noted = Path((folder.agent / "cgroup").read_text("utf-8"))
    except (OSError, ValueError):
        return Groups(())
    ours = noted.name == f"chatd-{workspace_id}" and (noted / "cgroup.procs").exists()
    return Groups((noted,) if ours else ())


def _inside(options: KeeperOptions) -> AgentOptions:
    return AgentOptions(
        folder=Path(AGENT),
        home=Path(HOME),
        workspace_id=options.workspace_id,
        idle_minutes=options.idle_minutes,
        egress_socket=Path(EGRESS_SOCKET) if options.config.network == "allow_list" else None,
        foreground=True,
    )


def _view(options: KeeperOptions, folder: WorkspaceFolder, bubblewrap: Bubblewrap, installation: Installation) -> View:
    config = options.config
    absent = [path for path in config.read_only_paths if not Path(path).exists()]
    if absent:
        raise NotLaunched(f"The template shows {', '.join(absent)}, which this machine does not have.")
    mounts: Sequence[Mount] = [
        *(Mount(path, path) for path in config.read_only_paths),
        *installation.mounts,
        Mount(str(folder.home), HOME, writable=True),
        Mount(str(folder.agent), AGENT, writable=True),
        *([Mount(str(folder.egress), EGRESS)] if config.network == "allow_list" else []),
    ]
    hidden = places_of(Path(options.root).parent.resolve(), mounts)
    if options.account.switch:
        mounts = stage(mounts, away_from=[str(folder.path), bubblewrap.program])
    return View(
        mounts=mounts,
        files=made_up_files(options.hostname),
        environment=environment(options.environment, home=HOME, user=USER, programs=installation.programs),
        hostname=options.hostname,
        shares_network=config.network == "open",
        memory_mb=config.memory_mb,
        hidden=hidden,
        no_more_namespaces=bubblewrap.no_more_namespaces,
    )


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def _own_name() -> str:
    """Of a user that the system has no name for, the number."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _call_filter(bubblewrap: Bubblewrap) -> list[int]:
    """The filter as a descriptor, where the kernel takes one."""
    made = call_filter(os.uname().machine) if bubblewrap.filters_calls else None
    return [] if made is None else [_memory_file(made)]


def _memory_file(content: str | bytes) -> int:
    descriptor = os.memfd_create("chatd", 0)
    os.write(descriptor, content.encode() if isinstance(content, str) else content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class _FirstProcess(msgspec.Struct):
    child_pid: int = msgspec.field(name="child-pid", default=0)


def _inner_pid(info: int) -> int:
    """What bubblewrap says of the process that it started; 0 when it ended instead."""
    said = b""
    while chunk := os.read(info, 4096):
        said += chunk
    try:
        return msgspec.json.decode(said, type=_FirstProcess).child_pid
    except msgspec.MsgspecError:
        return 0
