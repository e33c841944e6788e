import { useEffect, useRef } from "react"
import { request } from "../api/request"

/**
 * Says that a turn was read when it ends in front of the reader: the server takes only what was there when the page came for read,
 * and other devices would mark the rest until this one leaves.
 */
export function useMarkedRead(chatId: string, newest: number, isResting: boolean): void {
  const marked = useRef<number | null>(null)
  useEffect(() => {
    if (newest === 0) return undefined
    marked.current ??= newest
    if (!isResting) return undefined
    const mark = () => {
      if (document.visibilityState !== "visible" || newest <= (marked.current ?? 0)) return
      marked.current = newest
      // Not said: it is when the page is left.
      request("PUT /api/experimental/chats/{chat}/read", { path: { chat: chatId }, body: { message_id: newest } }).catch(() => undefined)
    }
    mark()
    document.addEventListener("visibilitychange", mark)
    return () => document.removeEventListener("visibilitychange", mark)
  }, [chatId, newest, isResting])
}
