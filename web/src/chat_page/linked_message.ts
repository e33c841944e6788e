/** A link to a message: `/chats/{id}#m{message}`. */
import { type RefObject, useEffect, useRef, useState } from "react"
import { useLocationProperty } from "wouter/use-browser-location"
import { toast } from "../ui/floating/toast"
import { words } from "../words"
import type { TimelineHandle } from "./Timeline"

export function linkedMessage(hash: string): number | null {
  const id = Number(/^#m(\d{1,15})$/.exec(hash)?.[1])
  return id > 0 ? id : null
}

/** What a reader does who has seen where they are. */
const ACTS = ["keydown", "pointerdown", "wheel"] as const

/**
 * Goes to the message that the address names, as soon as the chat was read, and whenever it names another: once, since a chat
 * may be read anew. Gives it until the reader does something.
 */
export function useLinkedMessage(timeline: RefObject<TimelineHandle | null>, isRead: boolean): number | null {
  const linked = linkedMessage(useLocationProperty(() => location.hash))
  const shown = useRef<number | null>(null)
  const [seen, setSeen] = useState<number | null>(null)
  useEffect(() => {
    if (!isRead || linked === shown.current) return
    shown.current = linked
    if (linked === null) return
    void timeline.current?.show(linked).then((row) => row ?? toast(words.chat.messageGone, { id: "link" }))
  }, [timeline, linked, isRead])
  useEffect(() => {
    setSeen(null)
    if (linked === null) return
    const acted = new AbortController()
    const see = () => {
      setSeen(linked)
      acted.abort()
    }
    for (const act of ACTS) window.addEventListener(act, see, { capture: true, passive: true, signal: acted.signal })
    return () => acted.abort()
  }, [linked])
  return linked === seen ? null : linked
}
