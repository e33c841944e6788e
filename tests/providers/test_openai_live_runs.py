"""The live tests of OpenAI run with a key and only with one, and still know how to talk to a server as strict as it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

import chatd
from chatd.testing.vendors.script import Call, Say, Think, Turn
from chatd.testing.vendors.server import VendorServer, vendor_server
from cli.running import chatd as run_chatd

LIVE = Path(__file__).with_name("test_openai_live.py")
WAIT_SECONDS = 60.0  # of real time, for the start of an interpreter on a busy machine
ROUND = (
    Turn(Think("I need ", "its speed."), Call("train_speed", '{"train":', "7}")),
    Turn(Think("300 / 200."), Say("It takes ", "90 minutes.")),
    Turn(Think("400 / 200."), Say("120 minutes.")),
)


async def run_live(folder: Path, **environ: str) -> tuple[int, str]:
    """Exit code and words of a run of the live tests alone, with nothing of this run's environment and settings."""
    names = ("PATH", "HOME", "LANG", "TMPDIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    source = str(Path(chatd.__file__).parent.parent)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", "-rs", "--noconftest", "-c", os.devnull, "--rootdir", str(folder)),
        *("-p", "no:cacheprovider", "-p", "pytest_asyncio.plugin", "-o", "asyncio_mode=auto", str(LIVE)),
        cwd=folder,
        env={**kept, "PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode()


def reasoning_items(server: VendorServer) -> list[int]:
    return [sum(item.get("type") == "reasoning" for item in asked.body["input"]) for asked in server.asked]


@pytest.mark.behaviour("LOOP-16")
@pytest.mark.parametrize("key", [{}, {"OPENAI_API_KEY": ""}], ids=["unset", "empty"])
async def test_without_a_key_nobody_is_asked(key: dict[str, str], tmp_path: Path):
    async with vendor_server(list(ROUND)) as server:
        code, said = await run_live(tmp_path, OPENAI_BASE_URL=f"{server.url}/v1", **key)

    assert (code, "2 skipped" in said, "OPENAI_API_KEY is not set" in said) == (0, True, True), said
    assert server.asked == []


@pytest.mark.behaviour("LOOP-16", "LOOP-10")
async def test_with_a_key_the_round_trip_is_made_and_accepted(tmp_path: Path):
    async with vendor_server([*ROUND, *ROUND], key="sk-of-a-test") as server:
        code, said = await run_live(
            tmp_path,
            OPENAI_API_KEY="sk-of-a-test",
            OPENAI_BASE_URL=f"{server.url}/v1",
            CHATD_LIVE_OPENAI_MODEL="gpt-of-a-test",
        )

    assert (code, "2 passed" in said) == (0, True), said
    assert [refusal.message for refusal in server.refusals] == []
    assert {asked.model for asked in server.asked} == {"gpt-of-a-test"}
    assert [asked.body["store"] for asked in server.asked] == [True] * 3 + [False] * 3
    assert reasoning_items(server) == [0, 0, 0, 0, 1, 2]


@pytest.mark.behaviour("LOOP-16")
async def test_a_vendor_that_refuses_the_round_trip_fails_it(tmp_path: Path):
    """So that a passing live test says something."""
    async with vendor_server([*ROUND, *ROUND], key="another") as server:
        code, said = await run_live(tmp_path, OPENAI_API_KEY="sk-of-a-test", OPENAI_BASE_URL=f"{server.url}/v1")

    assert (code, "2 failed" in said) == (1, True), said
    assert "sk-of-a-test" not in said


async def test_a_key_of_whoever_runs_the_tests_reaches_no_server_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """All but the live tests are the same with and without it."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "https://example.com/a-developers-own")
    shown = await run_chatd("settings", cwd=tmp_path)

    keys = [line.split() for line in shown.out.splitlines() if "_api_key" in line or "openai_base_url" in line]
    assert [line[-1] for line in keys] == ["default"] * 4
