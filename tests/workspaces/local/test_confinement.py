"""What a workspace can't see, and can't do."""

import asyncio
import ctypes
import os
import socket
from pathlib import Path

import pytest

from chatd.agent.system_processes import living, look_up
from chatd.workspaces.local.installation import Mount
from chatd.workspaces.local.sandbox import View, arguments, places_of
from workspaces.local.running import environ, local, new_spec, program, workspace

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SECRET = "the-servers-own-secret"


@pytest.mark.behaviour("WORKSPACE-4")
async def test_a_workspace_is_a_folder_with_an_agent_in_a_sandbox(root: Path):
    async with workspace(root) as running:
        said = await running.run("echo made inside > here; id -u; grep CapEff /proc/self/status; pwd")

        assert said.exit_code == 0
        assert said.output.split() == ["1000", "CapEff:", "0" * 16, "/home/chatd"]
        made = running.folder.home / "here"
        assert made.read_text() == "made inside\n"
        assert made.stat().st_uid != 0, "a file of the sandbox must not be root's"


async def test_the_servers_data_is_not_there(root: Path):
    secret = root.parent / "keys"
    secret.write_text(SECRET)
    secret.chmod(0o644)  # only the sandbox is in between
    async with workspace(root) as running:
        said = await running.run(f"cat {secret}; ls {root.parent}; ls {root.parent.parent}")

        assert said.exit_code != 0
        assert SECRET not in said.output
        assert said.output.count("No such file or directory") == 3


async def test_the_repository_beside_the_code_is_not_there(root: Path):
    repository = Path(__file__).parents[3]
    async with workspace(root) as running:
        said = await running.run(f"ls {repository}; ls /opt/chatd/source; touch /opt/chatd/source/chatd/new")

        assert "No such file or directory" in said.output
        assert "Read-only file system" in said.output
        assert "\nchatd\n" in f"\n{said.output}"


async def test_another_workspace_is_not_there(root: Path):
    async with workspace(root) as one, workspace(root) as other:
        await one.run(f"echo {SECRET} > of-the-first-one; chmod 666 of-the-first-one; chmod 777 .")
        said = await other.run(f"cat {one.folder.home}/of-the-first-one; find / -name of-the-first-one 2>/dev/null")

        assert SECRET not in said.output
        assert said.output.strip().endswith("No such file or directory")


async def test_a_socket_of_this_machine_is_not_there(root: Path):
    """As the embedded Postgres has one, in the data directory."""
    path = root.parent / "postgres.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        path.chmod(0o777)
        listening.listen()
        async with workspace(root) as running:
            connect = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})"
            said = await running.run(f'/usr/bin/env python3 -c "{connect}"')

        assert "FileNotFoundError" in said.output


