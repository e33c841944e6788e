/** A history cut into turns: what a person asked, and all that came of it. */
import type { ChatMessage } from "../api/schema"
import type { Messages } from "./message_list"

export interface Turn {
  /** The id of the message before the first one. Negative: not known, older messages were not read. */
  readonly previousId: number
  readonly messages: Messages
}

const cut = new WeakMap<Messages, { hasOlder: boolean; turns: readonly Turn[] }>()
const known = new WeakMap<ChatMessage, Turn>()

/** The same turns while their messages are the same. */
export function turnsOf(messages: Messages, hasOlder: boolean): readonly Turn[] {
  const before = cut.get(messages)
  if (before?.hasOlder === hasOlder) return before.turns
  const turns: Turn[] = []
  let begin = 0
  for (let place = 1; place <= messages.length; place++) {
    const next = messages[place]
    if (next && !isPrompt(next)) continue
    turns.push(turnOf(messages, begin, place, hasOlder))
    begin = place
  }
  cut.set(messages, { hasOlder, turns })
  return turns
}

/** Instruction files and skills are stored as a user's message too, but nobody has asked for anything with them. */
export function isPrompt(message: ChatMessage): boolean {
  return message.role === "user" && message.content.some((part) => written.has(part.type))
}

const written: ReadonlySet<string> = new Set(["text", "file", "file-reference"])

function turnOf(messages: Messages, begin: number, end: number, hasOlder: boolean): Turn {
  const first = messages[begin]
  const previousId = messages[begin - 1]?.id ?? (hasOlder && first ? -first.id : 0)
  const before = first && known.get(first)
  if (before?.previousId === previousId && isSame(before.messages, messages, begin, end)) return before
  const turn = { previousId, messages: messages.slice(begin, end) }
  if (first) known.set(first, turn)
  return turn
}

function isSame(turn: Messages, messages: Messages, begin: number, end: number): boolean {
  return turn.length === end - begin && turn.every((message, place) => message === messages[begin + place])
}
