/** The workspace of a chat: what is known of it, and starting and stopping it. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../api/queries"
import { request } from "../api/request"
import type { Chat, WorkspaceState } from "../api/schema"
import { toast } from "../ui/floating/toast"
import { words } from "../words"

/** While something is being done to it. */
const movingMs = 1500
const restingMs = 30_000

export function isMoving(state: WorkspaceState | undefined): boolean {
  return state === "starting" || state === "stopping" || state === "deleting"
}

export const workspaceQuery = (id: string) =>
  queryOptions({
    queryKey: ["workspaces", "one", id],
    queryFn: ({ signal }) => request("GET /api/experimental/workspaces/{workspace}", { path: { workspace: id }, signal }),
    staleTime: 5000,
  })

/** `status` of the chat makes it look again: a turn starts a workspace that was stopped. */
export function useWorkspace(chat: Chat | undefined) {
  const id = chat?.workspace_id ?? null
  const isAtWork = chat?.status === "running" || chat?.status === "interrupting"
  const read = useQuery({
    ...workspaceQuery(id ?? ""),
    enabled: id !== null,
    // While an agent works it may start at any moment.
    refetchInterval: (query) => (isMoving(query.state.data?.state) || (isAtWork && query.state.data?.state !== "running") ? movingMs : restingMs),
  })
  return { id, read, state: read.data?.state ?? chat?.workspace?.state, name: read.data?.name ?? chat?.workspace?.name }
}

export function useTransition(workspaceId: string | null, chatId: string | undefined) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (transition: "start" | "stop") => {
      if (workspaceId === null) return
      await request("POST /api/experimental/workspaces/{workspace}/builds", { path: { workspace: workspaceId }, body: { transition } })
    },
    onError: (error, transition) => {
      toast(words.common.failed(transition === "start" ? words.panel.workspace.starts : words.panel.workspace.stops), { kind: "error", text: error.message })
    },
    onSettled: async () => {
      if (workspaceId === null) return
      await client.invalidateQueries({ queryKey: workspaceQuery(workspaceId).queryKey })
      if (chatId !== undefined) await client.invalidateQueries({ queryKey: queries.chat(chatId).queryKey })
    },
  })
}
