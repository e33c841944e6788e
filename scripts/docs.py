"""Writes the pages that are made from code (`--check`: only says whether they are stale)."""

import re
import sys
from pathlib import Path

from chatd.core.transitions import diagram
from chatd.server.settings import settings_markdown

ROOT = Path(__file__).parent.parent
STORE_PAGE = ROOT / "src" / "chatd" / "store" / "ARCHITECTURE.md"
_DIAGRAM = re.compile(
    r"(<!-- states: by `make gen` from core/transitions.py -->\n).*?(<!-- end of states -->)", re.DOTALL
)


def pages() -> dict[Path, str]:
    """Every page that holds something generated, as it should be."""
    drawn = f"```mermaid\n{diagram()}\n```\n"
    store = STORE_PAGE.read_text("utf-8")
    if not _DIAGRAM.search(store):
        raise SystemExit(f"{STORE_PAGE.relative_to(ROOT)} has lost the marks around its state diagram.")
    return {
        ROOT / "docs" / "settings.md": settings_markdown(),
        STORE_PAGE: _DIAGRAM.sub(lambda found: found[1] + drawn + found[2], store),
    }


def main() -> int:
    stale = {path: text for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in stale.items():
        name = path.relative_to(ROOT)
        if "--check" in sys.argv:
            print(f"{name} is stale: run `make gen`.", file=sys.stderr)
        else:
            path.write_text(text, "utf-8")
            print(f"wrote {name}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
