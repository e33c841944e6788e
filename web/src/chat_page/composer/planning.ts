/** Whether a chat plans, which is stored with it: the same in every tab. */
import { useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Chat } from "../../api/schema"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words"
import type { Planning } from "./ComposerBox"

export function usePlanning(chat: Chat | undefined): Planning | undefined {
  const client = useQueryClient()
  if (!chat) return undefined
  const isOn = chat.plan_mode === "plan"
  const show = (now: boolean) =>
    client.setQueryData(queries.chat(chat.id).queryKey, (known) => known && { ...known, plan_mode: now ? ("plan" as const) : null })
  const set = async (next: boolean) => {
    show(next)
    try {
      await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: { plan_mode: next ? "plan" : "" } })
    } catch (error) {
      show(isOn)
      toast(words.common.failed(words.composer.planFailed), { kind: "error", text: error instanceof Error ? error.message : "" })
    }
  }
  return { isOn, set: (next) => void set(next) }
}
