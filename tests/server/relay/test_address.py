"""Where a replica listens for the others, and what they are told."""

import socket
from pathlib import Path

import pytest

from chatd.core.errors import StartRefused
from chatd.server.relay.address import address_of, open_relay_socket, url_of
from server.running import settings_for

EVERY = "0.0.0.0"  # noqa: S104


def opened(folder: Path, place: int = 0, **settings: str) -> tuple[int, str]:
    sock, url = open_relay_socket(settings_for("postgresql://nowhere/", folder, **settings), place)
    port: int = sock.getsockname()[1]
    sock.close()
    return port, url


def free_ports() -> int:
    """The first of two that are free."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except OSError:
                continue
            return port


def test_without_settings_it_is_a_free_port_of_this_machine(tmp_path: Path):
    port, url = opened(tmp_path)

    assert url == f"tls://127.0.0.1:{port}"


def test_each_replica_of_one_parent_has_a_port_of_its_own(tmp_path: Path):
    first = free_ports()
    url = "tls://chatd.internal:9000"

    assert opened(tmp_path, 0, relay_port=str(first)) == (first, f"tls://127.0.0.1:{first}")
    assert opened(tmp_path, 1, relay_port=str(first)) == (first + 1, f"tls://127.0.0.1:{first + 1}")
    assert opened(tmp_path, 1, relay_port=str(first), relay_url=url) == (first + 1, "tls://chatd.internal:9001")


def test_a_told_address_without_a_port_has_the_one_that_is_listened_on(tmp_path: Path):
    port, url = opened(tmp_path, relay_host=EVERY, relay_url="tls://10.0.0.5")

    assert url == f"tls://10.0.0.5:{port}"


def test_every_address_is_none_that_others_could_be_told(tmp_path: Path):
    with pytest.raises(StartRefused, match="can't be told") as refused:
        opened(tmp_path, relay_host=EVERY)

    assert "CHATD_RELAY_URL" in (refused.value.detail or "")


def test_a_port_that_is_taken_refuses_the_start(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(StartRefused, match="Can't listen for other"):
        opened(tmp_path, relay_port=str(taken.getsockname()[1]))


def test_addresses_survive_being_written_down():
    assert address_of(url_of("::1", 7081)) == ("::1", 7081)
    assert address_of(url_of("10.0.0.5", 1)) == ("10.0.0.5", 1)
