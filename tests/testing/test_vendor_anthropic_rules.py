"""What the scripted Anthropic refuses, as the real one does."""

from typing import Any

import pytest

from chatd.testing.vendors.anthropic_check import check_anthropic
from chatd.testing.vendors.anthropic_encode import anthropic_events
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.refusal import Refusal
from chatd.testing.vendors.script import Call, Say, Search, Source, Think, Turn

Block = dict[str, Any]
IMAGE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
SCHEMA = {"type": "object", "properties": {}}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def text(words: str = "hello") -> Block:
    return {"type": "text", "text": words}


def use(id: str = "t1", **fields: Any) -> Block:
    return {"type": "tool_use", "id": id, "name": "f", "input": {}, **fields}


def result(id: str = "t1", **fields: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": "ok", **fields}


def search() -> Block:
    return {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}


def user(*blocks: Block) -> Block:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Block) -> Block:
    return {"role": "assistant", "content": list(blocks)}


def body(*messages: Block, **fields: Any) -> Block:
    said = list(messages) or [user(text())]
    return {"model": "m", "max_tokens": 2048, "stream": True, "messages": said, **fields}


def tool(**fields: Any) -> Block:
    return {"name": "f", "input_schema": SCHEMA, **fields}


ACCEPTED = {
    "plain": body({"role": "user", "content": "hello"}),
    "calls": body(user(text()), assistant(text(), use(), use("t2")), user(result("t2"), result(), text())),
    "an image": body(user({"type": "image", "source": IMAGE})),
    "a failed tool": body(user(text()), assistant(use()), user(result(is_error=True))),
    "an image of a tool": body(
        user(text()), assistant(use()), user(result(content=[{"type": "image", "source": IMAGE}]))
    ),
    "system": body(system=[text()], tools=[tool()], tool_choice={"type": "any"}),
    "thinking": body(thinking=THINKING, temperature=1, tools=[tool()], tool_choice={"type": "auto"}),
    "forced": body(model="claude-haiku-5-5", tools=[tool()], tool_choice={"type": "any"}),
    "a toolset": body(model="claude-opus-5-5", tools=[{"type": "computer_toolset_20260801"}]),
    "a single computer": body(model="claude-fable-5-1", tools=[{"type": "computer_20251124", "name": "computer"}]),
    "between calls": body(model="claude-sonnet-5-5", thinking={"type": "between_tools"}),
    "adaptive": body(thinking={"type": "adaptive"}, output_config={"effort": "max"}),
    "its own call beside ours": body(user(text()), assistant(search(), use()), user(result())),
    "its own tools": body(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
}

REFUSED = [
    (body(stream=False), "stream"),
    (body(max_tokens=None), "max_tokens"),
    (body(extra=1), "extra: Extra inputs are not permitted"),
    (body(model=""), "model"),
    (body(messages=[]), "at least one message"),
    (body(system=""), "system"),
    (body(system=[text("")]), "non-empty"),
    (body(assistant(text())), "first message"),
    (body(user(text()), user(text())), "roles must alternate"),
    (body({"role": "system", "content": "x"}), "first message"),
    (body(user()), "non-empty content"),
    (body(user(text(""))), "text content blocks must be non-empty"),
    (body(user(text(" \n"))), "non-whitespace"),
    (body(user(text()), assistant(text("so"))), "prefill"),
    (body(user(use())), "not allowed here"),
    (body(user(text()), assistant({"type": "image", "source": IMAGE})), "not allowed here"),
    (body(user({"type": "image", "source": IMAGE | {"media_type": "image/svg+xml"}})), "media_type"),
    (body(user({"type": "image", "source": IMAGE | {"data": ""}})), "base64"),
    (body(user(text()), assistant(use())), "without `tool_result` blocks"),
    (body(user(text()), assistant(use()), user(text())), "without `tool_result` blocks immediately after: t1"),
    (body(user(text()), assistant(use(), use("t2")), user(result())), "without `tool_result` blocks.*t2"),
    (body(user(result())), "unexpected `tool_use_id`"),
    (body(user(text()), assistant(text()), user(result())), "unexpected `tool_use_id`"),
    (body(user(text()), assistant(use()), user(text(), result())), "must come first"),
    (body(user(text()), assistant(use()), user(result(), result())), "single result"),
    (body(user(text()), assistant(use(), use()), user(result())), "ids must be unique"),
    (body(user(text()), assistant(use("a b")), user(result("a b"))), "should match pattern"),
    (body(user(text()), assistant(use(name="a.b")), user(result())), "should match pattern"),
    (body(user(text()), assistant(use(input="{}")), user(result())), "should be an object"),
    (body(user(text()), assistant(use()), user(result(is_error=True, content=""))), "cannot be empty"),
    (body(user(text()), assistant(use()), user(result(content=[text("")]))), "non-empty"),
    (body(tools=[tool(name="a.b")]), "should match pattern"),
    (body(tools=[tool(), tool()]), "unique"),
    (body(tools=[tool(input_schema={"type": "string"})]), "Input should be 'object'"),
    (body(tools=[tool(input_schema=SCHEMA | {"anyOf": []})]), "oneOf, allOf, or anyOf"),
    (body(tool_choice={"type": "auto"}), "tool_choice"),
    (body(thinking={"type": "enabled"}), "budget_tokens"),
    (body(thinking={"type": "enabled", "budget_tokens": 1000}), "greater than or equal to 1024"),
    (body(thinking={"type": "enabled", "budget_tokens": 2048}), "max_tokens"),
    (body(thinking=THINKING, temperature=0.5), "temperature"),
    (body(thinking=THINKING, top_k=5), "top_k"),
    (body(thinking=THINKING, top_p=0.5), "top_p"),
    (body(model="claude-opus-4-5", thinking=THINKING, tools=[tool()], tool_choice={"type": "any"}), "forces tool use"),
    (body(model="claude-opus-5-5", tools=[tool()], tool_choice={"type": "any"}), "forced tool use"),
    (body(model="claude-fable-5-1", tools=[tool()], tool_choice={"type": "tool", "name": "f"}), "forced tool use"),
    (body(model="claude-opus-4-7", thinking=THINKING), "thinking.type.enabled"),
    (body(model="claude-opus-4-5", thinking={"type": "adaptive"}), "thinking.type.adaptive"),
    (body(model="claude-opus-5-5", thinking={"type": "disabled"}), "thinking.type.disabled"),
    (body(model="claude-opus-5-5", thinking={"type": "between_tools"}), "between_tools"),
    (body(model="claude-haiku-5-5", thinking={"type": "disabled"}, output_config={"effort": "max"}), "needs thinking"),
    (body(model="claude-opus-4-6", output_config={"effort": "xhigh"}), "xhigh"),
    (body(model="claude-sonnet-4", output_config={"effort": "low"}), "effort"),
    (body(model="claude-sonnet-5", temperature=1), "temperature"),
    (body(model="claude-opus-4-7", top_k=5), "top_k"),
    (body(model="claude-opus-5-5", tools=[{"type": "computer_20251124", "name": "computer"}]), "toolset"),
    (body(tools=[{"type": "computer_toolset_20260801", "name": "computer"}]), "name: Extra inputs"),
    (body(tools=[tool(input_schema=SCHEMA | {"properties": {"$a": {}}})]), "should match pattern"),
    (body(user({"type": "image", "source": IMAGE | {"media_type": "image/gif"}})), "does not match"),
    (body(user({"type": "document", "source": IMAGE | {"media_type": "application/pdf"}})), "PDF"),
    (
        body(user(text()), assistant(use()), user(result(is_error=True, content=[{"type": "image", "source": IMAGE}]))),
        "type `text` if `is_error`",
    ),
    (body(temperature=0.5, top_p=0.5), "cannot both"),
    (body(temperature=1.5), "range"),
    (body(output_config={"effort": "huge"}), "effort"),
    (body(user(*(text() | {"cache_control": {"type": "ephemeral"}} for _ in range(5)))), "maximum of 4"),
    (body(user(text()), assistant(use()), user(result()), thinking=THINKING), "must start with a thinking block"),
    (
        body(user(text()), assistant({"type": "thinking", "thinking": "a", "signature": "made up"}), user(text())),
        "Invalid `signature`",
    ),
    (body(user(text()), assistant(search()), user(text())), "without a corresponding result"),
    (body(user(text()), assistant(search(), use()), user(result(), text())), "without a corresponding result"),
    (
        body(user(text()), assistant(search(), use()), user(result()), assistant(text()), user(text())),
        "without a corresponding result",
    ),
]


@pytest.mark.parametrize("accepted", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_vendor_takes_is_accepted(accepted: Block):
    check_anthropic(accepted, Issued(), host="own")


@pytest.mark.parametrize(("refused", "why"), REFUSED)
def test_what_the_vendor_does_not_take_is_refused(refused: Block, why: str):
    with pytest.raises(Refusal, match=why):
        check_anthropic(refused, Issued(), host="own")


def answered(turn: Turn, issued: Issued, asked: Block | None = None) -> list[Block]:
    """The blocks of an answer, put together as a client would."""
    blocks: list[Block] = []
    for event in anthropic_events(turn, "m", issued, asked):
        assert not isinstance(event.data, str)
        if event.name == "content_block_start":
            blocks.append(dict(event.data["content_block"]))
        elif event.name == "content_block_delta":
            delta = dict(event.data["delta"])
            del delta["type"]
            for name, piece in delta.items():
                if name not in ("partial_json", "citation"):
                    blocks[-1][name] = blocks[-1].get(name, "") + piece
    return blocks


def test_thinking_goes_back_as_it_was_or_is_refused():
    issued = Issued()
    thought, call = answered(Turn(Think("a", "b"), Call("f", "{}", id="t1")), issued)
    whole = body(user(text()), assistant(thought, call), user(result()), thinking=THINKING)
    check_anthropic(whole, issued, host="own")

    for changed in ({**thought, "thinking": "ab "}, {**thought, "signature": "x" + thought["signature"]}):
        with pytest.raises(Refusal, match="Invalid `signature`"):
            check_anthropic(body(user(text()), assistant(changed, call), user(result())), issued, host="own")


def test_thoughts_can_not_be_taken_out_of_the_latest_message():
    issued = Issued()
    first, second, call = answered(Turn(Think("a"), Think("b", redacted=True), Call("f", "{}", id="t1")), issued)
    whole = body(user(text()), assistant(first, second, call), user(result()), thinking=THINKING)
    check_anthropic(whole, issued, host="own")

    partly = body(user(text()), assistant(first, call), user(result()), thinking=THINKING)
    with pytest.raises(Refusal, match="cannot be modified"):
        check_anthropic(partly, issued, host="own")


def test_results_of_the_vendors_own_tools_go_back_as_they_were():
    issued = Issued()
    call, found, words = answered(Turn(Search("cats", Source("https://a.example")), Say("Cats.")), issued)
    check_anthropic(body(user(text()), assistant(call, found, words), user(text())), issued, host="own")

    for changed in ((call, {**found, "content": []}, words), (found, call, words), (found, words)):
        with pytest.raises(Refusal, match=r"encrypted_content|unexpected"):
            check_anthropic(body(user(text()), assistant(*changed), user(text())), issued, host="own")


def test_hosts_want_a_version_in_place_of_the_model():
    hosted = body(anthropic_version="bedrock-2023-05-31")
    del hosted["model"], hosted["stream"]
    on_vertex = hosted | {"stream": True, "anthropic_version": "vertex-2023-10-16"}
    check_anthropic(hosted | {"anthropic_beta": ["a"]}, Issued(), host="bedrock")
    check_anthropic(on_vertex, Issued(), host="vertex")

    with pytest.raises(Refusal, match="anthropic_beta"):  # it takes them as a header
        check_anthropic(on_vertex | {"anthropic_beta": ["a"]}, Issued(), host="vertex")
    with pytest.raises(Refusal, match="model"):
        check_anthropic(hosted | {"model": "m"}, Issued(), host="bedrock")
    del hosted["anthropic_version"]
    with pytest.raises(Refusal, match="anthropic_version"):
        check_anthropic(hosted, Issued(), host="bedrock")


def test_with_a_budget_the_first_thought_since_the_user_spoke_is_enough():
    issued = Issued()
    thought, call = answered(Turn(Think("a"), Call("f", "{}", id="t1")), issued)
    history = [user(text()), assistant(thought, call), user(result()), assistant(use("t2")), user(result("t2"))]
    check_anthropic(body(*history, thinking=THINKING), issued, host="own")

    history[2] = user(result(), text())
    with pytest.raises(Refusal, match="must start with a thinking block"):
        check_anthropic(body(*history, thinking=THINKING), issued, host="own")


DROPS = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


@pytest.mark.parametrize("redacted", [False, True])
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-fable-5-1"])
def test_thoughts_of_the_newest_models_are_bound_to_what_came_before_them(model: str, redacted: bool):
    issued = Issued()
    first = body(user(text() | {"cache_control": {"type": "ephemeral"}}), model=model, tools=[tool()])
    thought, words = answered(Turn(Think("a", redacted=redacted), Say("b")), issued, first)

    def later(*before: Block, **fields: Any) -> Block:
        return first | {"messages": [*before, assistant(thought, words), user(text())]} | fields

    check_anthropic(later(user(text())), issued, host="own")
    for changed in (later(user(text("edited"))), later(user(text()), tools=[]), later(user(text()), system="New.")):
        with pytest.raises(Refusal, match="has changed"):
            check_anthropic(changed, issued, host="own")
        check_anthropic(changed | {"thinking": DROPS}, issued, host="own")
        check_anthropic(changed | {"model": "claude-opus-5"}, issued, host="own")
        with pytest.raises(Refusal, match="block_binding"):
            check_anthropic(changed | {"thinking": DROPS}, issued, host="own", betas="")
