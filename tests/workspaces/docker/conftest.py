"""Containers are tried on a real engine, where there is one; it is not needed otherwise."""

from collections.abc import Generator

import pytest

from workspaces.docker.podman import NoPodman, podman


@pytest.fixture(scope="session")
def engine() -> Generator[str]:
    try:
        with podman() as url:
            yield url
    except NoPodman as reason:
        pytest.skip(str(reason))
