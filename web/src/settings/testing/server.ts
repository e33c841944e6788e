/** A server that has something of everything, and one that has nothing yet, for stories of the settings. */
import type { Route } from "../../api/request"
import type { CostSummary, ModelConfig, ModelCost, Provider, Token, User } from "../../api/schema"
import { type Answers, Refusal, unanswered } from "../../api/testing/Answered"

const at = "2026-03-01T09:00:00Z"
const made = { created_at: at, updated_at: at }

export const olga: User = { id: "u1", email: "olga@example.com", username: "olga", display_name: "Olga", role: "owner", status: "active", last_seen_at: at, organization_ids: ["o"], ...made }
export const mia: User = { ...olga, id: "u2", email: "mia@example.com", username: "mia", display_name: "", role: "member" }

export const provider: Provider = { id: "p1", type: "anthropic", name: "main", display_name: "", base_url: "", options: {}, enabled: true, has_api_key: true, ...made }

export const model: ModelConfig = {
  id: "m1",
  ai_provider_id: "p1",
  provider_type: "anthropic",
  provider_name: "main",
  model: "owl-large",
  display_name: "Owl Large",
  enabled: true,
  is_default: true,
  context_limit: 200_000,
  compression_threshold: 80,
  model_config: null,
  reasoning_efforts: ["low", "high"],
  prices: { input: "3", output: "15" },
  long_prompt_prices: null,
  price_source: "config",
  ...made,
}

const token: Token = {
  id: "t1",
  user_id: "u1",
  kind: "token",
  name: "for a script",
  scopes: ["*:*"],
  created_at: at,
  expires_at: "2026-06-01T09:00:00Z",
  last_used_at: null,
  client_ip: "192.0.2.1",
  user_agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
  current: true,
}

function spent(name: string, micros: number): ModelCost {
  return { model_config_id: name, model: name, display_name: "", total_cost_micros: micros, request_count: 4, unpriced_request_count: 0 }
}

/** Costs of yesterday and today. */
export function costs(now: number): CostSummary {
  const day = (back: number) => new Date(now - back * 86_400_000).toISOString().slice(0, 10)
  const figures = { request_count: 8, unpriced_request_count: 0 }
  return {
    user_id: "u1",
    start_date: day(29),
    end_date: day(-1),
    total_cost_micros: 6_000_000,
    ...figures,
    runtime_ms: 61_000,
    by_model: [spent("owl-large", 4_000_000), spent("fox-small", 2_000_000)],
    by_chat: [{ chat_id: "c1", title: "Count the owls", total_cost_micros: 6_000_000, ...figures }],
    by_day: [
      { day: day(1), total_cost_micros: 3_000_000, ...figures, by_model: [spent("owl-large", 2_000_000), spent("fox-small", 1_000_000)] },
      { day: day(0), total_cost_micros: 3_000_000, ...figures, by_model: [spent("owl-large", 2_000_000), spent("fox-small", 1_000_000)] },
    ],
  }
}

const override = { context: "general", model_config_id: null, reasoning_effort: null, is_malformed: false } as const

export const filled: Answers = {
  "GET /api/v2/users/{user}": olga,
  "GET /api/experimental/chats/providers": [provider],
  "GET /api/experimental/chats/providers/known-models": [],
  "GET /api/experimental/chats/model-configs": [model, { ...model, id: "m2", model: "fox-small", display_name: "", is_default: false, enabled: false, price_source: "unknown", prices: {} }],
  "GET /api/experimental/chats/config/advisor": { enabled: false },
  "GET /api/experimental/chats/config/desktop-enabled": { enable_desktop: false },
  "GET /api/experimental/chats/config/model-override/{context}": override,
  "GET /api/experimental/chats/config/plan-mode-instructions": { plan_mode_instructions: "" },
  "GET /api/experimental/chats/config/system-prompt": { system_prompt: "Speak of owls.", include_default_system_prompt: true, default_system_prompt: "You help people." },
  "GET /api/experimental/chats/config/user-compaction-thresholds": { thresholds: [{ model_config_id: "m1", threshold_percent: 70 }] },
  "GET /api/experimental/chats/config/user-prompt": { custom_prompt: "I like owls." },
  "GET /api/experimental/chats/config/workspace-ttl": { workspace_ttl_ms: 3_600_000 },
  "GET /api/experimental/chats/usage-limits": { limits: [{ user_id: null, group_id: null, period: "month", limit_micros: 50_000_000 }] },
  "GET /api/experimental/git-providers": [{ id: "g1", kind: "github", host: "github.com", api_url: "", has_token: true, ...made }],
  "GET /api/experimental/templates": [
    {
      id: "w1",
      organization_id: "o",
      name: "local",
      display_name: "Local",
      description: "A folder on this machine.",
      icon: "",
      readme: "",
      provisioner: "local",
      parameters: [],
      agents_allowed: true,
      allows_user_autostop: true,
      default_ttl_ms: 0,
      activity_bump_ms: 0,
      max_lifetime_ms: 0,
      deprecated: "",
      workspace_count: 2,
      ...made,
    },
  ],
  "GET /api/v2/users": { users: [olga, mia], count: 2, next_after: null },
  "GET /api/v2/groups": { groups: [{ id: "r1", name: "birders", display_name: "Birders", created_at: at }], next_after: null },
  "GET /api/v2/users/{user}/tokens": { tokens: [{ ...token, current: false }], next_before: null },
  "GET /api/v2/users/{user}/sessions": { tokens: [token, { ...token, id: "t2", current: false }], next_before: null },
  "GET /api/v2/audit": {
    entries: [
      {
        id: 1,
        at,
        actor: { kind: "user", name: "olga", id: "u1" },
        action: "update",
        target: { kind: "provider", id: "p1", name: "main" },
        changes: { enabled: true },
        outcome: "done",
        request_id: "r",
        client_address: "192.0.2.1",
      },
    ],
  },
}

export const empty: Answers = {
  ...filled,
  "GET /api/experimental/chats/providers": [],
  "GET /api/experimental/chats/model-configs": [],
  "GET /api/experimental/chats/usage-limits": { limits: [] },
  "GET /api/experimental/git-providers": [],
  "GET /api/experimental/templates": [],
  "GET /api/v2/groups": { groups: [], next_after: null },
  "GET /api/v2/users/{user}/tokens": { tokens: [], next_before: null },
  "GET /api/v2/audit": { entries: [] },
}

const routes = Object.keys(filled) as Route[]

export const broken: Answers = Object.fromEntries(routes.map((route) => [route, new Refusal(404, "It is not there.")]))
export const silent: Answers = Object.fromEntries(routes.map((route) => [route, unanswered]))
