"""Deployments on Azure, whose names say nothing of the models behind them."""

from typing import Any

import pytest

from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator
from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role
from chatd.core.side_kind import SideKind
from chatd.engine.model_calls import ModelCalls
from chatd.engine.models import ResolvedModel
from chatd.engine.short_answers import Question, ShortAnswers
from chatd.engine.side_costs import SideCosts
from chatd.providers.transport import open_transport
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Answer, Refuse, Say, Turn
from chatd.testing.vendors.server import vendor_server
from engine.deployment import new_id
from engine.test_models import resolved

APIS = pytest.mark.parametrize(
    ("options", "limit"),
    [
        ('{"api": "responses"}', "max_output_tokens"),
        ('{"api": "chat"}', "max_completion_tokens"),
        ('{"api": "chat", "api_version": "2024-10-21"}', "max_completion_tokens"),
    ],
)


def as_azure(asked: Asked) -> Answer:
    """A reasoning model that can't write much: it refuses the old name of the limit, and a limit above its own."""
    if "max_tokens" in asked.body:
        return Refuse(400, "Unsupported parameter: 'max_tokens' is not supported with this model.")
    most = max((value for name, value in asked.body.items() if name.startswith("max_")), default=0)
    return Refuse(400, f"max_tokens is too large: {most}.") if most > 16_384 else Turn(Say("Hi."))


def deployment(url: str, options: str) -> ResolvedModel:
    return resolved(ProviderKind.AZURE, "team-blue", base_url=url, provider_options=options)


@APIS
async def test_a_deployment_with_a_name_of_its_own_answers_as_long_as_it_can(options: str, limit: str):
    async with vendor_server(as_azure, key="key") as vendor, open_transport() as transport:
        model = deployment(vendor.url, options)
        request = ModelRequest(
            model=model.model,
            provider=str(model.provider_id),
            messages=(PromptMessage(Role.USER, (TextPart(text="hello"),)),),
            max_output_tokens=model.max_output_tokens,
            capabilities=model.capabilities,
        )
        answer = await ModelCalls(transport, SystemClock()).answer(request, model, Accumulator(model.protocol.name))
        [asked] = vendor.asked

    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["Hi."]
    assert [name for name in asked.body if name.startswith("max_")] == []


@APIS
async def test_a_short_answer_leaves_room_for_thoughts_under_the_name_that_azure_takes(options: str, limit: str):
    async with vendor_server(as_azure, key="key") as vendor, open_transport() as transport:
        models: Any = OneModel(deployment(vendor.url, options))
        calls, paid = ModelCalls(transport, SystemClock()), Paid()
        answers = ShortAnswers(models, calls=calls, costs=SideCosts(paid), clock=SystemClock())
        question = Question(
            chat_id=new_id(),
            kind=SideKind.TITLE,
            model_config_id=new_id(),
            prompt="Give a title.",
            text="hello",
            most_tokens=256,
        )
        said = await answers.answer(question)
        [asked] = vendor.asked

    assert (said, paid.kinds) == ("Hi.", [SideKind.TITLE])
    assert {name: value for name, value in asked.body.items() if name.startswith("max_")} == {limit: 256 + 2048}


class OneModel:
    def __init__(self, model: ResolvedModel) -> None:
        self._model = model

    async def model_for(self, config_id: object) -> ResolvedModel:
        return self._model


class Paid:
    def __init__(self) -> None:
        self.kinds: list[SideKind] = []

    async def insert_side_cost(self, *, kind: SideKind, **paid: object) -> int:
        self.kinds.append(kind)
        return 1
