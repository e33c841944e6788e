"""How a scripted vendor refuses a request, and the checks that all vendors share.

`at` names the place in the body as the vendor would ("messages.1.content.0").
"""

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any, Final, cast

IMAGE_TYPES: Final = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
Json = dict[str, Any]


class Refusal(Exception):
    """The vendor says no, with this status and in these words."""

    def __init__(self, message: str, *, at: str = "", status: int = 400, type: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.status = status
        self.type = type


def require(met: object, message: str, *, at: str = "") -> None:
    if not met:
        raise Refusal(message, at=at)


def an_object(value: object, at: str) -> Json:
    require(isinstance(value, dict), f"{at}: Input should be an object", at=at)
    return cast("Json", value)


def a_list(value: object, at: str) -> list[Any]:
    require(isinstance(value, list), f"{at}: Input should be a list", at=at)
    return cast("list[Any]", value)


def objects(value: object, at: str) -> list[Json]:
    return [an_object(entry, f"{at}.{number}") for number, entry in enumerate(a_list(value, at))]


def a_text(value: object, at: str) -> str:
    require(isinstance(value, str), f"{at}: Input should be a string", at=at)
    return cast("str", value)


def no_others(fields: Mapping[str, object], allowed: Collection[str], at: str) -> None:
    for name in fields:
        place = f"{at}.{name}" if at else name
        require(name in allowed, f"{place}: Extra inputs are not permitted", at=place)


def a_name(value: object, pattern: re.Pattern[str], at: str) -> str:
    name = a_text(value, at)
    require(pattern.fullmatch(name), f"{at}: String should match pattern '{pattern.pattern}', got {name!r}", at=at)
    return name


def some_base64(value: object, at: str) -> bytes:
    text = a_text(value, at)
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    require(decoded, f"{at}: this is not valid base64, or it is empty", at=at)
    return decoded


def an_image_url(value: object, at: str) -> None:
    """A data URL of a supported type, or one that the vendor would fetch."""
    url = a_text(value, at)
    if url.startswith("data:"):
        kind, comma, data = url.removeprefix("data:").partition(",")
        require(comma and kind.endswith(";base64"), f"{at}: this is not a base64 data URL", at=at)
        kind = kind.removesuffix(";base64")
        require(kind in IMAGE_TYPES, f"{at}: You uploaded an unsupported image: {kind}", at=at)
        some_base64(data, at)
    else:
        require(url.startswith(("https://", "http://")), f"{at}: this is not a valid URL", at=at)


def a_strict_schema(schema: Json, at: str) -> None:
    """What OpenAI wants of a schema that it enforces: closed objects with every property required, and types."""
    said = f"Invalid schema for function: {at}:"
    require("$ref" not in schema or len(schema) == 1, f"{said} $ref cannot have keywords", at=at)
    require({"type", "anyOf", "$ref"} & schema.keys(), f"{said} schema must have a 'type' key", at=at)
    if schema.get("type") == "object" or "properties" in schema:
        properties = an_object(schema.get("properties", {}), f"{at}.properties")
        require(
            schema.get("additionalProperties") is False,
            f"{said} 'additionalProperties' is required to be supplied and to be false.",
            at=at,
        )
        missing = sorted(set(properties) - set(a_list(schema.get("required", []), f"{at}.required")))
        require(
            not missing,
            f"{said} 'required' must include every key in properties. Missing {missing}.",
            at=at,
        )
        for name, value in properties.items():
            a_strict_schema(an_object(value, f"{at}.{name}"), f"{at}.{name}")
    if isinstance(schema.get("items"), dict):
        a_strict_schema(an_object(schema["items"], at), f"{at}.items")
    for name in ("oneOf", "allOf", "not", "patternProperties"):
        require(name not in schema, f"{said} '{name}' is not permitted.", at=at)
    for number, option in enumerate(objects(schema.get("anyOf", []), f"{at}.anyOf")):
        a_strict_schema(option, f"{at}.anyOf.{number}")
    for name, definition in an_object(schema.get("$defs", {}), at).items():
        a_strict_schema(an_object(definition, at), f"{at}.$defs.{name}")
