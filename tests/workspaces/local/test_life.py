"""A workspace begins once, outlives the server, is found again, and leaves nothing behind."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from chatd.minting import new_token
from chatd.workspaces.local.account import sandbox_account
from chatd.workspaces.local.bubblewrap import hindrance
from chatd.workspaces.local.folder import WorkspaceFolder
from chatd.workspaces.local.installation import package_folders
from chatd.workspaces.local.last_words import LastWords
from chatd.workspaces.local.launching import marked
from chatd.workspaces.provisioner import BuildFailed
from workspaces.local.running import Log, existing, groups_of, inside, lives, local, new_spec, program, until, workspace

STARTER = Path(__file__).with_name("starter.py")
SOURCE = Path(__file__).parents[3] / "src"
DAEMON = "setsid sh -c 'trap \"\" TERM HUP; sleep 999' </dev/null >/dev/null 2>&1 &"


async def killed_starter(point: str, root: Path, id: str, token: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(STARTER), point, str(root), id, token),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    said, _ = await process.communicate()
    assert process.returncode == -signal.SIGKILL
    return said.decode().strip()


async def test_a_second_start_finds_the_first(root: Path):
    async with workspace(root) as running:
        before = await running.client.health()
        again = Log()

        assert await running.provisioner.start(running.spec, again) == running.address
        assert await local(root).start(running.spec, again) == running.address
        assert (await running.client.health()).started_at_unix == before.started_at_unix
        assert running.record().pid == running.folder.record().pid  # type: ignore[union-attr]
        assert "kept" in again.text


async def test_two_servers_that_start_one_workspace_at_the_same_time_make_one(root: Path):
    spec = new_spec()
    async with workspace(root, spec=spec) as running, asyncio.TaskGroup() as group:
        await running.provisioner.stop(spec, running.log)
        starts = [group.create_task(local(root).start(spec, Log())) for _ in range(3)]
        assert {await start for start in starts} == {running.address}

        assert len([pid for pid in inside(running.record()) if program(pid).startswith("python")]) == 1


async def test_files_stay_over_a_stop_and_go_with_the_workspace(root: Path):
    async with workspace(root) as running:
        await running.run("mkdir -p deep/er; echo kept > deep/er/file; chmod 000 deep/er; chmod 500 deep")
        await running.provisioner.stop(running.spec, running.log)

        assert await running.provisioner.find(running.spec) is None
        await running.provisioner.start(running.spec, running.log)
        said = await running.run("chmod -R 700 deep; cat deep/er/file; chmod 000 deep/er; chmod 500 deep")
        assert said.output == "kept\n"
    assert not running.folder.path.exists()


async def test_a_tree_of_any_depth_goes_with_its_workspace(root: Path):
    async with workspace(root) as running:
        deep = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
        assert (await running.run(f'python3 -c "{deep}"')).exit_code == 0
    assert not running.folder.path.exists()


async def test_a_workspace_stays_usable_when_its_server_begins_or_ends_to_confine(root: Path):
    spec = new_spec()
    async with workspace(root, spec=spec, provisioner=local(root, unconfined=True)) as running:
        await running.run("echo before > file")
        await running.provisioner.stop(spec, running.log)
        confined = local(root)
        await confined.start(spec, running.log)
        assert (await running.run("echo more >> file; cat file; id -u")).output == "before\nmore\n1000\n"
        await confined.stop(spec, running.log)
        await running.provisioner.start(spec, running.log)
        assert (await running.run("cat file")).output == "before\nmore\n"


async def test_after_a_stop_nothing_of_it_runs(root: Path):
    async with workspace(root) as running:
        await running.run(DAEMON)
        record = running.record()
        everything = [*inside(record), record.pid]
        assert len(everything) >= 4
        await running.provisioner.stop(running.spec, running.log)

        assert [pid for pid in everything if lives(pid)] == []
        assert existing(record.groups) == []
        await running.provisioner.stop(running.spec, running.log)  # and again, with nothing there


async def test_with_a_killed_keeper_everything_inside_is_gone(root: Path):
    async with workspace(root) as running:
        await running.run(DAEMON)
        record = running.record()
        everything = inside(record)
        os.kill(record.pid, signal.SIGKILL)

        await until(lambda: not any(lives(pid) for pid in everything))
        assert await running.provisioner.find(running.spec) is None
        await running.provisioner.start(running.spec, running.log)
        assert running.record().pid != record.pid
        assert (await running.run("echo back")).output == "back\n"


async def test_a_killed_agent_is_started_again_over_the_same_files(root: Path):
    async with workspace(root) as running:
        await running.run("echo kept > file")
        os.kill(running.record().inner_pid, signal.SIGKILL)
        await until(lambda: not running.folder.is_held)

        assert await running.provisioner.find(running.spec) is None
        assert await running.provisioner.start(running.spec, running.log) == running.address
        assert (await running.run("cat file")).output == "kept\n"


async def test_an_agent_that_hangs_is_ended_by_a_stop(root: Path):
    async with workspace(root) as running:
        record = running.record()
        everything = inside(record)
        for pid in everything:
            os.kill(pid, signal.SIGSTOP)
        await running.provisioner.stop(running.spec, running.log)

        assert [pid for pid in [*everything, record.pid] if lives(pid)] == []


@pytest.mark.parametrize("point", ["half_made", "untold", "told", "started"])
async def test_a_server_that_is_killed_while_it_starts_a_workspace_leaves_what_the_next_can_use(root: Path, point: str):
    spec = new_spec(token=new_token())
    said = await killed_starter(point, root, str(spec.workspace_id), spec.token.reveal())
    async with workspace(root, spec=spec) as running:
        if point == "started":
            assert said == running.address
            assert "kept" in running.log.text
        assert (await running.run("pwd")).output == "/home/chatd\n"
        assert await running.provisioner.find(spec) == running.address


async def test_a_command_goes_on_while_its_server_is_gone(root: Path):
    spec = new_spec(token=new_token())
    await killed_starter("started", root, str(spec.workspace_id), spec.token.reveal())
    async with workspace(root, spec=spec) as running:
        id = await running.start("while ! test -e go; do sleep 0.05; done; echo done")
        await running.client.close()
        (running.folder.home / "go").touch()
        other = local(root)
        assert await other.find(spec) == running.address
        async with workspace(root, spec=spec, provisioner=other) as again:
            assert (await again.client.output(id, wait_seconds=20)).output == "done\n"


async def test_an_agent_with_another_token_is_not_found(root: Path):
    async with workspace(root) as running:
        stranger = new_spec()
        assert await running.provisioner.find(stranger) is None
        taken = msgspec.structs.replace(running.spec, token=stranger.token)
        assert await running.provisioner.find(taken) is None


async def test_a_path_that_is_too_long_for_a_socket_works(root: Path):
    long = root.joinpath(*(f"{number}-{'long' * 10}" for number in range(4)))
    long.mkdir(parents=True)
    async with workspace(long / "workspaces") as running:
        assert len(running.address) > 200
        assert (await running.run("echo $HTTP_PROXY")).output == "http://127.0.0.1:3128\n"
        said = await running.run("curl -sS http://127.0.0.2.example/ --max-time 20")
        assert "There is no host" in said.output


async def test_an_agent_that_does_not_start_says_why(root: Path):
    provisioner, spec, log = local(root), new_spec('{"read_only_paths": ["/no/such/place"]}'), Log()
    with pytest.raises(BuildFailed, match="/no/such/place, which this machine does not have"):
        await provisioner.start(spec, log)

    assert await provisioner.find(spec) is None
    await provisioner.delete(spec, log)


async def test_a_config_that_is_refused_fails_the_build(tmp_path: Path):
    with pytest.raises(BuildFailed, match="config can't be used") as failed:
        await local(tmp_path / "workspaces").start(new_spec('{"allow": ["http://x"], "processes": 16}'), Log())

    assert "allow.0" in (failed.value.detail or "")


async def test_an_idle_agent_leaves_and_takes_its_keeper_with_it(root: Path):
    async with workspace(root, provisioner=local(root, idle_minutes=0.05)) as running:
        await running.client.close()
        await until(lambda: not running.folder.is_held)

        assert await running.provisioner.find(running.spec) is None
        assert running.folder.record() is None


async def test_without_bubblewrap_a_start_is_refused_with_the_ways_out(tmp_path: Path):
    provisioner = local(tmp_path / "workspaces", bubblewrap="no-such-bwrap")
    with pytest.raises(BuildFailed, match="no-such-bwrap is not installed") as refused:
        await provisioner.start(new_spec(), Log())

    assert refused.value.code == "no_sandbox"
    assert "local_workspaces = unconfined" in (refused.value.detail or "")
    assert provisioner.notes == ()


async def test_a_bubblewrap_that_does_not_work_here_is_refused_with_what_it_said(tmp_path: Path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no namespaces for you' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(BuildFailed, match=r"does not work here|Permission denied"):
        await local(tmp_path / "workspaces", bubblewrap=str(broken)).start(new_spec(), Log())


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1\n", "apparmor_restrict_unprivileged_userns = 1"),
        ("kernel/unprivileged_userns_clone", "0\n", "unprivileged_userns_clone = 0"),
        ("user/max_user_namespaces", "0\n", "max_user_namespaces"),
        ("user/max_user_namespaces", "1000\n", ""),
    ],
)
def test_a_setting_of_the_system_that_hinders_sandboxes_is_named(tmp_path: Path, name: str, value: str, said: str):
    setting = tmp_path / name
    setting.parent.mkdir()
    setting.write_text(value)

    assert said in hindrance(tmp_path)
    assert bool(hindrance(tmp_path)) == bool(said)


def _failing_bubblewrap(folder: Path, words: str) -> Path:
    """One that works on trial, and not with what a workspace is made of. Any user can reach it."""
    folder.chmod(0o755)
    made = folder / "bwrap"
    made.write_text(f"#!/bin/sh\n[ \"$1\" != --args ] || {{ echo '{words}' >&2; exit 1; }}\n")
    made.chmod(0o755)
    return made


async def test_what_bubblewrap_says_of_a_start_that_fails_is_told(root: Path):
    words = "bwrap: no room for this one"
    with tempfile.TemporaryDirectory(prefix="chatd-bwrap-") as folder:
        failing = _failing_bubblewrap(Path(folder), words)
        with pytest.raises(BuildFailed, match="agent did not start") as failed:
            await local(root, bubblewrap=str(failing)).start(new_spec(), Log())

    assert failed.value.detail == words


async def test_an_agent_whose_words_can_not_be_kept_goes_on(tmp_path: Path):
    """As on a full disk: who reads the words must not end, for with it the workspace would."""
    words, output = LastWords(tmp_path), asyncio.StreamReader()
    output.feed_data(b"something went wrong")
    output.feed_eof()
    await words.follow(output)

    assert words.last() == "something went wrong"


async def test_without_a_sandbox_only_by_explicit_wish_and_said_so(tmp_path: Path):
    provisioner = local(tmp_path / "workspaces", bubblewrap="no-such-bwrap", unconfined=True)
    assert "WITHOUT A SANDBOX" in provisioner.notes[0]
    async with workspace(tmp_path / "workspaces", provisioner=provisioner) as running:
        said = await running.run("id -u; pwd; id -un; echo $USER; echo $PATH")

        *shown, name, user, path = said.output.split()
        assert shown == [str(os.geteuid()), str(running.folder.home)]
        assert name == user
        assert path.startswith(f"{running.folder.home}/.local/bin:")
        assert "/home/chatd" not in path, "that may be somebody else's, outside of a sandbox"
        assert "There is no sandbox" in running.log.text


async def test_without_a_sandbox_a_killed_keeper_leaves_nothing_that_a_stop_does_not_end(tmp_path: Path):
    provisioner = local(tmp_path / "workspaces", unconfined=True)
    async with workspace(tmp_path / "workspaces", provisioner=provisioner) as running:
        await running.run(DAEMON)
        id = str(running.spec.workspace_id)
        everything = marked(id)
        assert len(everything) >= 2
        os.kill(running.record().pid, signal.SIGKILL)
        await provisioner.stop(running.spec, running.log)

        assert [pid for pid in everything if lives(pid)] == []
        assert marked(id) == []
        assert groups_of(id) == []


def test_a_server_that_is_not_root_makes_workspaces_as_itself(root: Path):
    account = sandbox_account(None)
    if not account.switch:
        return  # all the other tests have shown it
    who: dict[str, object] = {"user": account.uid, "group": account.gid, "extra_groups": []}
    python = _python_for(who)
    if python is None:
        pytest.skip("this Python can't be reached by another user, and there is no other of its version")
    with tempfile.TemporaryDirectory(prefix="chatd-as-user-") as folder:
        os.chown(folder, account.uid, account.gid)
        done = subprocess.run(
            [python, str(Path(__file__).with_name("as_user.py")), folder],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([str(SOURCE), *package_folders()])},
            capture_output=True,
            text=True,
            cwd="/",
            timeout=60,
            **who,  # type: ignore[arg-type]
        )

    assert done.stdout.split() == ["1000", "/home/chatd", "None"], done.stderr


def _python_for(who: dict[str, object]) -> str | None:
    """One of this version, and with our packages, that this user can run."""
    look = (
        f"import sys, os; sys.exit(sys.version_info[:2] != {sys.version_info[:2]} or not os.access({str(SOURCE)!r}, 4))"
    )
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", look], capture_output=True, cwd="/", **who).returncode == 0:  # type: ignore[call-overload]
                return python
        except OSError:
            continue
    return None


@pytest.mark.parametrize("unconfined", [False, True], ids=["confined", "unconfined"])
@pytest.mark.parametrize("begun", ["keeper.log", "keeper.json"])
async def test_a_start_that_is_cut_short_is_ended_by_the_stop_that_follows(root: Path, unconfined: bool, begun: str):
    """As when a server stops right after someone has asked for a workspace: a keeper that begins only afterwards would
    be nobody's."""
    provisioner, spec = local(root, unconfined=unconfined), new_spec()
    folder = WorkspaceFolder(root, spec.workspace_id)
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(provisioner.start(spec, Log()))
        await until((folder.path / begun).exists)
        starting.cancel()
    is_known = folder.is_held
    await provisioner.stop(spec, Log())

    assert is_known
    assert not folder.is_held
    assert marked(str(spec.workspace_id)) == []
    await provisioner.delete(spec, Log())
