"""What Gemini's API refuses in a history: order, counts of calls and responses, signatures that it did not give."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import a_name, a_text, an_object, objects, require, some_base64

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (),
    "inlineData": ("mimeType", "data", "displayName"),
    "fileData": ("mimeType", "fileUri", "displayName"),
    "functionCall": ("name", "args", "id"),
    "functionResponse": ("name", "response", "id", "parts"),
    "executableCode": ("language", "code", "id"),
    "codeExecutionResult": ("outcome", "output", "id"),
    "toolCall": ("toolType", "args", "id"),
    "toolResponse": ("toolType", "response", "id"),
}
_BESIDE: Final = frozenset(("thought", "thoughtSignature", "videoMetadata", "partMetadata"))
_USERS: Final = frozenset(("text", "inlineData", "fileData", "functionResponse"))
_NAME: Final = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$")
_MEDIA: Final = frozenset(
    ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "text/plain", "audio/wav",
     "audio/mp3", "audio/mpeg", "video/mp4")
)  # fmt: skip
_SKIP: Final = "skip_thought_signature_validator"  # documented, for calls that another model made


def check_contents(contents: Sequence[Json], issued: Issued, *, since_3: bool) -> None:
    require(contents, "* GenerateContentRequest.contents: contents is not specified")
    turns: list[tuple[str, list[Json]]] = []
    for number, content in enumerate(contents):
        at = f"contents[{number}]"
        role = content.get("role", "user")
        require(role in ("user", "model"), "Please use a valid role: user, model.")
        parts = objects(content.get("parts", []), f"{at}.parts")
        require(parts, f"* GenerateContentRequest.{at}.parts: must not be empty")
        alternates = not turns or turns[-1][0] != role
        require(alternates, "Please ensure that multiturn requests alternate between user and model.")
        turns.append((role, [_part(part, role, f"{at}.parts[{place}]", issued) for place, part in enumerate(parts)]))
    require(turns[0][0] == "user", "Please ensure that multiturn requests begin with a user turn.")
    require(turns[-1][0] == "user", "Please ensure that single turn requests end with a user role.")
    _paired(turns)
    if since_3:
        _signed(turns)


def _part(given: Json, role: str, at: str, issued: Issued) -> Json:
    """The part with names in camel case."""
    part: Json = {_camel(name): value for name, value in given.items()}
    kinds = [name for name in part if name in _KINDS]
    others = [name for name in part if name not in _KINDS and name not in _BESIDE]
    require(not others, f"Invalid JSON payload received. Unknown name \"{''.join(others)}\" at '{at}'.")
    require(len(kinds) == 1, f"{at}.data: required oneof field 'data' must have one initialized field")
    kind = kinds[0]
    require(role == "model" or kind in _USERS, f"{at}: {kind} is not allowed in a turn of the user")
    require(role != "model" or kind not in ("functionResponse", "fileData"), f"{at}: {kind} is not the model's")
    if kind == "text":
        text = a_text(part["text"], at)
        require(text.strip() or "thoughtSignature" in part, f"{at}: it must have a text parameter that is not empty")
    else:
        value = an_object(part[kind], at)
        for name in value:
            require(name in _KINDS[kind], f"Unknown name \"{name}\" at '{at}.{kind}': Cannot find field.")
        _value(kind, value, at)
    signature = part.get("thoughtSignature")
    if signature is not None and signature != _SKIP:
        genuine = issued.signed.get(a_text(signature, at)) == (kind, part[kind])
        require(genuine, f"Thought signature is not valid. ({at})")
    return part


def _value(kind: str, value: Mapping[str, Any], at: str) -> None:
    match kind:
        case "inlineData":
            media = value.get("mimeType")
            require(media in _MEDIA, f"Unsupported MIME type: {media} ({at})")
            some_base64(value.get("data"), f"{at}.inline_data.data")
        case "functionCall":
            a_name(value.get("name"), _NAME, f"{at}.function_call.name")
            an_object(value.get("args", {}), f"{at}.function_call.args")
        case "functionResponse":
            a_name(value.get("name"), _NAME, f"{at}.function_response.name")
            an_object(value.get("response"), f"{at}.function_response.response")
            for inner in objects(value.get("parts", []), f"{at}.function_response.parts"):
                _value("inlineData", an_object(inner.get("inlineData"), at), at)
        case _:
            pass


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _paired(turns: Sequence[tuple[str, Sequence[Json]]]) -> None:
    """Each turn with calls is followed by one with as many responses, of the same names."""
    called: list[Json] = []
    for role, parts in turns:
        answered = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if role == "user":
            require(
                len(answered) == len(called),
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn.",
            )
            same = sorted(call["name"] for call in called) == sorted(answer["name"] for answer in answered)
            require(same, "Please ensure that function responses have the names of the function calls.")
            ids = [call["id"] for call in called if "id" in call], [one["id"] for one in answered if "id" in one]
            require(
                sorted(ids[0]) == sorted(ids[1]), "Please ensure that function responses have the ids of the calls."
            )
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        for first, second in (("toolCall", "toolResponse"), ("executableCode", "codeExecutionResult")):
            ran = [part[first].get("id") for part in parts if first in part]
            came = [part[second].get("id") for part in parts if second in part]
            require(ran == came, f"Please ensure that every {first} has its {second}.")
    require(not called, "Please ensure that the number of function response parts is equal to the function calls.")


def _signed(turns: Sequence[tuple[str, Sequence[Json]]]) -> None:
    """The first call of each step since the user last spoke carries the signature that it came with."""
    current: list[Sequence[Json]] = []
    for role, parts in reversed(turns):
        if role == "user" and any("functionResponse" not in part for part in parts):
            break
        if role == "model":
            current.append(parts)
    for parts in current:
        first = next((part for part in parts if "functionCall" in part), None)
        if first is not None:
            name = first["functionCall"]["name"]
            said = f"Function call `{name}` is missing a `thought_signature` in functionCall parts."
            require(first.get("thoughtSignature"), said)
