import { describe, expect, it } from "vitest"
import type { ChatMessage } from "../api/schema"
import { summaryTool } from "./calls"
import { asked, call, message, result, said } from "./testing/made"
import { contextUse, durationMs, spent } from "./usage"

const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120, reasoning_tokens: null, cache_creation_tokens: 5, cache_read_tokens: 75, context_limit: 1000 }
const answer = (id: number, more: Partial<ChatMessage> = {}): ChatMessage => ({ ...said(id), usage, cost_micros: 10, runtime_ms: 500, ...more })

describe("the context", () => {
  it("is what the next prompt will hold", () => {
    expect(contextUse([asked(1), answer(2), asked(3)])).toEqual({ used: 200, limit: 1000, percent: 20 })
  })

  it("takes the total where nothing else is told", () => {
    const only = { ...usage, input_tokens: null, cache_read_tokens: null, cache_creation_tokens: null, total_tokens: 300, context_limit: null }
    expect(contextUse([answer(2, { usage: only })])).toEqual({ used: 300, limit: null, percent: null })
  })

  it("is not known before the first answer, and after a compaction", () => {
    expect(contextUse([asked(1)])).toEqual({ used: null, limit: null, percent: null })
    const summary = { ...message(4, "assistant", call("s", summaryTool)), usage: { ...usage, context_limit: null } }
    expect(contextUse([answer(2), summary, message(5, "tool", result("s"))])).toEqual({ used: null, limit: 1000, percent: null })
  })
})

describe("what was spent", () => {
  it("adds up answers, and says when some have no price", () => {
    expect(spent([asked(1), answer(2), answer(3, { cost_micros: 0 })])).toEqual({ costMicros: 10, isPartial: false, runtimeMs: 1000 })
    expect(spent([answer(2), answer(3, { cost_micros: null })])).toMatchObject({ costMicros: 10, isPartial: true })
    expect(spent([asked(1)])).toEqual({ costMicros: null, isPartial: false, runtimeMs: 0 })
  })
})

it("takes the time between two times", () => {
  expect(durationMs("2026-01-01T12:00:00.500Z", "2026-01-01T12:00:02Z")).toBe(1500)
  expect(durationMs(null, "2026-01-01T12:00:02Z")).toBe(null)
  expect(durationMs("2026-01-01T12:00:02Z", "2026-01-01T12:00:00Z")).toBe(null)
})
