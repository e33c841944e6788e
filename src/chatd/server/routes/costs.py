"""/api/experimental/chats/cost and …/chats/{chat}/cost: what chats have cost."""

from collections.abc import Mapping
from datetime import date, datetime
from itertools import groupby
from typing import Annotated, Final
from uuid import UUID

from litestar import Router, get
from litestar.params import FromPath, QueryParameter

from chatd.core.cost_period import cost_period
from chatd.core.errors import NotFound
from chatd.server.routes.asking import After, PageLimit, TheAsk, UserRef, find_user_id, problems
from chatd.store.queries import SumCostByDayRow, SumCostByModelRow
from chatd.wire import costs as wire
from chatd.wire.models import ModelConfig

_TAG = ["costs"]
_MOST_CHATS: Final = 100  # of a summary: the dearest ones
Start = Annotated[datetime | None, QueryParameter(description="From when on; 30 days before the end by default.")]
End = Annotated[datetime | None, QueryParameter(description="Until before when; now by default.")]


@get("/cost/{user:str}/summary", tags=_TAG, responses=problems(400, 401, 404))
async def get_cost_summary(
    user: UserRef, ask: TheAsk, start_date: Start = None, end_date: End = None
) -> wire.CostSummary:
    """What the chats of a user have cost: by model, by chat, by day. One's own, or for owners and auditors anyone's.
    Messages that an edit has hidden count, and so do titles, labels and summaries."""
    since, until = cost_period(start_date, end_date, ask.clock.now())
    owner_id = await find_user_id(ask, user)
    models = await ask.store.sum_cost_by_model(owner_id=owner_id, since=since, until=until)
    chats = await ask.store.sum_cost_by_chat(owner_id=owner_id, since=since, until=until, max_rows=_MOST_CHATS)
    days = await ask.store.sum_cost_by_day(owner_id=owner_id, since=since, until=until)
    offered = {model.id: model for model in await ask.model_configs.list_offered()}
    by_model = [_of_model(row, offered) for row in models]
    return wire.CostSummary(
        user_id=owner_id,
        start_date=since,
        end_date=until,
        total_cost_micros=sum(model.total_cost_micros for model in by_model),
        request_count=sum(model.request_count for model in by_model),
        unpriced_request_count=sum(model.unpriced_request_count for model in by_model),
        runtime_ms=await ask.store.sum_runtime_ms(owner_id=owner_id, since=since, until=until),
        by_model=by_model,
        by_chat=[
            wire.TitledChatCost(
                row.root_chat_id, int(row.cost_microdollars), row.answers, row.unpriced, title=row.title
            )
            for row in chats
        ],
        by_day=[
            _of_day(day, [_of_model(row, offered) for row in rows])
            for day, rows in groupby(days, key=lambda row: row.day)
        ],
    )


@get("/cost/users", tags=_TAG, responses=problems(400, 401))
async def list_user_costs(
    ask: TheAsk, start_date: Start = None, end_date: End = None, after: After = None, limit: PageLimit = 25
) -> wire.UserCostPage:
    """What each user's chats have cost. For owners and auditors; others see themselves."""
    since, until = cost_period(start_date, end_date, ask.clock.now())
    rows = await ask.store.sum_cost_by_user(since=since, until=until, after_id=after, max_rows=limit + 1)
    page = rows[:limit]
    return wire.UserCostPage(
        start_date=since,
        end_date=until,
        users=[
            wire.UserCost(
                user_id=row.user_id,
                username=row.username,
                display_name=row.display_name,
                total_cost_micros=int(row.cost_microdollars),
                request_count=row.answers,
                unpriced_request_count=row.unpriced,
            )
            for row in page
        ],
        next_after=page[-1].user_id if len(rows) > limit else None,
    )


@get("/{chat:uuid}/cost", tags=_TAG, responses=problems(401, 404))
async def get_chat_cost(chat: FromPath[UUID], ask: TheAsk) -> wire.ChatCost:
    """What a chat and its children have cost so far."""
    row = await ask.store.sum_cost_of_family(chat_id=chat)
    if row is None:
        raise NotFound("Chat")
    return wire.ChatCost(chat, int(row.cost_microdollars), row.answers, row.unpriced)


def _of_model(row: SumCostByModelRow | SumCostByDayRow, offered: Mapping[UUID, ModelConfig]) -> wire.ModelCost:
    known = offered.get(row.model_config_id) if row.model_config_id else None
    return wire.ModelCost(
        model_config_id=row.model_config_id,
        model=known.model if known else "",
        display_name=known.display_name if known else "",
        total_cost_micros=int(row.cost_microdollars),
        request_count=row.answers,
        unpriced_request_count=row.unpriced,
    )


def _of_day(day: date, models: list[wire.ModelCost]) -> wire.DayCost:
    return wire.DayCost(
        day=day,
        total_cost_micros=sum(model.total_cost_micros for model in models),
        request_count=sum(model.request_count for model in models),
        unpriced_request_count=sum(model.unpriced_request_count for model in models),
        by_model=models,
    )


costs_router = Router("/api/experimental/chats", route_handlers=[get_cost_summary, list_user_costs, get_chat_cost])
