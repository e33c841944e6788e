"""What the agent asks of every request, whatever the route."""

import asyncio

from agent.running import CHAT, AgentProcess


async def test_health_says_who_runs(agent: AgentProcess):
    reply = await agent.ask("GET", "/health")

    assert reply.status == 200
    assert reply.json["pid"] == agent.pid
    assert reply.json["running_processes"] == 0


async def test_a_request_without_the_token_is_refused(agent: AgentProcess):
    for token in ("", "wrong", agent.token[:-1], agent.token + "a"):
        reply = await agent.ask("GET", "/health", token=token)
        assert reply.status == 401
        assert set(reply.json) == {"message"}


async def test_an_unknown_address_is_404_and_a_wrong_method_405(agent: AgentProcess):
    assert (await agent.ask("GET", "/nothing")).status == 404
    assert (await agent.ask("DELETE", "/health")).status == 405


async def test_a_caller_that_can_not_be_read_is_refused(agent: AgentProcess):
    for headers in (
        {"Chatd-Chat-Id": "no-uuid"},
        {"Chatd-Chat-Id": str(CHAT), "Chatd-Epoch": "-1"},
        {"Chatd-Chat-Id": str(CHAT), "Chatd-Epoch": "9" * 40},
        {"Chatd-Chat-Id": str(CHAT), "Chatd-Ancestor-Chat-Ids": "[1]"},
        {"Chatd-Chat-Id": str(CHAT), "Chatd-Ancestor-Chat-Ids": '["no-uuid"]'},
    ):
        assert (await agent.ask("GET", "/health", chat=None, headers=headers)).status == 400, headers


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(agent: AgentProcess):
    assert (await agent.ask("POST", "/processes", raw=b"x" * (3 * 1024 * 1024))).status == 413


async def test_a_client_that_leaves_disturbs_nobody(agent: AgentProcess):
    reader, writer = await asyncio.open_unix_connection(agent.address.removeprefix("unix:"))
    writer.write(b"POST /heartbeat HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    del reader

    assert (await agent.ask("GET", "/health")).status == 200
