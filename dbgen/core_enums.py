"""Enum types whose Python class is written in core, because code without a database uses it too."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dbgen.naming import camel
from dbgen.problems import Problem


@dataclass(frozen=True, slots=True)
class CoreEnum:
    module: str
    class_name: str


CORE_ENUMS: Final = {
    "message_role": CoreEnum("chatd.core.roles", "Role"),
    "message_visibility": CoreEnum("chatd.core.roles", "Visibility"),
    "chat_status": CoreEnum("chatd.core.states", "Status"),
    "reasoning_effort": CoreEnum("chatd.core.reasoning", "ReasoningEffort"),
    "spend_period": CoreEnum("chatd.core.spend", "Period"),
    "side_kind": CoreEnum("chatd.core.side_kind", "SideKind"),
    "provisioner_kind": CoreEnum("chatd.core.workspaces.kinds", "ProvisionerKind"),
    "build_transition": CoreEnum("chatd.core.workspaces.kinds", "BuildTransition"),
    "build_status": CoreEnum("chatd.core.workspaces.kinds", "BuildStatus"),
    "build_reason": CoreEnum("chatd.core.workspaces.kinds", "BuildReason"),
}


def enum_class_name(enum: str) -> str:
    """The name of an enum type's class, in core or generated."""
    found = CORE_ENUMS.get(enum)
    return found.class_name if found else camel(enum)


def differences(enums: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Enum types whose labels are not, in order, the values of their class in core."""
    problems: list[Problem] = []
    for name, core in CORE_ENUMS.items():
        if name not in enums:
            continue
        values = _values(core)
        if list(enums[name]) != values:
            message = (
                f"enum type {name} has the labels {', '.join(enums[name])}, but {core.module}.{core.class_name} "
                f"has {', '.join(values)}; make them the same, in the same order"
            )
            problems.append(Problem("migrations", message=message))
    return problems


def _values(core: CoreEnum) -> list[str]:
    members: type[StrEnum] = getattr(importlib.import_module(core.module), core.class_name)
    return [member.value for member in members]