async def test_nothing_of_the_servers_environment_comes_in(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHATD_TRIAL", SECRET)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    async with workspace(root, '{"environment": {"GREETING": "hello"}}') as running:
        said = await running.run("env; cat /proc/*/environ | tr '\\0' '\\n'")
        outside = environ(running.record().pid)

        assert SECRET not in said.output
        assert SECRET not in outside
        assert "GREETING=hello" in said.output


async def test_processes_outside_are_neither_seen_nor_reached(root: Path):
    async with workspace(root) as running:
        me = os.getpid()
        attach = f"import ctypes, os; print(ctypes.CDLL(None, use_errno=True).ptrace(16, {me}, 0, 0))"
        said = await running.run(
            f'kill -0 {me}; cat /proc/{me}/environ; python3 -c "{attach}"; ls -d /proc/[0-9]* | wc -l'
        )

        assert "No such process" in said.output
        assert "No such file or directory" in said.output
        lines = said.output.split()
        assert lines[-2] == "-1", "ptrace of a process outside must fail"
        assert int(lines[-1]) < 10


NEEDS_RIGHTS = (
    "mount -t tmpfs none /tmp",
    "mount --bind /usr /home/chatd",
    "unshare --user --map-root-user true",
    "chroot / true",
    "mknod /tmp/disk b 254 0",
    "touch /usr/bin/new",
    "touch /etc/new",
    "cat /etc/shadow",
    "echo 1 > /proc/sys/kernel/panic",
    "hostname other",
    "ls /sys/fs/cgroup",
    "dmesg",
)


async def test_what_needs_rights_is_refused(root: Path):
    async with workspace(root) as running:
        for command in NEEDS_RIGHTS:
            said = await running.run(command)

            assert said.exit_code != 0, f"{command}: {said.output}"


# Each with arguments that the kernel itself finds other faults with, as far as it looks at them at all.
CALLS = """
import ctypes, errno, os
numbers = dict(zip(
    ("add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load", "perf", "handle", "bpf", "userfaultfd",
     "ioctl"),
    {"x86_64": (248, 249, 250, 246, 320, 298, 304, 321, 323, 16),
     "aarch64": (217, 218, 219, 104, 294, 241, 265, 280, 282, 29)}[os.uname().machine]))
def said(name, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(numbers[name], *arguments)
    return errno.errorcode[ctypes.get_errno()] if result < 0 else result
libc = ctypes.CDLL(None, use_errno=True)
for name in numbers:
    if name != "ioctl":
        print(name, said(name, *[ctypes.c_long(-1)] * 5))
for request in (0x5412, 0x541C, 0x100005412, 0x5413):
    print(hex(request), said("ioctl", ctypes.c_long(-1), ctypes.c_long(request), 0))
"""


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="no filter is written for this machine")
async def test_calls_of_the_kernel_that_nobody_needs_are_refused(root: Path):
    async with workspace(root) as running:
        await running.run(f"cat > calls.py <<'END'\n{CALLS}\nEND")
        said = await running.run("python3 calls.py")
        mode = await running.run("grep Seccomp: /proc/self/status")

    told = dict(line.split() for line in said.output.splitlines())
    assert told.pop("0x5413") == "EBADF", "asking for the size of a terminal is nobody's harm"
    assert set(told.values()) == {"EPERM"}, said.output
    assert len(told) == 12
    assert mode.output.split() == ["Seccomp:", "2"]


async def test_a_link_in_place_of_the_agents_token_is_not_followed(root: Path, tmp_path: Path):
    """The folder of the agent is writable from inside: what stands there was put there by anybody."""
    precious = tmp_path / "precious"
    precious.write_text("old")
    async with workspace(root) as running:
        await running.run(f"ln -sf {precious} /run/chatd/agent/token")
        await running.provisioner.stop(running.spec, running.log)
        await running.provisioner.start(running.spec, running.log)

        assert precious.read_text() == "old"
        token = running.folder.agent / "token"
        assert not token.is_symlink()
        assert token.read_text() == running.spec.token.reveal()


async def test_a_link_in_place_of_the_agents_socket_does_not_lead_the_server_elsewhere(root: Path, tmp_path: Path):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        other.setblocking(False)
        async with workspace(root) as running:
            said = await running.run(f"ln -sf {path} /run/chatd/agent/agent.sock")

            assert said.exit_code == 0
            assert await running.provisioner.find(running.spec) == running.address
            await running.provisioner.stop(running.spec, running.log)
            await running.provisioner.start(running.spec, running.log)
            with pytest.raises(BlockingIOError):
                other.accept()


async def test_whatever_stands_at_the_place_of_the_agents_socket_a_workspace_starts_again(root: Path):
    async with workspace(root) as running:
        await running.run("cd /run/chatd/agent && rm agent.sock && mkdir -p agent.sock/deeper")
        await running.provisioner.stop(running.spec, running.log)
        await running.provisioner.start(running.spec, running.log)

        assert await running.provisioner.find(running.spec) == running.address


async def test_folders_that_show_the_servers_data_are_refused(root: Path):
    for path in (str(root), str(root.parent), str(root.parent.parent), "/"):
        with pytest.raises(Exception, match="config can't be used"):
            local(root).check(f'{{"read_only_paths": ["{path}"]}}')


async def test_a_folder_that_an_administrator_shows_can_be_read_and_not_written(root: Path, tmp_path: Path):
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "text").write_text("for all")
    async with workspace(root, f'{{"read_only_paths": ["{shown}"]}}') as running:
        said = await running.run(f"cat {shown}/text; echo no > {shown}/text; ls {tmp_path}")

        assert "for all" in said.output
        assert "Read-only file system" in said.output
        assert said.output.split()[-1] == "shown"


