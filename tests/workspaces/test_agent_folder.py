"""The folder that leads to an agent, while the workspace does in it what it likes."""

import os
import socket
import stat
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest

from chatd.workspaces.agent_folder import AgentFolder

ID = UUID("01900000-0000-7000-8000-000000000002")


@pytest.fixture
def folder(tmp_path: Path) -> Generator[AgentFolder]:
    made = AgentFolder(tmp_path / "w", ID)
    made.make_agent(None)
    yield made
    made.take_away()


def _listening(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = os.open(path.parent, os.O_RDONLY)  # the path itself may be too long for a socket
    made.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)
    made.listen()
    return made


def _deep(folder: Path, levels: int) -> None:
    """Deeper than a function may call itself."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def test_a_tree_of_any_depth_in_place_of_the_token_and_of_the_socket_is_taken_away(folder: AgentFolder):
    for name in ("token", "agent.sock"):
        (folder.agent / name).mkdir()
        _deep(folder.agent / name, 3000)
    folder.put_token("the token", None)
    folder.forget_agent_socket()

    assert (folder.agent / "token").read_text() == "the token"
    assert sorted(path.name for path in folder.agent.iterdir()) == ["token"]


def test_servers_that_name_a_socket_at_the_same_time_do_not_disturb_each_other(folder: AgentFolder):
    with _listening(folder.agent / "agent.sock"), ThreadPoolExecutor(8) as servers:
        done = [servers.submit(folder.link_socket) for _ in range(2000)]

        assert all(each.result() for each in done)
        named = folder.path / "agent.sock"
        assert named.samefile(folder.agent / "agent.sock")
        assert sorted(path.name for path in folder.path.iterdir()) == ["agent", "agent.sock"]


def test_nothing_but_a_socket_is_named(folder: AgentFolder):
    made, named = folder.agent / "agent.sock", folder.path / "agent.sock"
    assert not folder.link_socket()
    made.write_text("a file")
    assert not folder.link_socket()
    made.unlink()
    with _listening(folder.path / "elsewhere"):
        made.symlink_to(folder.path / "elsewhere")
        assert not folder.link_socket()

    assert not named.exists()


def test_a_link_that_takes_the_place_of_the_socket_between_two_looks_is_not_followed(
    folder: AgentFolder, monkeypatch: pytest.MonkeyPatch
):
    made, named, elsewhere = folder.agent / "agent.sock", folder.path / "agent.sock", folder.path / "elsewhere"
    is_socket = stat.S_ISSOCK

    def exchanging(mode: int) -> bool:
        if not made.is_symlink():
            made.unlink()
            made.symlink_to(elsewhere)
        return is_socket(mode)

    with _listening(made), _listening(elsewhere):
        monkeypatch.setattr(stat, "S_ISSOCK", exchanging)

        assert not folder.link_socket()
    assert not named.exists()
