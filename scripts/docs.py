"""Writes what is made from code: pages, and the web app's types (`--check`: only says whether they are stale)."""

import re
import sys
from pathlib import Path

from routes_table import routes_markdown
from web_types import events_module, schema_module

from chatd.core.transitions import diagram
from chatd.server.settings import settings_markdown

ROOT = Path(__file__).parent.parent
WEB_API = ROOT / "web" / "src" / "api"
STORE_PAGE = ROOT / "src" / "chatd" / "store" / "ARCHITECTURE.md"
API_PAGE = ROOT / "docs" / "api.md"
_DIAGRAM = re.compile(
    r"(<!-- states: by `make gen` from core/transitions.py -->\n).*?(<!-- end of states -->)", re.DOTALL
)
_ROUTES = re.compile(r"(<!-- routes: by `make gen` from server/routes -->\n).*?(<!-- end of routes -->)", re.DOTALL)


def pages() -> dict[Path, str]:
    """Every file that holds something generated, as it should be."""
    drawn = f"```mermaid\n{diagram()}\n```\n"
    return {
        ROOT / "docs" / "settings.md": settings_markdown(),
        STORE_PAGE: _between_marks(STORE_PAGE, _DIAGRAM, drawn),
        API_PAGE: _between_marks(API_PAGE, _ROUTES, routes_markdown()),
        WEB_API / "schema.ts": schema_module(),
        WEB_API / "events.ts": events_module(),
    }


def _between_marks(page: Path, marks: re.Pattern[str], generated: str) -> str:
    text = page.read_text("utf-8")
    if not marks.search(text):
        raise SystemExit(f"{page.relative_to(ROOT)} has lost the marks around what is generated.")
    return marks.sub(lambda found: found[1] + generated + found[2], text)


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
