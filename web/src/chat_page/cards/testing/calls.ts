/** Calls for stories and tests, as short as they can be written. Keys are never used twice: lines remember by them whether they are open. */
import type { CallBlock, CallState } from "../../../chat"
import { emptyPicture, type Picture } from "../../../chat"
import { shownChat } from "../../../chat/testing/opened"

let numbered = 0
const began = "2026-01-01T12:00:00Z"

export interface Given extends Partial<CallBlock> {
  /** Milliseconds. */
  took?: number
}

export function call(name: string, state: CallState, { took = 200, ...given }: Given = {}): CallBlock {
  numbered += 1
  const isOver = state !== "writing" && state !== "running"
  return {
    kind: "call",
    key: `story${numbered}`,
    messageId: null,
    callId: `call${numbered}`,
    name,
    state,
    args: undefined,
    result: undefined,
    error: "",
    output: null,
    isMedia: false,
    isOfProvider: false,
    isRewritten: false,
    mcpServerId: null,
    startedAt: isOver ? began : new Date().toISOString(),
    endedAt: isOver ? new Date(Date.parse(began) + took).toISOString() : null,
    ...given,
  }
}

/** A call that was answered with an error in words. */
export function refused(name: string, args: unknown, error: string): CallBlock {
  return call(name, "failed", { args, result: { error }, error })
}

export function interrupted(name: string, args: unknown): CallBlock {
  const error = "The user interrupted this turn before this call was answered."
  return call(name, "interrupted", { args, result: { error }, error })
}

export function chatOf(picture: Partial<Picture> = {}) {
  return shownChat({ ...emptyPicture, status: "running", ...picture })
}
