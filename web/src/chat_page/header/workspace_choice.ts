/** The workspaces that a chat could work in, and taking one of them. */
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Chat } from "../../api/schema"
import type { MenuEntry } from "../../ui/floating/menu_items"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words"

const mine = queryOptions({
  queryKey: ["workspaces", "mine"],
  queryFn: ({ signal }) => request("GET /api/experimental/workspaces", { query: { owner: "me", limit: 50 }, signal }),
  staleTime: 10_000,
})

export interface WorkspaceChoice {
  entries: MenuEntry[]
  /** null: it is to work without one. */
  take: (workspaceId: string | null) => void
}

/** Asked for when somebody wants to see them. */
export function useWorkspaceChoice(chat: Chat, isAsked: boolean): WorkspaceChoice {
  const client = useQueryClient()
  const read = useQuery({ ...mine, enabled: isAsked })
  const text = words.panel.workspace
  const take = async (workspaceId: string | null) => {
    try {
      await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: { workspace_id: workspaceId } })
      await client.invalidateQueries({ queryKey: queries.chat(chat.id).queryKey })
    } catch (error) {
      toast(words.common.failed(text.attaches), { kind: "error", text: error instanceof Error ? error.message : "" })
    }
  }
  const there = (read.data?.workspaces ?? []).filter(({ state }) => state !== "deleted" && state !== "deleting")
  const note = read.isError ? text.unread : read.data === undefined ? words.common.loading : text.noneKnown
  return {
    entries:
      there.length === 0
        ? [{ heading: note }]
        : there.map(({ id, name, state }) => ({
            label: name,
            hint: text.states[state],
            isChecked: id === chat.workspace_id,
            isOneOf: true,
            isDisabled: chat.status === "running",
            choose: () => void take(id),
          })),
    take: (workspaceId) => void take(workspaceId),
  }
}
