/** The edit of a message that waits: kept when one goes to another chat, or leaves the page. One for each chat. */
import { useMemo } from "react"
import { keptText, useKept } from "../../browser/kept"

export interface QueueEdit {
  readonly id: number
  /** What it was. */
  readonly before: string
  readonly text: string
}

export function useQueueEdit(chatId: string): [QueueEdit | null, (edit: QueueEdit | null) => void] {
  const store = keptText("draft", `${chatId}.queued`)
  const [kept, keep] = useKept(store)
  const edit = useMemo(() => (kept === "" ? null : (JSON.parse(kept) as QueueEdit)), [kept])
  return [edit, (next) => (next === null ? store.forget() : keep(JSON.stringify(next)))]
}
