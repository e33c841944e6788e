"""What a browser loads, compressed, for each place: all that is new there, beside what the first load brought."""

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "src" / "chatd" / "server" / "web_app"

# What is asked for when one comes to a place, by its source.
PLACES: Mapping[str, tuple[str, ...]] = {
    "the panel": ("src/panel/Panel.tsx",),
    "a terminal": ("src/panel/Panel.tsx", "src/panel/terminal/TerminalTab.tsx"),
    "settings": ("src/settings/SettingsPage.tsx",),
    "usage": ("src/settings/usage/UsagePage.tsx",),
    "workspaces": ("src/settings/admin/Workspaces.tsx",),
    "signing in": ("src/setup/SignIn.tsx",),
    "setting up": ("src/setup/Setup.tsx",),
    "the palette": ("src/app/Palette.tsx",),
}


async def main() -> None:
    await asyncio.to_thread(subprocess.run, [ROOT / "scripts" / "build-web"], check=True, capture_output=True)
    manifest: dict[str, Any] = msgspec.json.decode((BUILT / ".vite" / "manifest.json").read_bytes())
    first = files_of(manifest, ("index.html",))
    print(f"a chat, first load   {_kilobytes(first)} kB in {len(first)} files")
    for place, sources in PLACES.items():
        more = files_of(manifest, sources) - first
        print(f"{place:20} {_kilobytes(more)} kB more in {len(more)} files")
    everything = {path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.gz")}
    print(f"everything           {_kilobytes({name.removesuffix('.gz') for name in everything})} kB")


def files_of(manifest: Mapping[str, Any], sources: tuple[str, ...]) -> set[str]:
    """Those chunks, what they import at once, and their styles."""
    files: set[str] = set()
    waiting = list(sources)
    while waiting:
        chunk = manifest[waiting.pop()]
        if chunk["file"] not in files:
            files |= {chunk["file"], *chunk.get("css", ())}
            waiting += chunk.get("imports", ())
    return files


def _kilobytes(files: set[str]) -> str:
    """As gzip has it, as do browsers on plain HTTP: `br / gz`."""

    def size(name: str, ending: str) -> int:
        twin = BUILT / f"{name}.{ending}"
        return (twin if twin.exists() else BUILT / name).stat().st_size

    gzip, brotli = (sum(size(name, ending) for name in files) / 1000 for ending in ("gz", "br"))
    return f"{gzip:6.1f} (brotli {brotli:6.1f})"
