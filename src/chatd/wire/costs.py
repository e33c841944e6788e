"""What chats have cost, in whole microdollars. `unpriced_request_count`: answers whose cost is not known."""

from datetime import date, datetime
from uuid import UUID

import msgspec


class ChatCost(msgspec.Struct):
    """Of a root chat with its children; a child has its root's."""

    chat_id: UUID
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int


class ModelCost(msgspec.Struct):
    """`model` and `display_name` are empty for a model that is no longer offered."""

    model_config_id: UUID | None
    model: str
    display_name: str
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int


class TitledChatCost(ChatCost, kw_only=True):
    """`title` is that of the root chat."""

    title: str


class DayCost(msgspec.Struct):
    """In UTC."""

    day: date
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int
    by_model: list[ModelCost]


class CostSummary(msgspec.Struct):
    """From `start_date` to before `end_date`. `by_chat` has the dearest ones, `by_day` those on which anything was paid
    for."""

    user_id: UUID
    start_date: datetime
    end_date: datetime
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int
    runtime_ms: int
    by_model: list[ModelCost]
    by_chat: list[TitledChatCost]
    by_day: list[DayCost]


class UserCost(msgspec.Struct):
    user_id: UUID
    username: str
    display_name: str
    total_cost_micros: int
    request_count: int
    unpriced_request_count: int


class UserCostPage(msgspec.Struct):
    start_date: datetime
    end_date: datetime
    users: list[UserCost]
    next_after: UUID | None
