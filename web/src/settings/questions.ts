/** What the settings read; keys begin as those of `api/queries` do where they are about the same things. */
import { queryOptions } from "@tanstack/react-query"
import { request } from "../api/request"

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
}
