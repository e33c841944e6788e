"""`chatd doctor` as an operator sees it: with a server, without one, and with settings that are wrong."""

from pathlib import Path

import msgspec

from cli.running import Finished, chatd, processes_of, serving


async def doctor(data_dir: Path, *arguments: str, **environ: str) -> Finished:
    return await chatd("doctor", "--data-dir", str(data_dir), *arguments, cwd=data_dir.parent, **environ)


async def test_a_server_that_runs_is_well_and_one_that_has_stopped_is_said_to_have(data_dir: Path):
    async with serving(data_dir, "--replicas", "2") as server:
        well = await doctor(data_dir, CHATD_PUBLIC_URL=server.url)
        as_json = await doctor(data_dir, "--json", CHATD_PUBLIC_URL=server.url)
    stopped = await doctor(data_dir)

    assert (well.code, well.err) == (0, "")
    lines = well.out.splitlines()
    assert all(line.startswith(("✓", "!", " ")) or not line or line == lines[-1] for line in lines), well.out
    assert sum(line.startswith("✓ relay") for line in lines) == 2, well.out
    assert lines[-1] in ("All is well.", "1 to look at."), well.out
    findings = msgspec.json.decode(as_json.out)
    assert {one["grade"] for one in findings} <= {"good", "doubtful"}
    assert set(findings[0]) == {"check", "grade", "found", "advice"}
    assert stopped.code == 0
    assert "does not run, since no server does" in stopped.out
    assert processes_of(data_dir) == {}


async def test_where_there_is_nothing_nothing_is_made(data_dir: Path):
    found = await doctor(data_dir)

    assert (found.code, found.err) == (0, "")
    assert "! data directory" in found.out
    assert not data_dir.exists()  # noqa: ASYNC240


async def test_what_is_wrong_is_said_with_what_to_do_and_without_secrets(data_dir: Path):
    url = "postgresql://ada:hunter2@127.0.0.1:1/chatd"
    unreachable = await doctor(data_dir, CHATD_DATABASE_URL=url)
    settings = await doctor(data_dir, CHATD_PORT="many", CHATD_REPLICAS="0")
    as_json = await doctor(data_dir, "--json", CHATD_PORT="many")
    plain = await doctor(data_dir, CHATD_DATABASE_URL=url, PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert unreachable.code == 1
    assert "✗ database" in unreachable.out
    assert "→ Check CHATD_DATABASE_URL." in unreachable.out
    assert unreachable.out.splitlines()[-1].startswith("1 wrong")
    assert "hunter2" not in unreachable.out + unreachable.err
    assert (settings.code, settings.out.count("✗ settings")) == (1, 2)
    assert (as_json.code, msgspec.json.decode(as_json.out)[0]["check"]) == (1, "settings")
    assert (plain.code, "x  database" in plain.out, plain.err) == (1, True, "")
