/** Chats as a list has them, for tests and stories. */
import type { Chat } from "../../api/schema"

let minute = 0

/** Each was active a minute after the one before. */
export function chat(id: string, more: Partial<Chat> = {}): Chat {
  minute += 1
  const at = new Date(Date.UTC(2026, 0, 10, 12, minute)).toISOString()
  return {
    id,
    organization_id: "o",
    owner_id: "u",
    root_chat_id: more.parent_chat_id ?? id,
    last_model_config_id: "m",
    title: id,
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
