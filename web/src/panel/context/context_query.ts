/** What the inspector asks for beside the chat's own record. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Chat } from "../../api/schema"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words"

const thresholds = queryOptions({
  queryKey: ["compaction-thresholds"],
  queryFn: ({ signal }) => request("GET /api/experimental/chats/config/user-compaction-thresholds", { signal }),
})

/** Per cent of the context from which a conversation is summarized; one's own goes before the model's. null: not known. */
export function useThreshold(chat: Chat): number | null {
  const own = useQuery(thresholds)
  const models = useQuery(queries.models)
  const id = chat.last_model_config_id
  const chosen = own.data?.thresholds.find((one) => one.model_config_id === id)?.threshold_percent
  return chosen ?? models.data?.find((one) => one.id === id)?.compression_threshold ?? null
}

/** Gives the chat the instruction files and skills that are there now. */
export function useRefresh(chatId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => request("PUT /api/experimental/chats/{chat}/context", { path: { chat: chatId } }),
    onSuccess: async () => {
      toast(words.panel.context.refreshed)
      await client.invalidateQueries({ queryKey: queries.chat(chatId).queryKey })
    },
    onError: (error) => void toast(words.common.failed(words.panel.context.refreshing), { kind: "error", text: error.message }),
  })
}
