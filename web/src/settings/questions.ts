/** What the settings read; keys begin as those of `api/queries` do where they are about the same things. */
import { queryOptions } from "@tanstack/react-query"
import { request } from "../api/request"
import type { ModelContext } from "../api/schema"

export const questions = {
  providers: queryOptions({
    queryKey: ["providers"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/providers", { signal }),
  }),
  userPrompt: queryOptions({
    queryKey: ["settings", "user-prompt"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/user-prompt", { signal }),
  }),
  thresholds: queryOptions({
    queryKey: ["settings", "thresholds"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/user-compaction-thresholds", { signal }),
  }),
  sessions: queryOptions({
    queryKey: ["settings", "sessions"],
    queryFn: ({ signal }) => request("GET /api/v2/users/{user}/sessions", { path: { user: "me" }, query: { limit: 100 }, signal }),
  }),
  tokens: queryOptions({
    queryKey: ["settings", "tokens"],
    queryFn: ({ signal }) => request("GET /api/v2/users/{user}/tokens", { path: { user: "me" }, query: { limit: 100 }, signal }),
  }),
  systemPrompt: queryOptions({
    queryKey: ["settings", "system-prompt"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/system-prompt", { signal }),
  }),
  planInstructions: queryOptions({
    queryKey: ["settings", "plan-instructions"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/plan-mode-instructions", { signal }),
  }),
  override: (context: ModelContext) =>
    queryOptions({
      queryKey: ["settings", "override", context],
      queryFn: ({ signal }) => request("GET /api/experimental/chats/config/model-override/{context}", { path: { context }, signal }),
    }),
  workspaceTtl: queryOptions({
    queryKey: ["settings", "workspace-ttl"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/workspace-ttl", { signal }),
  }),
  /** For choosing one. Where there are more, the page of users finds them. */
  someUsers: queryOptions({
    queryKey: ["settings", "users", "(some)"],
    queryFn: ({ signal }) => request("GET /api/v2/users", { query: { limit: 100 }, signal }),
  }),
  groups: queryOptions({
    queryKey: ["settings", "groups"],
    queryFn: ({ signal }) => request("GET /api/v2/groups", { query: { limit: 100 }, signal }),
  }),
  groupMembers: (group: string) =>
    queryOptions({
      queryKey: ["settings", "group-members", group],
      queryFn: ({ signal }) => request("GET /api/v2/groups/{group}/members", { path: { group }, query: { limit: 100 }, signal }),
    }),
  limits: queryOptions({
    queryKey: ["settings", "limits"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/usage-limits", { signal }),
  }),
  gitProviders: queryOptions({
    queryKey: ["settings", "git-providers"],
    queryFn: ({ signal }) => request("GET /api/experimental/git-providers", { signal }),
  }),
  template: (id: string) =>
    queryOptions({
      queryKey: ["templates", id],
      queryFn: ({ signal }) => request("GET /api/experimental/templates/{template}", { path: { template: id }, signal }),
    }),
  advisor: queryOptions({
    queryKey: ["settings", "advisor"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/advisor", { signal }),
  }),
  desktop: queryOptions({
    queryKey: ["settings", "desktop"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/config/desktop-enabled", { signal }),
  }),
}
