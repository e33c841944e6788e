"""Many processes and much output: the agent's memory stays within bounds."""

import asyncio
import os
from pathlib import Path

import pytest

from agent.commands import finished, start
from agent.running import AgentProcess

MIB = 1024 * 1024


def _resident(pid: int) -> int:
    """The highest memory that the process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


async def _much_output(agent: AgentProcess, *, processes: int, mib_each: int) -> None:
    before = _resident(agent.pid)
    ids = [await start(agent, f"head -c {mib_each * MIB} /dev/zero | tr '\\0' 'x'") for _ in range(processes)]
    for id in ids:
        shown = await finished(agent, id)
        assert shown["truncated"]["original_bytes"] == mib_each * MIB
    lines = await start(agent, f"yes 'a line like many others' | head -c {processes * mib_each * MIB}")
    shown = await finished(agent, lines)

    assert shown["truncated"]["original_bytes"] == processes * mib_each * MIB
    assert len(shown["output"].encode()) <= 32 * 1024
    # 32 KiB and two pipes for each, what the requests took, and slack; far from what was written.
    assert _resident(agent.pid) - before < 32 * MIB


@pytest.mark.behaviour("PROC-5")
async def test_much_output_takes_little_memory(agent: AgentProcess):
    await _much_output(agent, processes=4, mib_each=16)


async def _many(agent: AgentProcess, count: int) -> None:
    """All at once, each with more output than is kept."""
    before = _resident(agent.pid)
    ids = [await start(agent, "seq 1 20000; read line; echo $line") for _ in range(count)]
    health = (await agent.ask("GET", "/health")).json
    assert health["running_processes"] == count
    for id in ids:
        await agent.ask("POST", f"/processes/{id}/stdin", body={"text": f"{id}\n"})
    for id in ids:
        shown = await finished(agent, id)
        assert shown["exit_code"] == 0
        assert shown["output"].endswith(f"20000\n{id}\n")

    # A process has 32 KiB of output, as text and once more as it is written to disk, and some 10 KiB of objects.
    assert _resident(agent.pid) - before < 24 * MIB + count * 128 * 1024
    assert len(os.listdir(f"/proc/{agent.pid}/fd")) < 50  # noqa: PTH208


async def test_many_processes_at_once_all_end_well(agent: AgentProcess):
    await _many(agent, 40)


@pytest.mark.long
async def test_500_processes_at_once_all_end_well(agent: AgentProcess):
    await _many(agent, 500)


@pytest.mark.long
@pytest.mark.behaviour("PROC-5")
async def test_a_gigabyte_of_output_takes_little_memory(agent: AgentProcess):
    async with asyncio.timeout(600):
        await _much_output(agent, processes=8, mib_each=64)
