"""A workspace as a container: on a real engine."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from chatd.clock import SystemClock
from chatd.wire.agent.processes import ProcessOutput, StartProcess
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.docker.container import container_name, volume_names
from chatd.workspaces.docker.engine import Engine, EngineRefused
from chatd.workspaces.docker.provisioner import DockerProvisioner
from chatd.workspaces.provisioner import BuildFailed, WorkspaceSpec
from workspaces.docker.podman import IMAGE, agent, mounts
from workspaces.local.running import Log, new_spec


def config(**more: Any) -> str:
    shown = [{"source": mount.source, "target": mount.target} for mount in mounts()]
    return json.dumps({"image": IMAGE, "pull": "never", "network": "none", "mounts": shown, "agent": agent(), **more})


def docker(engine: str, root: Path, connect: Literal["socket", "port"] = "socket") -> DockerProvisioner:
    return DockerProvisioner(engine, root, host_id="this-host", clock=SystemClock(), connect=connect)


class Container:
    def __init__(self, provisioner: DockerProvisioner, spec: WorkspaceSpec, address: str, log: Log) -> None:
        self.provisioner = provisioner
        self.spec = spec
        self.address = address
        self.log = log
        self.client = agent_client(address, spec.token, SystemClock())
        self._started = 0

    async def run(self, command: str) -> ProcessOutput:
        self._started += 1
        started = await self.client.start(StartProcess(key=f"trial-{self._started}", command=command))
        return await self.client.output(started.id, wait_seconds=30)


@asynccontextmanager
async def container(provisioner: DockerProvisioner, spec: WorkspaceSpec) -> AsyncGenerator[Container]:
    log = Log()
    running: Container | None = None
    try:
        running = Container(provisioner, spec, await provisioner.start(spec, log), log)
        yield running
    finally:
        if running is not None:
            await running.client.close()
        await provisioner.delete(spec, Log())


@pytest.mark.behaviour("WORKSPACE-4")
async def test_a_workspace_is_a_container_of_its_own(engine: str, tmp_path: Path):
    spec = new_spec(config(environment={"GREETING": "hello ${whom}"}), parameters={"whom": "ada"})
    async with container(docker(engine, tmp_path), spec) as running:
        said = await running.run("id -u; pwd; echo $GREETING; env | grep -c TOKEN; grep CapEff /proc/self/status")

        assert said.output.split() == ["1000", "/home/chatd", "hello", "ada", "0", "CapEff:", "0" * 16]
        assert running.address == f"unix:{tmp_path / str(spec.workspace_id) / 'agent.sock'}"
        assert running.provisioner.host_id == "this-host"
        hidden = await running.run(f"cat {tmp_path}; cat /proc/1/environ")
        assert "No such file" in hidden.output
        assert spec.token.reveal() not in hidden.output


async def test_not_even_a_program_with_a_users_bit_gets_rights(engine: str, tmp_path: Path):
    async with container(docker(engine, tmp_path), new_spec(config())) as running:
        said = await running.run("grep -E 'CapBnd|NoNewPrivs' /proc/self/status")

    assert said.output.split() == ["CapBnd:", "0" * 16, "NoNewPrivs:", "1"]


async def test_a_container_of_the_same_name_that_is_not_ours_is_left_alone(engine: str, tmp_path: Path):
    spec, asked = new_spec(config()), Engine(engine, SystemClock())
    name = container_name(spec)
    await asked.call("POST", "/containers/create", body={"Image": IMAGE, "Cmd": ["true"]}, query={"name": name})
    try:
        for act in (docker(engine, tmp_path).start, docker(engine, tmp_path).delete):
            with pytest.raises(BuildFailed, match="not ours"):
                await act(spec, Log())
        await asked.call("GET", f"/containers/{name}/json")
    finally:
        await asked.call("DELETE", f"/containers/{name}")


async def test_a_second_start_finds_the_first(engine: str, tmp_path: Path):
    spec = new_spec(config())
    async with container(docker(engine, tmp_path), spec) as running:
        before = await running.client.health()
        again = Log()

        assert await docker(engine, tmp_path).start(spec, again) == running.address
        assert "kept" in again.text
        assert (await running.client.health()).started_at_unix == before.started_at_unix
        assert await running.provisioner.find(spec) == running.address


async def test_home_stays_over_a_stop_and_goes_with_the_workspace(engine: str, tmp_path: Path):
    spec = new_spec(config())
    async with container(docker(engine, tmp_path), spec) as running:
        await running.run("echo kept > file; (sleep 999 &)")
        await running.provisioner.stop(spec, running.log)
        assert await running.provisioner.find(spec) is None
        await running.provisioner.stop(spec, running.log)  # and again

        await running.provisioner.start(spec, running.log)
        assert (await running.run("cat file")).output == "kept\n"
        changed = msgspec.structs.replace(spec, config=config(environment={"NEW": "one"}))
        await running.provisioner.stop(spec, running.log)
        await running.provisioner.start(changed, running.log)
        assert (await running.run("cat file; echo $NEW")).output == "kept\none\n"

    asked = Engine(engine, SystemClock())
    for path in (f"/containers/{container_name(spec)}/json", f"/volumes/{volume_names(spec)[0]}"):
        with pytest.raises(EngineRefused) as refused:
            await asked.call("GET", path)
        assert refused.value.status == 404
    assert os.listdir(tmp_path) == []  # noqa: PTH208


async def test_a_container_that_was_killed_is_started_again_over_the_same_files(engine: str, tmp_path: Path):
    spec = new_spec(config())
    async with container(docker(engine, tmp_path), spec) as running:
        await running.run("echo kept > file")
        await Engine(engine, SystemClock()).call("POST", f"/containers/{container_name(spec)}/kill")

        assert await running.provisioner.find(spec) is None
        assert await running.provisioner.start(spec, running.log) == running.address
        assert (await running.run("cat file")).output == "kept\n"


async def test_a_server_that_was_killed_before_it_knew_the_socket_finds_it(engine: str, tmp_path: Path):
    spec = new_spec(config())
    async with container(docker(engine, tmp_path), spec) as running:
        Path(running.address.removeprefix("unix:")).unlink()  # noqa: ASYNC240

        assert await docker(engine, tmp_path).find(spec) == running.address


async def test_limits_hold_inside(engine: str, tmp_path: Path):
    spec = new_spec(config(memory_mb=128, processes=64, cpus=0.5))
    async with container(docker(engine, tmp_path), spec) as running:
        hog = 'python3 -c "x = []\nwhile True: x.append(bytearray(1024 * 1024))"; echo ended with $?'
        assert "ended with 137" in (await running.run(hog)).output
        forks = await running.run("for i in $(seq 100); do sleep 5 & done; wait")
        assert "fork" in forks.output.lower()


async def test_a_read_only_root_has_a_home_and_a_place_for_temporary_files(engine: str, tmp_path: Path):
    spec = new_spec(config(read_only_root=True))
    async with container(docker(engine, tmp_path), spec) as running:
        said = await running.run("touch /tmp/a ~/b && touch /etc/c")

        assert "Read-only file system" in said.output
        assert "/tmp/a" not in said.output


async def test_by_a_port_every_replica_reaches_it(engine: str, tmp_path: Path):
    provisioner = docker(engine, tmp_path, "port")
    assert provisioner.host_id is None
    spec = new_spec(config(network="bridge"))
    try:
        async with container(provisioner, spec) as running:
            assert running.address.startswith("tcp:127.0.0.1:")
            assert (await running.run("echo reached")).output == "reached\n"
            await provisioner.stop(spec, running.log)
            assert await provisioner.find(spec) is None
    except BuildFailed as failed:
        if "netavark" in (failed.detail or "") or "network" in (failed.detail or "").lower():
            pytest.skip(f"this engine has no bridge: {failed.detail}")
        raise


async def test_an_image_that_is_not_there_is_said(engine: str, tmp_path: Path):
    spec = new_spec(json.dumps({"image": "localhost/no-such-image:9", "pull": "never"}))
    provisioner = docker(engine, tmp_path)
    with pytest.raises(BuildFailed) as failed:
        await provisioner.start(spec, Log())
    assert "no such image" in (failed.value.detail or "").lower()
    await provisioner.delete(spec, Log())


async def test_an_image_that_can_not_be_pulled_is_said(engine: str, tmp_path: Path):
    spec = new_spec(json.dumps({"image": "localhost:1/no/image:9"}))
    with pytest.raises(BuildFailed, match="can't be pulled") as failed:
        await docker(engine, tmp_path).start(spec, Log())
    assert failed.value.code == "image"


async def test_a_container_without_an_agent_is_said(engine: str, tmp_path: Path):
    spec = new_spec(config(agent=["/usr/bin/false"]))
    provisioner = docker(engine, tmp_path)
    with pytest.raises(BuildFailed, match="does not answer") as failed:
        await provisioner.start(spec, Log())
    assert "ended with 1" in (failed.value.detail or "")
    await provisioner.delete(spec, Log())
