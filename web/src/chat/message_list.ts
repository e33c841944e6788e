/** Messages in the order of their ids. Every function gives back what it was given when nothing has changed. */
import type { ChatMessage } from "../api/schema"

export type Messages = readonly ChatMessage[]

/** Puts messages in, or in place of older versions of themselves. One of the same revision is the same message. */
export function withMessages(messages: Messages, news: Messages): Messages {
  let changed: ChatMessage[] | null = null
  for (const message of news) {
    const now = changed ?? messages
    const place = placeOf(now, message.id)
    const known = now[place]
    if (known?.id === message.id && known.revision === message.revision) continue
    changed ??= [...messages]
    changed.splice(place, known?.id === message.id ? 1 : 0, message)
  }
  return changed ?? messages
}

/** The same messages where `known` has them, so that what was made of them can be kept. */
export function recognised(messages: Messages, known: Messages): Messages {
  return messages.map((message) => {
    const before = known[placeOf(known, message.id)]
    return before?.id === message.id && before.revision === message.revision ? before : message
  })
}

export function newestId(messages: Messages): number {
  return messages.at(-1)?.id ?? 0
}

/** Where a message with this id is, or would be put. */
export function placeOf(messages: Messages, id: number): number {
  if (id > newestId(messages)) return messages.length
  let low = 0
  let high = messages.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = messages[middle]
    if (at && at.id < id) low = middle + 1
    else high = middle
  }
  return low
}
