/**
 * The server's half of a chat's stream, small: `core/stream.py` and `server/stream/reading.py` without their worries.
 * What a client has seen is in the id of its last event, and everything else follows from that.
 */
import type { LivePiece, Part, StreamEvent } from "../../api/events"
import type { ChatMessage, ChatMessagesPage, ChatQueuedMessage, Status } from "../../api/schema"
import { chatId, wire } from "./made"

interface Preview {
  history: number
  attempt: number
  seq: number
}

/** What one client has seen. -1 and null stand for: nobody knows, so it is sent. */
interface Seen {
  snapshot: number
  isWhole: boolean
  history: number
  through: number | null
  queue: number
  retry: number
  status: Status | null
  error: string | null
  preview: Preview | null
}

const letters = { messages: "", queue: "q", status: "s", error: "e", retry: "r", preview: "p" }
type Place = keyof typeof letters
const places: readonly string[] = Object.keys(letters)

export class SimulatedServer {
  status: Status = "waiting"
  error: string | null = null
  retry: { attempt: number; of: [number, number] } | null = null
  queue: ChatQueuedMessage[] = []
  parts: { role: string; piece: LivePiece }[] = []
  private rows: { message: ChatMessage; isHidden: boolean }[] = []
  private snapshot = 1
  private history = 1
  private queueVersion = 0
  private retryVersion = 0
  private attempt = 0
  private ids = 0

  get messages(): ChatMessage[] {
    return this.rows.filter((row) => !row.isHidden).map((row) => row.message)
  }

  // What happens

  send(content: Part[]): { message?: ChatMessage; queued_message?: ChatQueuedMessage } {
    this.snapshot += 1
    if (this.status === "running") {
      const queued = { id: ++this.ids, chat_id: chatId, content, created_at: "" }
      this.setQueue([...this.queue, queued])
      return { queued_message: queued }
    }
    return { message: this.begin(content) }
  }

  write(piece: LivePiece, role = "assistant"): void {
    if (this.status === "running" && this.retry === null) this.parts.push({ role, piece })
  }

  /** Stores what was written, and goes on. */
  step(): void {
    if (this.status !== "running" || this.parts.length === 0) return
    this.snapshot += 1
    this.store()
    this.attempt = 1
  }

  finish(): void {
    if (this.status !== "running") return
    this.snapshot += 1
    this.store()
    const [next, ...rest] = this.queue
    if (next) {
      this.setQueue(rest)
      this.begin(next.content)
    } else this.rest("waiting")
  }

  fail(): void {
    if (this.status !== "running") return
    this.snapshot += 1
    this.error = `failed at ${this.snapshot}`
    this.rest("error")
  }

  retryLater(): void {
    if (this.status !== "running" || this.retry) return
    this.snapshot += 1
    this.retryVersion = this.snapshot
    this.retry = { attempt: this.attempt, of: [this.history, this.attempt] }
  }

  tryAgain(): void {
    if (!this.retry) return
    this.snapshot += 1
    this.retry = null
    this.attempt += 1
    this.parts = []
  }

  edit(place: number, content: Part[]): void {
    const prompts = this.messages.filter((message) => message.role === "user")
    const edited = prompts[place % prompts.length]
    if (edited) this.replace(edited.id, content)
  }

  /** null: there is no such message any more. */
  replace(id: number, content: Part[]): ChatMessage | null {
    if (!this.messages.some((message) => message.id === id)) return null
    this.snapshot += 1
    for (const row of this.rows) if (row.message.id >= id) row.isHidden = true
    this.setQueue([])
    return this.begin(content)
  }

  page(limit: number, beforeId = Infinity): ChatMessagesPage {
    const found = this.messages.filter((message) => message.id < beforeId).toReversed()
    return { messages: found.slice(0, limit), queued_messages: this.queue, has_more: found.length > limit }
  }

  private begin(content: Part[]): ChatMessage {
    const message = this.add("user", content)
    this.parts = []
    this.error = this.retry = null
    this.status = "running"
    this.attempt = 1
    return message
  }

  private rest(status: Status): void {
    this.status = status
    this.retry = null
    this.parts = []
    this.attempt = 0
    this.history = this.snapshot
  }

  private setQueue(queue: ChatQueuedMessage[]): void {
    this.queue = queue
    this.queueVersion = this.snapshot
  }

  private add(role: ChatMessage["role"], content: Part[]): ChatMessage {
    this.ids += 1 + (this.snapshot % 2)
    const message = { id: this.ids, chat_id: chatId, created_at: "", revision: this.snapshot, role, content }
    this.rows.push({ message, isHidden: false })
    this.history = this.snapshot
    return message
  }

  private store(): void {
    const content = joined(this.parts.map((part) => part.piece))
    const results = content.filter((part) => part.type === "tool-result")
    const own = content.filter((part) => part.type !== "tool-result")
    if (own.length > 0) this.add("assistant", own)
    for (const result of results) this.add("tool", [result])
    this.parts = []
    this.retry = null
  }

