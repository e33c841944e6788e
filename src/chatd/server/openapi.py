"""The published API document: what Litestar derives from the routes, and what it does not read from them.

That is the rules of request fields (`wire` states them, `core` checks them), which routes anyone may call, and streams.
"""

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.routes import BaseRoute, HTTPRoute
from litestar.serialization import encode_json

from chatd.server.openapi_links import add_links
from chatd.server.streams_document import add_streams
from chatd.wire.users import RULES

_REF = "#/components/schemas/"
_FOR_ANYONE: list[dict[str, list[str]]] = [{}]
# By the limits on requests, which stand in front of every route.
_THROTTLED = {
    "description": "Too many requests, or too many of a kind that costs more.",
    "content": {"application/json": {"schema": {"$ref": f"{_REF}Problem"}}},
    "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}


class PublishedDocument(JsonRenderPlugin):
    """Completes the document at the first request, and keeps it."""

    def __init__(self, *, path: str) -> None:
        super().__init__(path=path)
        self._rendered: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        if self._rendered is None:
            complete(openapi_schema, request.app.routes)
            self._rendered = encode_json(openapi_schema)
        return self._rendered


def complete(document: dict[str, Any], routes: Iterable[BaseRoute]) -> None:
    """Add to the document what the routes' own types and parameters say beyond it, the streams and links."""
    for route in routes:
        if not isinstance(route, HTTPRoute):
            continue
        operations = document["paths"].get(route.path_format, {})
        for method, (handler, _) in route.route_handler_map.items():
            operation = operations.get(method.lower())
            if operation is not None:
                _complete_operation(operation, handler, document["components"]["schemas"])
    add_streams(document)
    add_links(document)
    for item in document["paths"].values():
        for operation in item.values():
            operation["responses"].setdefault("429", _THROTTLED)


def _complete_operation(operation: dict[str, Any], handler: HTTPRouteHandler, schemas: dict[str, Any]) -> None:
    # Only who is signed in can be given an `ask`.
    if "ask" not in handler.parsed_fn_signature.parameters:
        operation["security"] = _FOR_ANYONE
    if handler.parsed_data_field is not None:
        body = handler.parsed_data_field.annotation
        operation["requestBody"]["required"] = not handler.parsed_data_field.has_default
        name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].removeprefix(_REF)
        _, parts = msgspec.json.schema_components((body,), ref_template=_REF + "{name}")
        schemas[name] = _with_rules(parts.pop(body.__name__))
        for other, schema in parts.items():
            schemas.setdefault(other, _with_rules(schema))


def _with_rules(schema: Any) -> Any:
    """The schema with each field's documented rules in place of the looser ones that are checked first."""
    if isinstance(schema, list):
        return [_with_rules(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = {key: _with_rules(value) for key, value in cast("dict[str, Any]", schema).items()}
    return found | found.pop(RULES, {})
