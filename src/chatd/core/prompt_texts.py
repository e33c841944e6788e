"""Parts that a model reads as text: references to code, files of context, skills."""

import re
from typing import Final

from chatd.core.parts import ContextFilePart, FileReferencePart, Part, SkillPart, TextPart

_FENCES: Final = re.compile("`+")
_SHORTEST_FENCE: Final = 3  # of Markdown


def as_text(part: Part) -> str:
    """Empty for a part that is no text, and for one that has nothing to say."""
    match part:
        case TextPart():
            return part.text
        case FileReferencePart():
            lines = f"{part.start_line}-{part.end_line}"
            return f"[file-reference] {part.file_name}:{lines}\n{_fenced(part.content)}"
        case ContextFilePart():
            if not part.context_file_content.strip():
                return ""
            cut = " (cut short)" if part.context_file_truncated else ""
            return f"[context-file] {part.context_file_path}{cut}\n{_fenced(part.context_file_content)}"
        case SkillPart():
            about = f": {part.skill_description}" if part.skill_description.strip() else ""
            return f"[skill] {part.skill_name}{about}" if part.skill_name.strip() else ""
        case _:
            return ""


def _fenced(content: str) -> str:
    """In a fence that is longer than any within."""
    longest = max((len(found) for found in _FENCES.findall(content)), default=0)
    fence = "`" * max(_SHORTEST_FENCE, longest + 1)
    return f"{fence}\n{content}\n{fence}"
