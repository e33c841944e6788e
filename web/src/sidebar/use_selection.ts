/** Which chats are chosen, to do something with all of them. */
import { useCallback, useMemo, useRef, useState } from "react"
import type { Chat } from "../api/schema"

export interface Selected {
  /** null while nothing is being chosen. */
  ticked: ReadonlySet<string> | null
  tick: (id: string) => void
  tickAll: (ids: readonly string[]) => void
  /** A range is from the one that was ticked last. */
  onTick: (chat: Chat, isRange: boolean) => void
  leave: () => void
}

/** `order` is that of the list, as it is now. */
export function useSelection(order: readonly Chat[]): Selected {
  const [ticked, setTicked] = useState<ReadonlySet<string> | null>(null)
  const last = useRef<string | null>(null)
  const shown = useRef(order)
  shown.current = order
  const tick = useCallback((id: string) => {
    last.current = id
    setTicked((before) => toggled(before ?? new Set(), id))
  }, [])
  const tickAll = useCallback((ids: readonly string[]) => setTicked((before) => new Set([...(before ?? []), ...ids])), [])
  const onTick = useCallback(
    (chat: Chat, isRange: boolean) => {
      const ids = shown.current.map((one) => one.id)
      const from = last.current === null ? -1 : ids.indexOf(last.current)
      const to = ids.indexOf(chat.id)
      if (!isRange || from < 0) return tick(chat.id)
      last.current = chat.id
      tickAll(ids.slice(Math.min(from, to), Math.max(from, to) + 1))
    },
    [tick, tickAll],
  )
  const leave = useCallback(() => setTicked(null), [])
  return useMemo(() => ({ ticked, tick, tickAll, onTick, leave }), [ticked, tick, tickAll, onTick, leave])
}

export function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}
