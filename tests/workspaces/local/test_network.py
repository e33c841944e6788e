"""The way out of a sandbox: none, a list of hosts, or this machine's own network."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from workspaces.local.running import local, workspace

METADATA = "http://169.254.169.254/latest/meta-data/"


@asynccontextmanager
async def web_server() -> AsyncGenerator[int]:
    """On loopback: what a workspace must not reach, unless the operator has allowed it. Yields the port."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {request.path_qs} for {request.headers['Host']}\n")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def test_off_means_that_there_is_no_network(root: Path):
    async with web_server() as port, workspace(root, '{"network": "off"}') as running:
        said = await running.run(f"curl -sS --max-time 10 http://127.0.0.1:{port}/; cat /proc/net/dev; env")

        assert "refused" in said.output or "Couldn't connect" in said.output
        assert [line.split(":")[0].strip() for line in said.output.splitlines() if ":" in line and "|" not in line][
            1:2
        ] == ["lo"]
        assert "PROXY" not in said.output


async def test_a_host_on_the_list_is_reached_and_another_is_not(root: Path):
    async with web_server() as port:
        allowed = f'{{"network": "allow_list", "allow": ["localhost:{port}"]}}'
        # The operator lets workspaces reach this machine: the list alone would not.
        async with workspace(root, allowed, provisioner=local(root, private_networks=["127.0.0.0/8"])) as running:
            ask = "curl -sS --noproxy '' --max-time 20"
            plain = await running.run(f"{ask} http://localhost:{port}/plain?a=1")
            tunnel = await running.run(f"{ask} --proxytunnel http://localhost:{port}/tunnel")
            other = await running.run(f"{ask} http://127.0.0.1:{port}/; {ask} http://localhost:{port + 1}/")
            direct = await running.run(f"curl -sS --noproxy '*' --max-time 10 http://localhost:{port}/")

        assert plain.output == f"GET /plain?a=1 for localhost:{port}\n"
        assert tunnel.output == f"GET /tunnel for localhost:{port}\n"
        assert other.output.count("not on the list") == 2
        assert direct.exit_code != 0


async def test_loopback_private_and_metadata_addresses_are_refused_whatever_the_list_has(root: Path):
    async with web_server() as port:
        config = f'{{"allow": ["*", "*:{port}", "localhost:{port}"]}}'
        async with workspace(root, config) as running:
            ask = "curl -sS --noproxy '' --max-time 20"
            for url in (
                METADATA,
                f"http://localhost:{port}/",
                f"http://127.0.0.1:{port}/",
                f"http://[::1]:{port}/",
                f"http://[::ffff:127.0.0.1]:{port}/",
                "http://10.0.0.1/",
                "http://0.0.0.0/",
                "http://2130706433/",
            ):
                said = await running.run(f"{ask} '{url}'; {ask} --proxytunnel '{url}'")
                assert "not at a public address" in said.output, f"{url}: {said.output}"
                assert "GET" not in said.output


async def test_metadata_is_refused_even_where_the_operator_allows_its_network(root: Path):
    provisioner = local(root, private_networks=["169.254.0.0/16"])
    async with workspace(root, '{"allow": ["*"]}', provisioner=provisioner) as running:
        said = await running.run(f"curl -sS --max-time 20 {METADATA}")

        assert "not at a public address" in said.output


async def test_open_is_this_machines_network(root: Path):
    async with web_server() as port, workspace(root, '{"network": "open"}') as running:
        said = await running.run(f"curl -sS --max-time 20 http://127.0.0.1:{port}/direct")

        assert said.output == f"GET /direct for 127.0.0.1:{port}\n"
        assert "this machine's own" in running.log.text


async def test_what_is_not_asked_as_of_a_proxy_is_refused(root: Path):
    async with workspace(root) as running:
        for request in ("GET / HTTP/1.1\\r\\n\\r\\n", "nonsense\\r\\n\\r\\n", "CONNECT host HTTP/1.1\\r\\n\\r\\n"):
            said = await running.run(f"(printf '{request}'; sleep 2) | curl -sS --max-time 5 telnet://127.0.0.1:3128")
            assert "400 Bad Request" in said.output, said.output
