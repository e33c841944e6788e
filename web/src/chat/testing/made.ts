/** Messages and events for tests, as short as they can be written. */
import type { LivePiece, Part, StreamEvent } from "../../api/events"
import type { ChatMessage, ChatMessagesPage, Status } from "../../api/schema"
import { emptyPicture, type Picture } from "../picture"

export const chatId = "00000000-0000-0000-0000-000000000007"
const at = "2026-01-01T12:00:00Z"

export function message(id: number, role: ChatMessage["role"], ...content: Part[]): ChatMessage {
  return { id, chat_id: chatId, created_at: at, revision: id, role, content }
}

export function text(words: string): Part {
  return { type: "text", text: words }
}

export function thought(words: string): Part {
  return { type: "reasoning", text: words, created_at: at }
}

export function call(id: string, name = "execute", args: unknown = { command: "ls" }): Part {
  return { type: "tool-call", tool_call_id: id, tool_name: name, args, created_at: at }
}

export function result(id: string, given: unknown = { success: true, output: "a" }, isError = false): Part {
  const part: Part = { type: "tool-result", tool_call_id: id, tool_name: "execute", result: given, created_at: at }
  return isError ? { ...part, is_error: true } : part
}

export const asked = (id: number, words = `question ${id}`) => message(id, "user", text(words))
export const said = (id: number, words = `answer ${id}`) => message(id, "assistant", text(words))

export function page(messages: readonly ChatMessage[], hasMore = false): ChatMessagesPage {
  return { messages: messages.toReversed(), queued_messages: [], has_more: hasMore }
}

export function picture(messages: readonly ChatMessage[], status: Status = "waiting"): Picture {
  return { ...emptyPicture, messages, status, partsAfter: messages.at(-1)?.id ?? 0 }
}

/** Events as the server sends them: the status is wrapped there. */
export function wire(value: unknown): StreamEvent {
  return value as StreamEvent
}

export const stored = (one: ChatMessage, id = `m${one.id}`) => wire({ id, type: "message", chat_id: chatId, message: one })
export const status = (now: Status, id = `s${now}`) => wire({ id, type: "status", chat_id: chatId, status: { status: now } })
export const previewReset = (history = 1, attempt = 1) =>
  wire({ id: `p${history}.${attempt}`, type: "preview_reset", chat_id: chatId, history_version: history, generation_attempt: attempt })

let numbered = 0

export function part(piece: LivePiece, role = "assistant"): StreamEvent {
  numbered += 1
  const message_part = { history_version: 1, generation_attempt: 1, seq: numbered, role, part: piece }
  return wire({ id: `l${numbered}`, type: "message_part", chat_id: chatId, message_part })
}

export function output(callId: string, words: string): StreamEvent {
  const piece = { type: "tool-result", tool_call_id: callId, result_delta: words, result_reset: true }
  return wire({ type: "message_part", chat_id: chatId, message_part: { history_version: 1, generation_attempt: 1, role: "tool", part: piece } })
}
