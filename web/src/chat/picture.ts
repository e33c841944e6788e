/**
 * What is known of a chat: the twin of `core/stream_picture.py`, and held against the same fixtures.
 *
 * A picture never changes; `apply` makes the next one. What an event does not touch stays the same object, so that
 * whoever looks at a part of it can tell by identity whether that part has changed.
 */
import type { OpenCall, RetryPayload, StreamEvent } from "../api/events"
import type { ChatError, ChatMessage, ChatMessagesPage, ChatQueuedMessage, Status } from "../api/schema"
import { isFields } from "./guards"
import { addPart, isToolOutput, type LiveEntry } from "./live_parts"
import { type Messages, newestId, recognised, withMessages } from "./message_list"

export interface Picture {
  /** Where the stream goes on. */
  readonly lastId: string | null
  readonly messages: Messages
  /** There are older messages than those that were read. */
  readonly hasOlder: boolean
  readonly queue: readonly ChatQueuedMessage[]
  /** null: nobody has said yet. */
  readonly status: Status | null
  readonly error: ChatError | null
  /** Calls that wait for the client. */
  readonly action: readonly OpenCall[] | null
  readonly retry: RetryPayload | null
  /** Of the answer that is being written. `shownParts` says whether they are to be shown. */
  readonly parts: readonly LiveEntry[]
  /** What running tools say, by call. */
  readonly live: ReadonlyMap<string, string>
  /** The newest message when the answer began: with one that is newer, the answer is stored. null: it is void. */
  readonly partsAfter: number | null
  /** A history that is being sent anew. It takes the place of `messages` when it is whole. */
  readonly arriving: Messages | null
  /** Which attempt failed. */
  readonly retried: Attempt | null
}

/** What of a picture a chunk of an answer does not touch. */
export type SettledPicture = Pick<Picture, "messages" | "queue" | "status">

export interface Attempt {
  readonly history: number
  readonly attempt: number
}

export const emptyPicture: Picture = {
  lastId: null,
  messages: [],
  hasOlder: false,
  queue: [],
  status: null,
  error: null,
  action: null,
  retry: null,
  parts: [],
  live: new Map(),
  partsAfter: 0,
  arriving: null,
  retried: null,
}

/** A picture to begin with: the newest page of messages. The rest comes by the stream, after the newest of them. */
export function fromPage(page: ChatMessagesPage, known: Messages = []): Picture {
  const messages = recognised(byId(page.messages), known)
  return { ...emptyPicture, messages, hasOlder: page.has_more, queue: page.queued_messages, partsAfter: newestId(messages) }
}

/** Puts a page of older messages in front. */
export function withOlder(picture: Picture, page: ChatMessagesPage): Picture {
  const messages = withMessages(picture.messages, byId(page.messages))
  if (messages === picture.messages && picture.hasOlder === page.has_more) return picture
  return { ...picture, messages, hasOlder: page.has_more }
}

/** The parts of an answer that no stored message has taken over from. */
export function shownParts(picture: Picture): readonly LiveEntry[] {
  return picture.partsAfter !== null && newestId(picture.messages) <= picture.partsAfter ? picture.parts : none
}

const none: readonly LiveEntry[] = []

export function apply(picture: Picture, events: readonly StreamEvent[]): Picture {
  if (events.length === 0) return picture
  const batch = new Batch(picture)
  for (const event of events) batch.add(event)
  return batch.picture()
}

/** What one batch changes. Lists are copied when they are first written to. */
class Batch {
  private readonly before: Picture
  private now: { -readonly [K in keyof Picture]: Picture[K] }
  private isChanged = false
  private parts: LiveEntry[] | null = null
  private live: Map<string, string> | null = null
  private stored: ChatMessage[] = []

  constructor(before: Picture) {
    this.before = before
    this.now = { ...before }
  }

  picture(): Picture {
    this.store()
    return this.isChanged ? this.now : this.before
  }

  add(event: StreamEvent): void {
    if (event.id !== undefined && event.id !== null) this.set("lastId", event.id)
    if (event.type === "message") {
      this.stored.push(event.message)
      return
    }
    this.store()
    if (event.type === "history_reset") {
      this.set("arriving", [])
      this.set("partsAfter", null)
      return
    }
    this.swap(event)
    this.other(event)
  }

