import { describe, expect, it } from "vitest"
import type { Connection } from "../api/lasting"
import { type Beside, liveStatus } from "./live_status"
import { apply, type Picture } from "./picture"
import { asked, part, picture, previewReset, said, text } from "./testing/made"

const open: Connection = { state: "open" }
const lost: Connection = { state: "waiting", attempt: 2, until: 99 }
const retry = { attempt: 3, delay_ms: 8000, error: "Overloaded.", kind: "overloaded", provider: "Anthropic", retrying_at: "2026-01-01T12:00:08Z" }
const error = { message: "No.", retryable: true }
const running = picture([asked(1)], "running")
const writing = apply(running, [previewReset(), part(text("so"))])

const cases: [string, Picture, Partial<Beside>, object][] = [
  ["a chat that rests", picture([asked(1), said(2)]), {}, { phase: "idle" }],
  ["nothing yet", running, {}, { phase: "starting" }],
  ["the first words", writing, {}, { phase: "streaming" }],
  ["a step is stored, the next has not begun", picture([asked(1), said(2)], "running"), {}, { phase: "streaming" }],
  ["no room", running, { isQueuedForCapacity: true }, { phase: "queued" }],
  ["no room, as was said before it began", writing, { isQueuedForCapacity: true }, { phase: "streaming" }],
  ["a retry", { ...writing, retry }, {}, { phase: "retrying", retry }],
  ["a retry, with the connection lost", { ...writing, retry }, { connection: lost }, { phase: "retrying" }],
  ["lost while it writes", writing, { connection: lost }, { phase: "reconnecting", attempt: 2, until: 99 }],
  ["trying again", writing, { connection: { state: "connecting", attempt: 2 } }, { phase: "reconnecting", until: null }],
  ["connecting for the first time", writing, { connection: { state: "connecting", attempt: 0 } }, { phase: "streaming" }],
  ["lost while it rests", picture([asked(1), said(2)]), { connection: lost }, { phase: "idle" }],
  ["lost while something is sent", picture([asked(1), said(2)]), { connection: lost, isSending: true }, { phase: "reconnecting" }],
  ["a stop that is asked for", writing, { isStopping: true }, { phase: "interrupting" }],
  ["a stop under way", { ...writing, status: "interrupting" }, {}, { phase: "interrupting" }],
  ["a stop that came too late", picture([asked(1), said(2)]), { isStopping: true }, { phase: "idle" }],
  ["calls for the client", { ...running, status: "requires_action", action: [{ tool_call_id: "c", tool_name: "ask" }] }, {}, { phase: "needs_you", calls: [{ tool_call_id: "c" }] }],
  ["a failure", { ...running, status: "error", error }, {}, { phase: "failed", error }],
]

describe("what is said about the turn", () => {
  it.each(cases)("%s", (_, of, beside, expected) => expect(liveStatus(of, { connection: open, ...beside })).toMatchObject(expected))
})
