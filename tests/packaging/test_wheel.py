"""The wheel, installed into an empty environment where there is no Node, serves the web app."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

ROOT = Path(__file__).parents[2]
READY = re.compile(r"is ready: (http\S+)")


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, capture_output=True)


@pytest.mark.long
async def test_the_wheel_serves_the_web_app_without_node(tmp_path: Path):
    uv = Path(sys.executable).with_name("uv")
    run(ROOT / "scripts" / "build-web")
    run(uv, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", tmp_path / "dist")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    place = tmp_path / "venv"
    run(uv, "venv", "--python", sys.executable, place)
    run(
        uv, "pip", "install", "--python", place / "bin" / "python", "--require-hashes", "-r", ROOT / "requirements.lock"
    )
    run(uv, "pip", "install", "--python", place / "bin" / "python", "--no-deps", wheel)
    environ = {"PATH": str(place / "bin"), "HOME": str(tmp_path), "CHATD_LOCAL_WORKSPACES": "off"}
    process = await asyncio.create_subprocess_exec(
        place / "bin" / "chatd",
        *("serve", "--port", "0", "--data-dir", str(tmp_path / "data")),
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        url = await asyncio.wait_for(_url(process), 120)
        async with aiohttp.ClientSession() as http:
            async with http.get(url) as page:
                text = await page.text()
            (script,) = re.findall(r'<script type="module"[^>]* src="(/assets/[^"]+)"', text)
            async with http.get(url + script) as found:
                assert found.status == 200
                assert found.content_type == "text/javascript"
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 60)
    assert not (place / "bin" / "node").exists()


async def _url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    said = b""
    while line := await process.stdout.readline():
        said += line
        if found := READY.search(line.decode()):
            return found[1]
    raise AssertionError(said.decode())
