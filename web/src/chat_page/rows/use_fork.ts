import { useLocation } from "wouter"
import type { ChatMessage } from "../../api/schema"
import { draftOf, fromContent, giveBack, type OpenedChat } from "../../chat"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words"

/** Makes a chat of what was said up to a message, or of all of it, and goes there. */
export function useFork(opened: OpenedChat): (messageId?: number) => Promise<void> {
  const [, navigate] = useLocation()
  return (messageId) =>
    attempt(async () => {
      const chat = await opened.actions.fork(messageId)
      navigate(`/chats/${chat.id}`)
      if (messageId !== undefined) toast(words.chat.forked, { text: chat.title })
    })
}

/**
 * Makes a chat of what came before a message of one's own, and goes there with its words in the composer: nobody would answer
 * it at the end of a chat that rests. Before the first one there is nothing: its words begin a chat.
 */
export function useForkBefore(opened: OpenedChat): (message: ChatMessage) => Promise<void> {
  const [, navigate] = useLocation()
  return (message) =>
    attempt(async () => {
      const before = await idBefore(opened, message.id)
      const chat = before === null ? null : await opened.actions.fork(before)
      giveBack(draftOf(chat?.id ?? "new"), fromContent(message.content))
      navigate(chat ? `/chats/${chat.id}` : "/")
      toast(chat ? words.chat.forkedBefore : words.chat.begunAnew, { text: words.chat.forkedWords })
    })
}

/** Null: it is the first one. */
async function idBefore({ store, loadOlder }: OpenedChat, messageId: number): Promise<number | null> {
  const find = () => store.getState().picture.messages.findLast(({ id }) => id < messageId)
  if (!find() && store.getState().picture.hasOlder) await loadOlder()
  const found = find()
  if (!found && store.getState().picture.hasOlder) throw new Error(words.chat.olderFailed)
  return found?.id ?? null
}

async function attempt(fork: () => Promise<void>): Promise<void> {
  try {
    await fork()
  } catch (error) {
    toast(words.common.failed(words.chat.fork), { text: error instanceof Error ? error.message : "", kind: "error" })
  }
}
