"""What the configuration of a model may say to Gemini, and what follows from a model's name."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from chatd.core.errors import InvalidRequest


class ThinkingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A budget in tokens (0: none, -1: the model decides) or a level, not both. They win over the reasoning effort."""

    thinking_budget: int | None = None
    thinking_level: str | None = None
    include_thoughts: bool | None = None  # true for a model that reasons


class SafetySetting(msgspec.Struct, frozen=True):
    """In the vendor's words: HARM_CATEGORY_DANGEROUS_CONTENT, BLOCK_ONLY_HIGH."""

    category: str
    threshold: str


class GoogleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`ModelRequest.options`, decoded. Fields of other vendors are ignored."""

    thinking_config: ThinkingOptions | None = None
    safety_settings: tuple[SafetySetting, ...] = ()
    web_search_enabled: bool = False  # adds the search if the request does not have it
    send_reasoning: bool = True  # whether thoughts are replayed
    # `reduced` is what every model and host takes; `json` says more and needs a model of version 2.5 or newer.
    tool_schemas: Literal["reduced", "json"] = "reduced"
    # Wanted by Gemini's own host where functions and its own tools are combined, and refused by Vertex.
    include_server_side_tool_invocations: bool | None = None
    cached_content: str | None = None
    response_modalities: tuple[str, ...] = ()
    media_resolution: str | None = None
    stop_sequences: tuple[str, ...] = ()
    seed: int | None = None
    labels: Mapping[str, str] = {}  # Vertex only
    extra_body: Mapping[str, msgspec.Raw] = {}  # fields of the body as the vendor names them; they win over all others


_OPTIONS: Final = msgspec.json.Decoder(GoogleOptions)


def read_options(text: str) -> GoogleOptions:
    """Raises InvalidRequest, which says what is wrong."""
    try:
        options = _OPTIONS.decode(text or "{}")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidRequest("The model's options for Google can't be read.", detail=str(error)) from error
    thinking = options.thinking_config
    if thinking and thinking.thinking_budget is not None and thinking.thinking_level is not None:
        raise InvalidRequest("A model thinks by a budget or by a level, not by both.")
    return options


_VERSION: Final = re.compile(r"gemini-(\d{1,2})(?:\.(\d{1,2}))?(?!\d)")
_NEWEST: Final = (99, 0)  # of a name without a version, such as gemini-flash-latest
_OLDEST: Final = (0, 0)  # of a name that is no Gemini's: Gemma and others on the same host


def model_version(model: str) -> tuple[int, int]:
    """(2, 5) of `gemini-2.5-pro`."""
    if found := _VERSION.search(model):
        return int(found[1]), int(found[2] or 0)
    return _NEWEST if "gemini" in model else _OLDEST


def is_since_3(model: str) -> bool:
    """These think by levels, want every step's calls signed, and take media in the results of functions."""
    return model_version(model) >= (3, 0)