async def test_the_server_itself_is_no_parent_of_a_sandbox(root: Path):
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)  # whatever other tests of this process have asked for
    async with workspace(root) as running:
        keeper = look_up(running.record().pid)

        assert keeper is not None
        assert keeper.parent != os.getpid()
        assert keeper.group != os.getpgrp()


async def test_command_lines_do_not_tell_where_things_are_outside(root: Path):
    async with workspace(root) as running:
        said = await running.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert "bwrap" in said.output
    assert str(root) not in said.output


async def test_parameters_fill_the_environment(root: Path):
    spec = new_spec('{"environment": {"LEVEL": "is ${level}"}}', parameters={"level": "high"})
    async with workspace(root, spec=spec) as running:
        assert (await running.run("echo $LEVEL")).output == "is high\n"


async def test_what_a_template_puts_into_the_environment_is_for_the_inside_only(root: Path):
    """Bubblewrap itself runs outside: a library that is named there would be loaded outside."""
    config = '{"environment": {"LD_LIBRARY_PATH": "/home/chatd/lib"}}'
    async with workspace(root, config) as running:
        said = await running.run("echo $LD_LIBRARY_PATH; env | grep -c ^PATH=")
        keeper = running.record().pid
        outside = [process.pid for process in living() if process.parent == keeper]

        assert said.output.split() == ["/home/chatd/lib", "1"]
        assert [program(pid) for pid in outside] == ["bwrap"]
        assert "LD_LIBRARY_PATH" not in environ(outside[0])


async def test_keys_of_the_servers_session_are_not_there(root: Path):
    """A session's keyring is inherited, and who has it may read what is in it, whoever that is of."""
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of the system's calls are those of another machine")
    libc = ctypes.CDLL(None, use_errno=True)
    # add_key, to the session's; each thread has its own, so in the one that will start the keeper
    key = await asyncio.to_thread(libc.syscall, 248, b"user", b"chatd-trial", SECRET.encode(), len(SECRET), -3)
    if key < 0:
        pytest.skip("this system keeps no keys")
    try:
        async with workspace(root) as running:
            read = (
                "import ctypes; libc = ctypes.CDLL(None); text = ctypes.create_string_buffer(100); "
                f"print(libc.syscall(250, 11, {key}, text, 100), text.value, end=' '); "
                "print(libc.syscall(249, b'user', b'chatd-trial', None, 0))"
            )
            said = await running.run(f'python3 -c "{read}"')
    finally:
        libc.syscall(250, 3, key)  # revoked

    assert said.output.split() == ["-1", "b''", "-1"]


async def test_memory_is_nowhere_taken_by_files_without_a_bound(root: Path):
    async with workspace(root, '{"memory_mb": 64}') as running:
        said = await running.run("touch /dev/new; df --output=size -B1M /dev/shm /tmp; touch /dev/shm/new && echo made")

        assert "Read-only file system" in said.output
        assert said.output.split()[-3:] == ["64", "64", "made"]


async def test_messages_of_this_machines_processes_are_not_there(root: Path):
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x63686174
    queue: int = libc.msgget(key, 0o1666)  # IPC_CREAT, for everyone
    assert queue >= 0
    try:
        async with workspace(root) as running:
            look = f"import ctypes; print(ctypes.CDLL(None).msgget({key}, 0))"
            said = await running.run(f'python3 -c "{look}"')
    finally:
        libc.msgctl(queue, 0, None)  # IPC_RMID

    assert said.output == "-1\n"


def test_data_that_lies_in_what_is_shown_is_covered():
    data = Path("/usr/local/share/chatd")
    found = places_of(data, [Mount("/usr/local", "/opt/other"), Mount("/opt/else", "/opt/else")])

    assert found == [str(data), "/opt/other/share/chatd"]
    view = View(
        mounts=(),
        files={},
        environment={},
        hostname="h",
        shares_network=False,
        memory_mb=None,
        hidden=found,
        no_more_namespaces=True,
    )
    given = arguments(view, {})
    for place in found:
        at = given.index(place)
        assert given[at - 1 : at + 3] == ["--tmpfs", place, "--remount-ro", place]
