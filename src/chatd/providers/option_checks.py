"""Whether the options of a provider or of a model can be used: asked of the typed structs that will read them."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.model import ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.hosts import ProviderAccess, host_of
from chatd.providers.hosts.bedrock import BedrockOptions
from chatd.providers.hosts.openai import AzureHostOptions, CompatibleHostOptions, OpenAIHostOptions
from chatd.providers.hosts.vertex import VertexOptions
from chatd.providers.protocols.anthropic.options import AnthropicOptions
from chatd.providers.protocols.google.options import GoogleOptions
from chatd.providers.protocols.openai.chat_request import OpenAIChatOptions
from chatd.providers.protocols.openai.responses_request import OpenAIOptions

_NO_KEY_YET: Final = Secret("unset")  # a provider may be set up before its key is at hand
_PLACE: Final = re.compile(r"[a-z0-9-]{1,64}")  # of regions and locations, which become a part of an address
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,128}")
_SECRET_HEADER: Final = re.compile(r"(?i)authorization|cookie|token|secret|password|(?:^|-)key$")
_NOT_HERE: Final = "secrets are not kept in options"
_PATH: Final = re.compile(r"^(?P<what>.*?)(?: - at `\$?\.?(?P<path>[^`]*)`)?$", re.DOTALL)


class _NoOptions(msgspec.Struct, frozen=True):
    pass


_OF_PROVIDER: Final[Mapping[ProviderKind, type[msgspec.Struct]]] = {
    ProviderKind.ANTHROPIC: _NoOptions,
    ProviderKind.OPENAI: OpenAIHostOptions,
    ProviderKind.AZURE: AzureHostOptions,
    ProviderKind.BEDROCK: BedrockOptions,
    ProviderKind.GOOGLE: _NoOptions,
    ProviderKind.VERTEX: VertexOptions,
    ProviderKind.OPENAI_COMPAT: CompatibleHostOptions,
    ProviderKind.OPENROUTER: CompatibleHostOptions,
    ProviderKind.VERCEL: CompatibleHostOptions,
}
_OF_MODEL: Final[Mapping[ProtocolName, type[msgspec.Struct]]] = {
    ProtocolName.ANTHROPIC_MESSAGES: AnthropicOptions,
    ProtocolName.OPENAI_RESPONSES: OpenAIOptions,
    ProtocolName.OPENAI_CHAT: OpenAIChatOptions,
    ProtocolName.GOOGLE_GEMINI: GoogleOptions,
}
_KEYS: Final[Mapping[ProviderKind, str]] = {
    ProviderKind.OPENAI_COMPAT: "openaicompat",
    ProviderKind.OPENROUTER: "openrouter",
    ProviderKind.VERCEL: "vercel",
}


def provider_option_problems(access: ProviderAccess) -> list[Validation]:
    """What is wrong with `options`, and whether a base URL is missing. Secrets are refused: options are shown."""
    options = cast("dict[str, Any]", msgspec.json.decode(access.options))
    problems = _wrong_fields(options, _OF_PROVIDER[access.kind], "options")
    if problems:
        return problems
    problems = [*_unsafe_texts(options, "options"), *_misplaced(options)]
    if not problems:
        try:
            host_of(with_some_key(access))
        except InvalidRequest as error:
            problems += error.validations or (Validation("options", error.message),)
    return problems


def option_key(access: ProviderAccess, model: str) -> str:
    """Under which name of `provider_options` the options of this model stand. Raises as host_of does."""
    return _KEYS.get(access.kind) or _family(_protocol_name(access, model))


def model_option_problems(
    access: ProviderAccess, model: str, given: Mapping[str, Mapping[str, Any]], *, field: str
) -> list[Validation]:
    """What is wrong with the `provider_options` of a model, each under its own name."""
    key = option_key(access, model)
    problems = [
        Validation(f"{field}.{other}", f"this provider's models take options under `{key}`")
        for other in given
        if other != key
    ]
    options = dict(given.get(key, {}))
    problems += _wrong_fields(options, _OF_MODEL[_protocol_name(access, model)], f"{field}.{key}")
    if not problems and options:
        try:
            _write_request(access, model, options)
        except InvalidRequest as error:
            problems.append(Validation(f"{field}.{key}", error.message))
    return problems


def with_some_key(access: ProviderAccess) -> ProviderAccess:
    return access if access.api_key is not None else msgspec.structs.replace(access, api_key=_NO_KEY_YET)


def _protocol_name(access: ProviderAccess, model: str) -> ProtocolName:
    return host_of(with_some_key(access)).protocol(model).name


def _family(protocol: ProtocolName) -> str:
    match protocol:
        case ProtocolName.ANTHROPIC_MESSAGES:
            return "anthropic"
        case ProtocolName.GOOGLE_GEMINI:
            return "google"
        case ProtocolName.OPENAI_RESPONSES | ProtocolName.OPENAI_CHAT:
            return "openai"


def _write_request(access: ProviderAccess, model: str, options: Mapping[str, Any]) -> None:
    """Rules between fields are the protocol's own: it is let write a request."""
    message = PromptMessage(Role.USER, (TextPart(text="hello"),))
    text = msgspec.json.encode(options).decode()
    host_of(with_some_key(access)).protocol(model).body(
        ModelRequest(model=model, messages=(message,), max_output_tokens=1, options=text)
    )


def _wrong_fields(options: Mapping[str, Any], kind: type[msgspec.Struct], field: str) -> list[Validation]:
    known = {one.encode_name for one in msgspec.structs.fields(kind)}
    listed = ", ".join(sorted(known)) or "none"
    unknown = [Validation(f"{field}.{name}", f"unknown; known are: {listed}") for name in options if name not in known]
    if unknown:
        return unknown
    try:
        # By way of JSON, as it will be read.
        msgspec.json.decode(msgspec.json.encode(options), type=kind)
    except (msgspec.ValidationError, RecursionError) as error:
        found = _PATH.match(str(error))
        path, what = (found["path"], found["what"]) if found else (None, str(error))
        return [Validation(f"{field}.{path}" if path else field, what)]
    return []


def _unsafe_texts(options: object, field: str) -> list[Validation]:
    """Texts become parts of headers and addresses."""
    match options:
        case str():
            safe = options.isascii() and options.isprintable()
            return [] if safe else [Validation(field, "printable ASCII characters")]
        case dict():
            items = cast("dict[str, object]", options).items()
            return [problem for name, value in items for problem in _unsafe_texts(value, f"{field}.{name}")]
        case _:
            return []


def _misplaced(options: Mapping[str, Any]) -> list[Validation]:
    problems = [
        Validation(f"options.{name}", "lower-case letters, digits and dashes, like us-east-1")
        for name in ("region", "location")
        if options.get(name) and not _PLACE.fullmatch(options[name])
    ]
    if options.get("session_token"):
        problems.append(Validation("options.session_token", f"{_NOT_HERE}; run chatd with a profile or role instead"))
    for name in options.get("headers", {}):
        if not _HEADER.fullmatch(name):
            problems.append(Validation("options.headers", "names of letters, digits and dashes"))
        elif _SECRET_HEADER.search(name):
            problems.append(Validation(f"options.headers.{name}", f"{_NOT_HERE}; keys belong into api_key"))
    return problems