  // What a client gets

  begun(after: string | null, afterId: number): Seen {
    const nothing = { snapshot: -1, isWhole: false, history: -1, queue: -1, retry: -1, status: null, error: null, preview: null }
    if (after === null) return { ...nothing, through: afterId }
    const part = /^(\d+)\.(\d+)\.(\d+)$/.exec(after)
    if (part) {
      const preview = previewOf(part.slice(1))
      const version = preview.history
      return { ...nothing, snapshot: version, isWhole: true, history: version, through: null, queue: version, retry: version, preview }
    }
    const [, snapshot, through, letter, held] = /^(\d+)\.(\d+)([qserp]?)(?:\.(.*))?$/.exec(after) ?? []
    const version = Number(snapshot)
    const place = Object.values(letters).indexOf(letter ?? "")
    return {
      ...nothing,
      snapshot: version,
      isWhole: letter === "p",
      history: place > 0 ? version : -1,
      through: Number(through),
      queue: place >= places.indexOf("queue") ? version : -1,
      retry: place >= places.indexOf("retry") ? version : -1,
      preview: held ? previewOf(held.split(".")) : null,
    }
  }

  /** All that is new for a client, which has then seen it. */
  news(seen: Seen): StreamEvent[] {
    const events: StreamEvent[] = []
    if (this.snapshot > seen.snapshot || !seen.isWhole) this.sync(seen, events)
    const { preview } = seen
    if (preview && preview.history === this.history && preview.attempt === this.attempt) {
      for (; preview.seq < this.parts.length; ) {
        const part = this.parts[preview.seq]
        preview.seq += 1
        const message_part = { history_version: this.history, generation_attempt: this.attempt, seq: preview.seq, role: part?.role, part: part?.piece }
        events.push(wire({ id: idOf(preview), type: "message_part", chat_id: chatId, message_part }))
      }
    }
    return events
  }

  private sync(seen: Seen, events: StreamEvent[]): void {
    const add = (place: Place, type: string, fields: object = {}) => {
      const held = seen.preview ? `.${idOf(seen.preview)}` : ""
      events.push(wire({ id: `${this.snapshot}.${seen.through}${letters[place]}${held}`, type, chat_id: chatId, ...fields }))
    }
    this.syncMessages(seen, add)
    if (this.queueVersion > seen.queue) add("queue", "queue_update", { queued_messages: this.queue })
    if (this.status !== seen.status) add("status", "status", { status: { status: this.status } })
    if (this.error && (this.status !== seen.status || this.error !== seen.error)) add("error", "error", { error: { message: this.error, retryable: true } })
    const attempt = { history_version: this.history, generation_attempt: this.attempt }
    if (this.retry && this.retryVersion > seen.retry) add("retry", "retry", { retry: { attempt: this.retry.attempt }, ...attempt })
    const held = seen.preview
    if (!held || held.history !== this.history || (this.attempt > 0 && held.attempt !== this.attempt)) {
      seen.preview = { history: this.history, attempt: this.attempt, seq: 0 }
      add("preview", "preview_reset", attempt)
    }
    Object.assign(seen, { snapshot: this.snapshot, isWhole: true, history: this.history, status: this.status, error: this.error })
    Object.assign(seen, { queue: Math.max(seen.queue, this.queueVersion), retry: Math.max(seen.retry, this.retryVersion) })
  }

  /** A version may have several messages. If one of the user's follows, an edit may have hidden the last of them: nobody knows. */
  private lastOf(history: number): number | undefined {
    const { messages } = this
    const place = messages.findLastIndex((message) => message.revision === history)
    return messages[place + 1]?.role === "user" ? undefined : messages[place]?.id
  }

  private syncMessages(seen: Seen, add: (place: Place, type: string, fields?: object) => void): void {
    if (this.history <= seen.history) {
      seen.through ??= this.messages.at(-1)?.id ?? 0
      return
    }
    const known = seen.through === null ? this.lastOf(seen.history) : seen.through
    const isThere = known === 0 || this.messages.some((message) => message.id === known)
    seen.through = isThere && known !== undefined ? known : 0
    if (!isThere) add("messages", "history_reset")
    for (const message of this.messages) {
      if (message.id <= seen.through) continue
      seen.through = message.id
      add("messages", "message", { message })
    }
  }
}

function previewOf([history, attempt, seq]: string[]): Preview {
  return { history: Number(history), attempt: Number(attempt), seq: Number(seq) }
}

function idOf({ history, attempt, seq }: Preview): string {
  return `${history}.${attempt}.${seq}`
}

/** Pieces of text as the accumulator would store them. */
function joined(pieces: readonly LivePiece[]): Part[] {
  const parts: Part[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if ("args_delta" in piece || "result_delta" in piece) continue
    if (piece.type === "text" && last?.type === "text") parts[parts.length - 1] = { ...last, text: last.text + piece.text }
    else parts.push(piece)
  }
  return parts
}
