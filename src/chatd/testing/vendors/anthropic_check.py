"""What Anthropic's Messages API refuses: settings, tools, roles. Blocks are in `anthropic_blocks`."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from chatd.testing.vendors.anthropic_blocks import check_messages, check_text
from chatd.testing.vendors.anthropic_models import BINDING_BETA, check_bound, check_model
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.refusal import a_name, a_text, an_object, no_others, objects, require

_TOP: Final = frozenset(
    ("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "temperature",
     "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier", "cache_control", "container",
     "context_management", "mcp_servers", "inference_geo", "speed", "diagnostics")
)  # fmt: skip
_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_PARAMETER: Final = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")
_TOOL: Final = frozenset(
    ("name", "description", "input_schema", "cache_control", "type", "strict", "defer_loading", "allowed_callers",
     "input_examples", "eager_input_streaming")
)  # fmt: skip
_SERVER_TOOL: Final = re.compile(r"^[a-z_]+_20\d{6}$")
_HOST_VERSION: Final = re.compile(r"^((bedrock|vertex)-)?20\d\d-\d\d-\d\d$")  # with its prefix of old, or without
_OF_HOST: Final[Mapping[str, frozenset[str]]] = {
    "own": frozenset(("model", "stream")),
    "bedrock": frozenset(("anthropic_version", "anthropic_beta")),
    "vertex": frozenset(("anthropic_version", "stream")),
}
_LEAST_BUDGET: Final = 1024
_LEAST_TOP_P: Final = 0.95
_MOST_MARKS: Final = 4  # of cache_control in one request


def check_anthropic(
    body: Mapping[str, Any],
    issued: Issued,
    *,
    host: Literal["own", "bedrock", "vertex"],
    model: str = "",
    betas: str = BINDING_BETA,
) -> None:
    """The others have the model in the path, and want a version in the body; Bedrock always streams at this path.
    `betas` is the header, which Bedrock wants in the body too."""
    no_others(body, (_TOP - {"model", "stream"}) | _OF_HOST[host], "")
    if host == "own":
        require(a_text(body.get("model", ""), "model"), "model: Field required", at="model")
    else:
        a_name(body.get("anthropic_version"), _HOST_VERSION, "anthropic_version")
    if host != "bedrock":
        require(body.get("stream") is True, "stream: this server answers with a stream only", at="stream")
    most = body.get("max_tokens")
    require(type(most) is int and most > 0, "max_tokens: Field required, a positive whole number", at="max_tokens")
    _thinking(body)
    if "block_binding" in body.get("thinking", {}):
        named = [*betas.split(","), *body.get("anthropic_beta", [])]
        require(BINDING_BETA in named, "thinking.adaptive.block_binding: Extra inputs are not permitted")
    _sampling(body)
    _tools(body)
    check_model(body, model or str(body.get("model", "")))
    system = body.get("system", "x")
    for number, block in enumerate([] if isinstance(system, str) else objects(system, "system")):
        require(block.get("type") == "text", f"system.{number}.type: Input should be 'text'")
        check_text(block, f"system.{number}")
    require(system, "system: must not be empty", at="system")
    check_messages(objects(body.get("messages"), "messages"), issued, body, alternate=True)
    check_bound(body, model or str(body.get("model", "")), issued)
    require(_marks(body) <= _MOST_MARKS, f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided.")


def _is_thinking(body: Mapping[str, Any]) -> bool:
    return body.get("thinking", {}).get("type") in ("enabled", "adaptive")


def _thinking(body: Mapping[str, Any]) -> None:
    config = an_object(body.get("thinking", {}), "thinking")
    no_others(config, ("type", "budget_tokens", "display", "block_binding"), "thinking")
    match config.get("type"):
        case "enabled":
            budget = config.get("budget_tokens", 0)
            require(type(budget) is int and budget, "thinking.enabled.budget_tokens: Field required", at="thinking")
            require(
                budget >= _LEAST_BUDGET,
                f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}",
            )
            require(budget < body["max_tokens"], "`max_tokens` must be greater than `thinking.budget_tokens`.")
        case "adaptive":
            require("budget_tokens" not in config, "thinking.budget_tokens: Extra inputs are not permitted")
        case "disabled" | "between_tools":
            no_others(config, ("type",), "thinking")
        case None:
            require(not config, "thinking.type: Field required")
        case other:
            require(False, f"thinking: Input tag {other!r} is not one of 'disabled', 'enabled', 'adaptive'")
    effort = an_object(body.get("output_config", {}), "output_config").get("effort")
    known = (None, "low", "medium", "high", "xhigh", "max")
    require(effort in known, f"output_config.effort: {effort!r} is not supported", at="output_config.effort")


def _sampling(body: Mapping[str, Any]) -> None:
    temperature, top_p = body.get("temperature"), body.get("top_p")
    if temperature is not None:
        require(0 <= temperature <= 1, "temperature: range: 0..1", at="temperature")
        require(top_p is None, "`temperature` and `top_p` cannot both be specified for this model.")
    if _is_thinking(body):
        require(temperature in (None, 1), "`temperature` may only be set to 1 when thinking is enabled.")
        require(top_p is None or top_p >= _LEAST_TOP_P, "`top_p` must be at least 0.95 when thinking is enabled.")
        require("top_k" not in body, "`top_k` must be unset when thinking is enabled.")


def _tools(body: Mapping[str, Any]) -> None:
    names: list[str] = []
    for number, tool in enumerate(objects(body.get("tools", []), "tools")):
        at = f"tools.{number}"
        if "toolset" in tool.get("type", "custom"):
            no_others(tool, ("type", "configs", "default_config", "mcp_server_name", "cache_control"), at)
            continue
        names.append(a_name(tool.get("name"), _NAME, f"{at}.name"))
        if tool.get("type", "custom") != "custom":
            a_name(tool["type"], _SERVER_TOOL, f"{at}.type")
            continue
        no_others(tool, _TOOL, at)
        schema = an_object(tool.get("input_schema"), f"{at}.custom.input_schema")
        require(schema.get("type") == "object", f"{at}.custom.input_schema.type: Input should be 'object'", at=at)
        for name in schema.get("properties", {}):
            a_name(name, _PARAMETER, f"{at}.custom.input_schema.properties")
        for refused in ("oneOf", "anyOf", "allOf"):
            require(
                refused not in schema,
                f"{at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
                at=at,
            )
    require(len(names) == len(set(names)), "tools: Tool names must be unique.", at="tools")
    choice = an_object(body.get("tool_choice", {}), "tool_choice")
    kind = choice.get("type")
    require(kind in (None, "auto", "any", "tool", "none"), f"tool_choice: {kind!r} is not known")
    require(
        not choice or body.get("tools"), "tool_choice: `tool_choice` may only be specified while providing `tools`."
    )


def _marks(value: object) -> int:
    if isinstance(value, Mapping):
        fields = cast("Json", value)
        return ("cache_control" in fields) + sum(_marks(entry) for entry in fields.values())
    return sum(_marks(entry) for entry in cast("list[Any]", value)) if isinstance(value, list) else 0
