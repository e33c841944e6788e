/** What is read from the server and kept: keys, how to read it, and how long it holds. */
import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query"
import { Refused, request } from "./request"
import type { Chat, ProviderKind } from "./schema"

const MINUTE = 60_000

/** Trying again helps when no answer came or the server is busy; a refusal stays one. */
function worthTryingAgain(failures: number, error: unknown): boolean {
  if (error instanceof Refused && error.status < 500 && error.status !== 429) return false
  return failures < 3
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: worthTryingAgain, staleTime: MINUTE, gcTime: 30 * MINUTE },
      mutations: { retry: false },
    },
  })
}

export const queries = {
  firstUser: queryOptions({ queryKey: ["first-user"], queryFn: ({ signal }) => request("GET /api/v2/users/first", { signal }) }),
  buildInfo: queryOptions({
    queryKey: ["build-info"],
    queryFn: ({ signal }) => request("GET /api/v2/buildinfo", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  }),
  me: queryOptions({
    queryKey: ["me"],
    queryFn: ({ signal }) => request("GET /api/v2/users/{user}", { path: { user: "me" }, signal }),
    staleTime: 5 * MINUTE,
  }),
  models: queryOptions({
    queryKey: ["models"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/model-configs", { signal }),
    refetchOnWindowFocus: true,
    // No stream tells of them: a page that is looked at has what an admin adds without being loaded again.
    // It rests while nobody is signed in; who signs in has everything asked again.
    refetchInterval: ({ state: { error } }) => (error instanceof Refused && error.status === 401 ? false : 10_000),
  }),
  knownModels: (type: ProviderKind) =>
    queryOptions({
      queryKey: ["known-models", type],
      queryFn: ({ signal }) => request("GET /api/experimental/chats/providers/known-models", { query: { type }, signal }),
    }),
  chat: (id: string) =>
    queryOptions({
      queryKey: ["chats", "one", id],
      queryFn: ({ signal }) => request("GET /api/experimental/chats/{chat}", { path: { chat: id }, signal }),
    }),
  /** The `newest` message makes it another question when the chat has gone on, also by an edit, after which it may be as long as before. */
  chatCost: (id: string, newest: number) =>
    queryOptions({
      queryKey: ["chats", "cost", id, newest],
      queryFn: ({ signal }) => request("GET /api/experimental/chats/{chat}/cost", { path: { chat: id }, signal }),
      placeholderData: keepPreviousData,
    }),
  prompts: (id: string, newest: number) =>
    queryOptions({
      queryKey: ["chats", "prompts", id, newest],
      queryFn: ({ signal }) => request("GET /api/experimental/chats/{chat}/prompts", { path: { chat: id }, query: { limit: 200 }, signal }),
      placeholderData: keepPreviousData,
    }),
  templates: queryOptions({
    queryKey: ["templates"],
    queryFn: ({ signal }) => request("GET /api/experimental/templates", { signal }),
  }),
}

/** The feed tells of a chat without what only its own record has (files, workspace, context): that stays. */
export function patchChat(client: QueryClient, newer: Chat): void {
  const { queryKey } = queries.chat(newer.id)
  const known = client.getQueryData(queryKey)
  if (!known) return
  client.setQueryData(queryKey, { ...known, ...newer })
  if (known.workspace_id !== newer.workspace_id || known.status !== newer.status) void client.invalidateQueries({ queryKey })
}
