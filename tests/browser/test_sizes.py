"""What a browser loads before it can show a chat."""

from pathlib import Path
from typing import Any

import msgspec

_BUILT = Path(__file__).parents[2] / "src" / "chatd" / "server" / "web_app"
MOST = 250_000  # bytes, compressed


def first_load(manifest: dict[str, Any]) -> set[str]:
    """The entry, what it imports at once, and their styles. What is imported later is not in it."""
    files: set[str] = set()
    waiting = ["index.html"]
    while waiting:
        chunk = manifest[waiting.pop()]
        if chunk["file"] in files:
            continue
        files |= {chunk["file"], *chunk.get("css", ())}
        waiting += chunk.get("imports", ())
    return files


def test_the_first_load_of_a_chat_is_small(built: None):
    manifest = msgspec.json.decode((_BUILT / ".vite" / "manifest.json").read_bytes())
    sizes = {name: _compressed(_BUILT / name) for name in first_load(manifest)}
    assert sum(sizes.values()) <= MOST, sizes


def _compressed(path: Path) -> int:
    twin = path.with_name(path.name + ".gz")
    return (twin if twin.exists() else path).stat().st_size
