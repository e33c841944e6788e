"""Tools made from types: what vendors are told of them, and what models are told when they get it wrong."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from chatd.core.tool_input import input_problem
from chatd.engine.tools.prose import PROSE, prose_of
from chatd.engine.tools.schema import schema_of
from chatd.engine.tools.tool import AfterCrash, ToolCall, ToolContext, ToolOutput, Traits, answered
from chatd.engine.tools.typed import TypedTool
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.providers.protocols.openai.schemas import acceptable
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.resolving import NoWorkspaces
from engine.deployment import new_id


class Edit(Struct, frozen=True):
    """One replacement."""

    search: Annotated[str, Meta(description="What to find.")]
    replace: str = ""


class Grep(Struct, frozen=True, tag="grep"):
    pattern: str


class Glob(Struct, frozen=True, tag="glob"):
    glob: str


class LookArgs(Struct, frozen=True):
    """For programmers."""

    path: Annotated[str, Meta(description="Where to look.")]
    title: str = "none"
    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=100)] = 10
    since: Annotated[int | None, Meta(description="Only newer ones.")] = None
    deadline: Annotated[int, Meta(ge=1)] | None = None
    kind: Literal["file", "folder"] = "file"
    edits: Annotated[list[Edit], Meta(description="In order.")] = []
    env: dict[str, str] = {}
    how: Grep | Glob | None = None


class NoArgs(Struct, frozen=True):
    pass


class Tree(Struct, frozen=True):
    left: "Tree | None" = None


def context() -> ToolContext:
    clock = FakeClock()
    return ToolContext(
        chat_id=new_id(),
        runner_id=new_id(),
        owner_id=new_id(),
        organization_id=new_id(),
        clock=clock,
        progress=lambda text: None,
        if_cut=lambda output: None,
        workspace=TurnWorkspace(NoWorkspaces(), clock, chat_id=new_id(), ancestors=(), epoch=1),
        budget=64 * 1024,
    )


async def echo(args: LookArgs, context: ToolContext) -> ToolOutput:
    return answered({"args": msgspec.to_builtins(args), "key": context.key})


LOOK = TypedTool("look", LookArgs, echo, prose="Looks around.")


async def run(args: str) -> ToolOutput:
    return await LOOK.run(ToolCall("key", "id", "look", args), context())


def test_the_schema_says_what_the_types_say_without_references():
    assert json.loads(LOOK.spec.input_schema) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where to look."},
            "title": {"type": "string", "default": "none"},
            "limit": {
                "type": "integer",
                "description": "At most so many.",
                "minimum": 1,
                "maximum": 100,
                "default": 10,
            },
            "since": {"type": "integer", "description": "Only newer ones."},
            "deadline": {"type": "integer", "minimum": 1},
            "kind": {"type": "string", "enum": ["file", "folder"], "default": "file"},
            "edits": {
                "type": "array",
                "description": "In order.",
                "default": [],
                "items": {
                    "type": "object",
                    "description": "One replacement.",
                    "properties": {
                        "search": {"type": "string", "description": "What to find."},
                        "replace": {"type": "string", "default": ""},
                    },
                    "required": ["search"],
                },
            },
            "env": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
            "how": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"type": {"type": "string", "enum": ["grep"]}, "pattern": {"type": "string"}},
                        "required": ["type", "pattern"],
                    },
                    {
                        "type": "object",
                        "properties": {"type": {"type": "string", "enum": ["glob"]}, "glob": {"type": "string"}},
                        "required": ["type", "glob"],
                    },
                ]
            },
        },
        "required": ["path"],
    }


def test_a_vendor_gets_the_schema_as_it_is():
    assert bytes(acceptable(LOOK.spec.input_schema).json).decode() == LOOK.spec.input_schema


def test_a_tool_without_arguments_requires_none():
    assert json.loads(schema_of(NoArgs)) == {"type": "object", "properties": {}}


def test_the_same_types_give_the_same_bytes():
    assert schema_of(LookArgs) == schema_of(LookArgs)


def test_types_that_hold_themselves_are_refused_when_the_tool_is_made():
    with pytest.raises(TypeError, match="can't hold themselves: Tree"):
        schema_of(Tree)


async def test_the_function_gets_its_arguments_and_the_key_of_the_call():
    output = await run('{"path": "a", "how": {"type": "glob", "glob": "*"}, "edits": [{"search": "x"}]}')

    told = json.loads(output.result)
    assert told["key"] == "key"
    assert told["args"]["how"] == {"type": "glob", "glob": "*"}
    assert told["args"]["limit"] == 10


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        ('{"path": "a", "limit": "7"}', "limit", 7),
        ('{"path": "a", "limit": 7.0}', "limit", 7),
        ('{"path": "a", "limit": null}', "limit", 10),
        ('{"path": "a", "since": null, "edits": null, "kind": null}', "edits", []),
        ('{"path": "a", "undeclared": [1]}', "path", "a"),
    ],
)
async def test_what_a_model_plainly_means_is_taken(args: str, field: str, value: Any):
    output = await run(args)

    assert not output.is_error, output.result
    assert json.loads(output.result)["args"][field] == value


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("{}", "The argument 'path' is missing. Call the tool again with it."),
        ('{"path": null}', "The argument 'path' is wrong: Expected `str`, got `null`. Call the tool again."),
        ('{"path": 1}', "The argument 'path' is wrong: Expected `str`, got `int`. Call the tool again."),
        ('{"path": "a", "limit": 0}', "The argument 'limit' is wrong: Expected `int` >= 1. Call the tool again."),
        ('{"path": "a", "kind": "x"}', "The argument 'kind' is wrong: Invalid enum value 'x'. Call the tool again."),
        ('{"path": "a", "edits": [{}]}', "The argument 'edits[0].search' is missing. Call the tool again with it."),
        ('{"path": "a", "how": {"type": "q"}}', "The argument 'how.type' is wrong: Invalid value 'q'."),
        ('{"limit": null, "path": 1}', "The argument 'path' is wrong: Expected `str`, got `int`. Call the tool again."),
        ("[]", "The arguments are wrong: Expected `object`, got `array`. Call the tool again."),
        ("nonsense", "The arguments are wrong: JSON is malformed"),
    ],
)  # fmt: skip
async def test_wrong_arguments_are_an_error_that_names_the_field(args: str, sentence: str):
    output = await run(args)

    assert output.is_error
    assert json.loads(output.result)["error"].startswith(sentence)


@pytest.mark.parametrize(
    "args", ['{"path": "a", "env": {"PATH": "1", "path": "2"}}', '{"path": "a", "edits": [{"search": "b"}]}']
)
def test_the_check_of_input_reads_schemas_of_types(args: str):
    assert input_problem(args, LOOK.spec.input_schema, is_strict=True) is None
    assert input_problem(args.replace('"path": "a"', '"Path": "a"'), LOOK.spec.input_schema, is_strict=True)


async def test_a_keyed_tool_settles_what_was_cut_off():
    async def settled(args: LookArgs, context: ToolContext) -> ToolOutput:
        return answered({"settled": context.key})

    tool = TypedTool(
        "look", LookArgs, echo, traits=Traits(after_crash=AfterCrash.KEYED), settle=settled, prose="Looks."
    )
    call = ToolCall("key", "id", "look", '{"path": "a"}')

    assert (await tool.settle(call, context())).result == '{"settled":"key"}'
    assert (await tool.settle(ToolCall("key", "id", "look", "{}"), context())).is_error


def test_a_keyed_tool_that_can_not_settle_is_refused_when_it_is_made():
    with pytest.raises(TypeError, match="settled"):
        TypedTool("look", LookArgs, echo, traits=Traits(after_crash=AfterCrash.KEYED), prose="Looks.")
    with pytest.raises(TypeError, match="settled"):
        TypedTool("look", LookArgs, echo, settle=echo, prose="Looks.")


def test_the_description_of_a_tool_is_a_file_of_its_own(tmp_path: Path):
    (tmp_path / "look.md").write_text("\nLooks around.\n", "utf-8")
    (tmp_path / "empty.md").write_text("\n", "utf-8")

    assert prose_of("look", tmp_path) == "Looks around."
    assert (PROSE / "README.md").is_file()
    for name in ("empty", "absent"):
        with pytest.raises(ValueError, match=f"write {name}.md"):
            prose_of(name, tmp_path)
    with pytest.raises(ValueError, match="no prose"):
        TypedTool("absent", NoArgs, lambda args, context: echo(LookArgs("a"), context))
