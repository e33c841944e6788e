"""Without an engine, and what a template may say of containers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from chatd.clock import SystemClock
from chatd.core.errors import InvalidRequest
from chatd.workspaces.docker.provisioner import DockerProvisioner
from chatd.workspaces.provisioner import BuildFailed, WorkspaceSpec
from workspaces.local.running import Log, new_spec


def docker(tmp_path: Path, **more: object) -> DockerProvisioner:
    url = f"unix://{tmp_path}/none.sock"
    return DockerProvisioner(url, tmp_path / "w", host_id="h", clock=SystemClock(), **more)  # type: ignore[arg-type]


async def test_an_engine_that_is_not_there_is_said_with_what_to_do(tmp_path: Path):
    provisioner, spec = docker(tmp_path), new_spec('{"image": "chatd-workspace"}')
    with pytest.raises(BuildFailed, match=r"none\.sock can't be reached") as failed:
        await provisioner.start(spec, Log())

    assert "docker_url" in (failed.value.detail or "")
    assert await provisioner.find(spec) is None


@pytest.mark.parametrize(
    "config",
    [
        "{}",
        '{"image": ""}',
        '{"image": "a", "privileged": true}',
        '{"image": "a", "network": "host"}',
        '{"image": "a", "network": "a b"}',
        '{"image": "a", "user": "root"}',
        '{"image": "a", "home": "relative"}',
        '{"image": "a", "mounts": [{"source": "/a/../b", "target": "/c"}]}',
        '{"image": "a", "environment": {"CHATD_X": ""}}',
        '{"image": "a", "agent": []}',
        '{"image": "a", "mounts": [{"source": "/", "target": "/c"}]}',
    ],
)
def test_what_can_not_work_is_refused(tmp_path: Path, config: str):
    with pytest.raises(InvalidRequest):
        docker(tmp_path).check(config)


def test_an_agent_that_is_reached_by_a_port_needs_a_network(tmp_path: Path):
    docker(tmp_path).check('{"image": "a", "network": "none"}')
    with pytest.raises(InvalidRequest):
        docker(tmp_path, connect="port").check('{"image": "a", "network": "none"}')


def test_folders_that_show_the_servers_data_are_refused(tmp_path: Path):
    for source in (tmp_path, tmp_path / "w", tmp_path.parent):
        with pytest.raises(InvalidRequest) as refused:
            docker(tmp_path).check(f'{{"image": "a", "mounts": [{{"source": "{source}", "target": "/c"}}]}}')
        assert refused.value.validations[0].field == "mounts.0.source"
    docker(tmp_path).check('{"image": "a", "mounts": [{"source": "/usr/share", "target": "/c"}]}')


@pytest.mark.parametrize("tag", ["1/../../../containers", "", "a b", "1?all=1", "1\n", "//x"])
async def test_a_parameter_that_makes_no_name_of_an_image_fails_the_build(tmp_path: Path, tag: str):
    spec = new_spec('{"image": "${image}"}', parameters={"image": f"a/{tag}"})
    with pytest.raises(BuildFailed, match="no name of an image"):
        await docker(tmp_path).start(spec, Log())


@asynccontextmanager
async def slow_engine(spec: WorkspaceSpec) -> AsyncGenerator[str]:
    """Says that the container runs until it was asked to kill it, and then that it does not run any more."""
    runs = True

    async def answer(request: web.Request) -> web.Response:
        nonlocal runs
        if request.path.endswith("/kill"):
            runs = False
            return web.json_response({"message": "container is not running"}, status=409)
        labels = {"chatd.workspace_id": str(spec.workspace_id)}
        return web.json_response({"State": {"Running": runs}, "Config": {"Labels": labels}})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"tcp://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_container_that_ends_by_itself_while_it_is_ended_is_stopped(tmp_path: Path):
    spec, log = new_spec('{"image": "a"}'), Log()
    async with slow_engine(spec) as url:
        await DockerProvisioner(url, tmp_path / "w", host_id="h", clock=SystemClock()).stop(spec, log)

    assert "Nothing of the workspace runs." in log.text
