"""The published API document says what the server really takes, and who may ask."""

from pathlib import Path
from typing import Any

import pytest

from architecture.test_docs import event_types
from chatd.core import people
from chatd.core.access import SCOPES
from server.running import running_server

METHODS = ("get", "put", "post", "patch", "delete")
FOR_ANYONE = {
    ("get", "/api/v2/buildinfo"),
    ("get", "/api/v2/users/first"),
    ("post", "/api/v2/users/first"),
    ("post", "/api/v2/users/login"),
    ("get", "/api/experimental/chats/files/{file}/download"),
}


@pytest.fixture
async def document(database: Any, tmp_path: Path) -> dict[str, Any]:
    async with running_server(database.dsn, tmp_path, first_user=False) as running:
        first, again = [await running.api.get("/api/openapi.json") for _ in range(2)]
    assert first.body == again.body
    return first.body


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method, path): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


async def test_the_rules_of_fields_are_published(document: dict[str, Any]):
    schemas = document["components"]["schemas"]
    user = schemas["CreateUser"]["properties"]
    assert (user["email"]["format"], user["email"]["maxLength"]) == ("email", people.EMAIL_LONGEST)
    assert user["username"]["pattern"] == people.NAME_PATTERN
    assert user["display_name"]["maxLength"] == people.DISPLAY_NAME_LONGEST
    assert user["password"] == {
        "type": "string",
        "format": "password",
        "minLength": people.PASSWORD_SHORTEST,
        "maxLength": people.PASSWORD_LONGEST,
    }
    token = schemas["CreateToken"]["properties"]
    assert (token["name"]["minLength"], token["name"]["maxLength"]) == (1, people.TOKEN_NAME_LONGEST)
    assert token["scopes"]["items"]["enum"] == sorted(SCOPES)
    assert schemas["UpdateUser"]["properties"]["username"]["pattern"] == people.NAME_PATTERN
    assert "x-rules" not in str(document)


async def test_every_body_is_closed_to_other_fields(document: dict[str, Any]):
    bodies = [operation["requestBody"] for operation in operations(document).values() if "requestBody" in operation]
    assert bodies
    for body in bodies:
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert document["components"]["schemas"][name]["additionalProperties"] is False, name


async def test_a_body_that_may_be_left_out_is_not_required(document: dict[str, Any]):
    providers = "/api/experimental/chats/providers"
    needed = [document["paths"][path]["post"]["requestBody"]["required"] for path in (providers, f"{providers}/test")]
    optional = document["paths"][f"{providers}/{{provider}}/test"]["post"]["requestBody"]["required"]

    assert needed == [True, True]
    assert optional is False


async def test_every_reference_leads_somewhere(document: dict[str, Any]):
    def references(node: Any) -> list[str]:
        if isinstance(node, list):
            return [found for item in node for found in references(item)]
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [found for item in node.values() for found in references(item)]
        return []

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known


async def test_only_what_anyone_may_call_is_without_security(document: dict[str, Any]):
    assert document["security"] == [{"bearer": []}]
    found = {key for key, operation in operations(document).items() if operation.get("security") == [{}]}
    assert found == FOR_ANYONE
    assert all(operation.get("security") in (None, [{}]) for operation in operations(document).values())


async def test_every_operation_is_described(document: dict[str, Any]):
    assert [key for key, operation in operations(document).items() if not operation.get("description")] == []


async def test_streams_are_described_with_both_transports(document: dict[str, Any]):
    stream = document["paths"]["/api/experimental/chats/{chat}/stream"]["get"]
    watch = document["paths"]["/api/experimental/chats/watch"]["get"]

    for operation in (stream, watch):
        assert "WebSocket" in operation["responses"]["101"]["description"]
        assert list(operation["responses"]["200"]["content"]) == ["text/event-stream"]
    assert {(one["in"], one["name"]) for one in stream["parameters"]} == {
        ("path", "chat"),
        ("query", "after"),
        ("query", "after_id"),
        ("header", "Last-Event-ID"),
    }
    assert set(document["components"]["schemas"]["StreamEvent"]["properties"]["type"]["examples"]) == event_types()


async def test_every_operation_can_be_one_too_many(document: dict[str, Any]):
    assert [key for key, operation in operations(document).items() if "429" not in operation["responses"]] == []
