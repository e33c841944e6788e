/** What the page says about the turn, in one word and what belongs to it. */
import type { OpenCall, RetryPayload } from "../api/events"
import type { Connection } from "../api/lasting"
import type { ChatError } from "../api/schema"
import { type Picture, shownParts } from "./picture"

export type LiveStatus =
  /** The model is asked again at `retry.retrying_at`. */
  | { readonly phase: "retrying"; readonly retry: RetryPayload }
  /** `until`: when the next try is; null while it is under way. */
  | { readonly phase: "reconnecting"; readonly attempt: number; readonly until: number | null }
  | { readonly phase: "interrupting" }
  /** The chat waits for results of the client's tools. */
  | { readonly phase: "needs_you"; readonly calls: readonly OpenCall[] }
  /** Other chats are at work; this one begins when there is room. */
  | { readonly phase: "queued" }
  /** Nothing of the answer is there yet. */
  | { readonly phase: "starting" }
  | { readonly phase: "streaming" }
  | { readonly phase: "failed"; readonly error: ChatError | null }
  | { readonly phase: "idle" }

export interface Beside {
  readonly connection: Connection
  /** Of the chat's record: it waits for room. */
  readonly isQueuedForCapacity?: boolean
  /** A stop was asked for and is not answered yet. */
  readonly isStopping?: boolean
  /** Something was sent and is not answered yet. */
  readonly isSending?: boolean
}

export function liveStatus(picture: Picture, beside: Beside): LiveStatus {
  const { status, retry } = picture
  if (retry) return { phase: "retrying", retry }
  const lost = reconnecting(picture, beside)
  if (lost) return lost
  if (status === "interrupting" || (status === "running" && beside.isStopping)) return { phase: "interrupting" }
  if (status === "requires_action") return { phase: "needs_you", calls: picture.action ?? [] }
  if (status === "running") return { phase: isBegun(picture) ? "streaming" : beside.isQueuedForCapacity ? "queued" : "starting" }
  if (status === "error") return { phase: "failed", error: picture.error }
  return { phase: "idle" }
}

/** It is said to be lost only when something is being waited for: a chat that rests misses nothing. */
function reconnecting(picture: Picture, { connection, isSending }: Beside): LiveStatus | null {
  const isAwaited = isSending || picture.status === null || picture.status === "running" || picture.status === "interrupting"
  if (!isAwaited || connection.state === "open" || connection.state === "ended" || connection.attempt === 0) return null
  return { phase: "reconnecting", attempt: connection.attempt, until: connection.state === "waiting" ? connection.until : null }
}

function isBegun(picture: Picture): boolean {
  return shownParts(picture).length > 0 || picture.messages.at(-1)?.role !== "user"
}
