/** Records of the server for stories. */
import type { Chat, ModelConfig } from "../../api/schema"
import { chatId } from "../../chat/testing/made"

const at = "2026-01-01T12:00:00Z"

export function chatRecord(more: Partial<Chat> = {}): Chat {
  return {
    id: chatId,
    organization_id: "o",
    owner_id: "me",
    root_chat_id: chatId,
    last_model_config_id: "m0",
    title: "Why the server does not start",
    status: "waiting",
    last_turn_summary: null,
    summary: null,
    created_at: at,
    updated_at: at,
    archived: false,
    shared: false,
    pin_order: 0,
    mcp_server_ids: [],
    labels: {},
    has_unread: false,
    client_type: "ui",
    children: [],
    ...more,
  }
}

export function modelConfig(id: string, more: Partial<ModelConfig> = {}): ModelConfig {
  return {
    id,
    ai_provider_id: "p",
    provider_type: "anthropic",
    provider_name: "Anthropic",
    model: `model-${id}`,
    display_name: `Model ${id}`,
    enabled: true,
    is_default: false,
    context_limit: 200_000,
    compression_threshold: 80,
    model_config: null,
    reasoning_efforts: [],
    prices: {} as ModelConfig["prices"],
    long_prompt_prices: null,
    price_source: "unknown",
    created_at: at,
    updated_at: at,
    ...more,
  }
}
