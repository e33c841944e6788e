/** Where messages are among the rows of a timeline. */
import type { TimelineRow } from "../chat"

/** The first row of a message; of one without a row of its own, the row that it ended up in. -1: there is none. */
export function placeOfMessage(rows: readonly TimelineRow[], messageId: number): number {
  const own = rows.findIndex((row) => messagesOf(row).includes(messageId))
  if (own >= 0) return own
  const end = rows.findIndex((row) => messagesOf(row).some((id) => id > messageId))
  return end < 0 ? rows.length - 1 : Math.max(0, end - 1)
}

export function messagesOf(row: TimelineRow): readonly number[] {
  switch (row.kind) {
    case "user":
      return [row.message.id]
    case "send":
      return row.of.message ? [row.of.message.id] : []
    case "steps":
      return known(row.steps)
    case "reasoning":
      return known(row.thoughts)
    case "summary":
      return known([row.call])
    default:
      return known([row])
  }
}

function known(blocks: readonly { readonly messageId: number | null }[]): number[] {
  return blocks.flatMap(({ messageId }) => (messageId === null ? [] : [messageId]))
}

/** The next row that a person wrote, further up (-1) or down (1) from a place. */
export function promptBeside(rows: readonly TimelineRow[], place: number, by: 1 | -1): number {
  for (let at = place + by; at >= 0 && at < rows.length; at += by) if (rows[at]?.kind === "user") return at
  return -1
}
