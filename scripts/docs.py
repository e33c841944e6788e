"""Writes the pages that are made from code (`--check`: only says whether they are stale)."""

import sys
from pathlib import Path

from chatd.server.settings import settings_markdown

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"


def main() -> int:
    text = settings_markdown()
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    if "--check" in sys.argv:
        print("docs/settings.md is stale: run `make gen`.", file=sys.stderr)
        return 1
    PAGE.write_text(text, "utf-8")
    print("wrote docs/settings.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
