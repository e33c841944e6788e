"""What a workspace is called: as asked for, or made of what there is to go by."""

import re
from typing import Final

_SHAPE: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")  # as the tables' checks
MOST_NAME: Final = 32
_BASE: Final = MOST_NAME - len("-ffff")
_OTHER: Final = re.compile(r"[^a-z0-9]+")


def is_name(text: str) -> bool:
    return _SHAPE.fullmatch(text) is not None


def workspace_name(asked: str, template_name: str, suffix: str) -> str:
    """A name that was asked for and is one; else one made of it, or of the template's, with four hex digits."""
    if is_name(asked):
        return asked
    base = sanitised(asked) or sanitised(template_name) or "workspace"
    return f"{base[:_BASE].rstrip('-')}-{suffix}"


def another_name(taken: str, suffix: str) -> str:
    """When a name is taken: the same with four hex digits."""
    return f"{taken[:_BASE].rstrip('-')}-{suffix}"


def sanitised(text: str) -> str:
    """Letters and digits of the name, in lower case, with single dashes for all else."""
    return _OTHER.sub("-", text.lower()).strip("-")[:MOST_NAME].strip("-")
