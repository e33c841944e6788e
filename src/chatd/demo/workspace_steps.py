"""How the demo model comes to a workspace when there is none: as any model would, by reading what tools answer."""

from typing import Any, Final, Literal

import msgspec

_CREATE: Final = "create_workspace"
_START: Final = "start_workspace"
_LIST: Final = "list_templates"


class Step(msgspec.Struct, frozen=True):
    name: str
    arguments: dict[str, str]
    saying: str


def next_step(result: str, tools: frozenset[str]) -> Step | Literal["again"] | None:
    """What to call after this result; `again` when what was wanted can be tried again, None when this is the end."""
    read = _read(result)
    if "templates" in read:
        return _create(read) if _CREATE in tools else None
    error = read.get("error") if read else result  # failures come in words
    if error is None:
        return "again" if {"created", "started"} & read.keys() else None
    if _START in str(error) and _START in tools:
        return Step(_START, {}, "The workspace of this chat sleeps. I'll wake it.")
    if _CREATE in str(error) and _LIST in tools:
        return Step(_LIST, {}, "This chat has no workspace yet. I'll look which there can be.")
    return None


def said_by_tool(result: str) -> str:
    """What a person wants to see of a result."""
    read = _read(result)
    said = [str(read[name]) for name in ("output", "content", "error") if read.get(name)]
    return "\n".join(said) if said else result


def _create(read: dict[str, Any]) -> Step | None:
    templates = read["templates"]
    chosen = read.get("recommended_template_id") or (templates[0].get("id") if templates else None)
    if not isinstance(chosen, str):
        return None
    return Step(_CREATE, {"template_id": chosen}, "I'll make a workspace for this chat.")


def _read(result: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(result, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
