"""What a configured model is asked with: its limits, its effort, and whose its answers are."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from chatd.core.access import MODEL_KEEPER
from chatd.core.model_options import EffortRange, ModelOptions
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort
from chatd.core.secret import Secret
from chatd.engine.models import Models, ResolvedModel, resolve
from chatd.providers.catalogue import load_catalogue
from chatd.providers.hosts import Outbound
from chatd.providers.stream import StreamLimits
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.encrypted import EncryptedStore
from chatd.store.queries import ModelConfig, Provider
from engine.deployment import new_id, open_deployment

USUAL = StreamLimits()
NOW = datetime(2030, 1, 1, tzinfo=UTC)
THINKS = EffortRange(default=ReasoningEffort.LOW, max=ReasoningEffort.HIGH)
ONE_OF_MANY = [ProviderKind.OPENAI_COMPAT, ProviderKind.OPENROUTER, ProviderKind.VERCEL]


def resolved(
    kind: ProviderKind,
    model: str,
    options: str = "{}",
    limits: StreamLimits = USUAL,
    *,
    base_url: str = "https://models.example/v1",
    provider_options: str = "{}",
) -> ResolvedModel:
    provider = Provider(
        id=new_id(),
        name="a provider",
        kind=kind,
        display_name="",
        base_url=base_url,
        api_key=Secret("key"),
        options=provider_options,
        enabled=True,
        deleted=False,
        created_at=NOW,
        updated_at=NOW,
    )
    config = ModelConfig(
        id=new_id(),
        provider_id=provider.id,
        model=model,
        display_name="",
        enabled=True,
        is_default=False,
        context_limit=4096,
        compression_threshold=70,
        options=options,
        input_price=None,
        output_price=None,
        cache_read_price=None,
        cache_write_price=None,
        deleted=False,
        created_at=NOW,
        updated_at=NOW,
    )
    return resolve(config, provider, load_catalogue(None), Outbound(), limits)


@pytest.mark.parametrize("kind", [*ONE_OF_MANY, ProviderKind.AZURE])
def test_of_a_model_that_nobody_knows_a_compatible_server_decides_how_long_answers_are(kind: ProviderKind):
    assert resolved(kind, "home-made").max_output_tokens is None


@pytest.mark.parametrize("kind", [ProviderKind.OPENAI, ProviderKind.GOOGLE, ProviderKind.ANTHROPIC])
def test_an_unknown_model_of_a_vendor_itself_may_answer_at_some_length(kind: ProviderKind):
    assert resolved(kind, "home-made").max_output_tokens == 32_000


def test_a_known_limit_of_the_output_is_kept_and_an_operators_is_obeyed():
    assert resolved(ProviderKind.OPENAI, "gpt-4o").max_output_tokens == 16_384
    assert resolved(ProviderKind.AZURE, "gpt-4o-2024-08-06").max_output_tokens == 16_384
    assert resolved(ProviderKind.ANTHROPIC, "claude-sonnet-4-5").max_output_tokens == 32_000
    own = msgspec.json.encode(ModelOptions(max_output_tokens=50_000)).decode()
    assert resolved(ProviderKind.OPENAI_COMPAT, "home-made", own).max_output_tokens == 50_000
    assert resolved(ProviderKind.OPENAI, "gpt-4o", own).max_output_tokens == 50_000


def test_a_model_that_does_not_reason_is_told_no_effort():
    # A catalogue may learn later than a configuration was made that its model does not reason.
    effort = msgspec.json.encode(ModelOptions(reasoning_effort=THINKS)).decode()

    assert resolved(ProviderKind.OPENAI, "gpt-4.1", effort).effort(ReasoningEffort.HIGH) is None
    assert resolved(ProviderKind.OPENAI_COMPAT, "home-made", effort).effort(None) is ReasoningEffort.LOW
    assert resolved(ProviderKind.OPENAI_COMPAT, "home-made").effort(ReasoningEffort.HIGH) is None


@pytest.mark.parametrize("kind", ProviderKind)
async def test_where_one_provider_has_models_of_many_vendors_each_is_an_origin_of_its_own(
    database: Any, kind: ProviderKind
):
    async with open_deployment(database.dsn) as made:
        sql = EncryptedStore(made.sql, Cipher([EncryptionKey(b"k" * 32)]))
        store = AuthorizedStore(sql, RoleAuthorizer())
        provider_id, first, second = new_id(), new_id(), new_id()
        options = '{"region": "us-east-1"}' if kind is ProviderKind.BEDROCK else "{}"
        if kind is ProviderKind.VERTEX:
            options = '{"project": "p", "location": "global"}'
        with acting_as(MODEL_KEEPER):
            await store.insert_provider(
                id=provider_id,
                name="p",
                kind=kind,
                display_name="",
                base_url="https://models.example/v1",
                api_key=Secret("key"),
                options=options,
                enabled=True,
            )
            for id, model in ((first, "openai/gpt"), (second, "anthropic/claude")):
                await store.insert_model_config(
                    id=id,
                    provider_id=provider_id,
                    model=model,
                    display_name="",
                    enabled=True,
                    context_limit=1000,
                    compression_threshold=70,
                    options="{}",
                    input_price=Decimal(1),
                    output_price=None,
                    cache_read_price=None,
                    cache_write_price=None,
                )
        await sql.delete_model_config(id=second)
        models = Models(store, load_catalogue(None), Outbound())
        origins = await models.origins()

        if kind in ONE_OF_MANY:
            assert origins == {first: f"{provider_id}/openai/gpt", second: f"{provider_id}/anthropic/claude"}
        else:
            assert origins == {first: str(provider_id), second: str(provider_id)}
        if kind not in (ProviderKind.BEDROCK, ProviderKind.VERTEX):  # those want credentials of their clouds
            assert (await models.model_for(first)).origin == origins[first]


@pytest.mark.behaviour("LOOP-11")
def test_the_deployment_says_how_long_to_wait_for_models_that_say_nothing_themselves():
    deployment = StreamLimits(first_event=20, silence=40)

    silent = resolved(ProviderKind.ANTHROPIC, "claude-opus-5-5", limits=deployment)
    own = resolved(ProviderKind.ANTHROPIC, "claude-opus-5-5", '{"first_event_seconds":7}', limits=deployment)

    assert silent.limits == deployment
    assert own.limits == StreamLimits(first_event=7, silence=40)
