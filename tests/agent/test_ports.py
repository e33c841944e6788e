"""Ports on which programs of a workspace listen."""

import os

from agent.commands import until_said
from agent.running import AgentProcess


async def test_listening_ports_are_told_with_who_listens(agent: AgentProcess):
    program = "import socket,time; s=[socket.create_server(('127.0.0.1',0)), socket.create_server(('::',0), family=10)]"
    program += "; print(*(x.getsockname()[1] for x in s), flush=True); time.sleep(1000)"
    started = await agent.ask("POST", "/processes", body={"key": "k", "command": f'exec python3 -c "{program}"'})
    id = started.json["id"]
    four, six = map(int, (await until_said(agent, id, "\n"))["output"].split())

    ports = {one["port"]: one for one in (await agent.ask("GET", "/ports")).json["ports"]}
    assert set(ports) == {four, six}
    assert (ports[four]["address"], ports[six]["address"]) == ("127.0.0.1", "::")
    assert ports[four]["command"].partition("python3 ")[2].startswith("-c import socket")
    assert os.readlink(f"/proc/{ports[four]['pid']}/exe").rpartition("/")[2].startswith("python3")  # noqa: PTH115