  private other(event: Exclude<StreamEvent, { type: "message" | "history_reset" }>): void {
    switch (event.type) {
      case "queue_update":
        return this.set("queue", event.queued_messages ?? [])
      case "status":
        return this.setStatus(statusOf(event.status))
      case "error":
        return this.set("error", event.error)
      case "action_required":
        return this.set("action", event.action_required.tool_calls)
      case "retry":
        this.set("retried", attemptOf(event))
        return this.set("retry", event.retry)
      case "preview_reset":
        this.forgetParts()
        return this.attemptIs(attemptOf(event))
      case "message_part":
        return this.addPiece(event.message_part)
    }
  }

  private set<K extends keyof Picture>(field: K, value: Picture[K]): void {
    if (this.now[field] === value) return
    this.now[field] = value
    this.isChanged = true
  }

  private store(): void {
    if (this.stored.length === 0) return
    const field = this.now.arriving === null ? "messages" : "arriving"
    this.set(field, withMessages(this.now[field] ?? [], this.stored))
    this.stored = []
  }

  /** A history that was sent anew is whole when something else comes: until then the old one stays in view. */
  private swap(event: StreamEvent): void {
    if (this.now.arriving === null || !settling.has(event.type)) return
    this.set("messages", recognised(this.now.arriving, this.now.messages))
    this.set("hasOlder", false)
    this.set("arriving", null)
  }

  private setStatus(status: Status | null): void {
    this.set("status", status)
    if (status !== "error") this.set("error", null)
    if (status !== "requires_action") this.set("action", null)
    if (status !== "running") this.set("retry", null)
  }

  private forgetParts(): void {
    if (this.now.parts.length > 0) this.set("parts", [])
    if (this.now.live.size > 0) this.set("live", emptyPicture.live)
    this.set("partsAfter", newestId(this.now.messages))
    this.parts = this.live = null
  }

  /** A retry that was waited for is over when another attempt has begun. */
  private attemptIs(attempt: Attempt): void {
    const failed = this.now.retried
    if (failed?.history !== attempt.history || failed.attempt !== attempt.attempt) this.set("retry", null)
  }

  private addPiece(message: Extract<StreamEvent, { type: "message_part" }>["message_part"]): void {
    const piece = message.part
    if (isToolOutput(piece)) {
      if (this.now.live.get(piece.tool_call_id) !== piece.result_delta) this.writableLive().set(piece.tool_call_id, piece.result_delta)
      return
    }
    if (message.seq === undefined || message.seq === null) return
    this.attemptIs(attemptOf(message))
    if (piece.type === "tool-result" && this.now.live.has(piece.tool_call_id)) this.writableLive().delete(piece.tool_call_id)
    addPart(this.writableParts(), message, piece)
  }

  private writableParts(): LiveEntry[] {
    if (this.parts === null) this.set("parts", (this.parts = [...this.now.parts]))
    return this.parts
  }

  private writableLive(): Map<string, string> {
    if (this.live === null) this.set("live", (this.live = new Map(this.now.live)))
    return this.live
  }
}

/** Kinds that come after all messages of a change. One that this app does not know says nothing about that. */
const settling: ReadonlySet<string> = new Set([
  "queue_update",
  "status",
  "error",
  "action_required",
  "retry",
  "preview_reset",
  "message_part",
])

function attemptOf(of: { history_version?: number; generation_attempt?: number }): Attempt {
  return { history: of.history_version ?? 0, attempt: of.generation_attempt ?? 0 }
}

const statuses: Readonly<Record<Status, true>> = { waiting: true, running: true, error: true, requires_action: true, interrupting: true }

function isStatus(value: unknown): value is Status {
  return typeof value === "string" && Object.hasOwn(statuses, value)
}

/** It is wrapped on the wire: `{"status": {"status": "running"}}`. */
function statusOf(told: unknown): Status | null {
  const status = isFields(told) ? told["status"] : told
  return isStatus(status) ? status : null
}

function byId(messages: Messages): Messages {
  return messages.toSorted((one, other) => one.id - other.id)
}
