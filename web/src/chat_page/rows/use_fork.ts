import { useLocation } from "wouter"
import type { OpenedChat } from "../../chat"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words"

/** Makes a chat of what was said up to a message, or of all of it, and goes there. */
export function useFork(opened: OpenedChat): (messageId?: number) => Promise<void> {
  const [, navigate] = useLocation()
  return async (messageId) => {
    try {
      const chat = await opened.actions.fork(messageId)
      navigate(`/chats/${chat.id}`)
      if (messageId !== undefined) toast(words.chat.forked, { text: chat.title })
    } catch (error) {
      toast(words.common.failed(words.chat.fork), { text: error instanceof Error ? error.message : "", kind: "error" })
    }
  }
}
