/** What a chat has used: context, money and time. Money is in millionths of a dollar. */
import type { ChatMessage, ChatMessageUsage } from "../api/schema"
import { summaryTool } from "./calls"
import type { Messages } from "./message_list"

export interface ContextUse {
  /** Tokens that the next prompt will hold at least. null: not known, as after a compaction. */
  readonly used: number | null
  readonly limit: number | null
  /** 0 to 100, and more when it is over. */
  readonly percent: number | null
}

export interface Spent {
  /** null: no call of it has a price. */
  readonly costMicros: number | null
  /** Some call of it has no price, so it was more. */
  readonly isPartial: boolean
  readonly runtimeMs: number
}

/** As the newest answer tells. */
export function contextUse(messages: Messages): ContextUse {
  const newest = messages.findLast((message) => message.role === "assistant")
  const usage = newest?.usage
  if (!newest || !usage || isSummary(newest)) return { used: null, limit: usage?.context_limit ?? lastLimit(messages), percent: null }
  const used = heldTokens(usage)
  const limit = usage.context_limit
  return { used, limit, percent: used !== null && limit ? (100 * used) / limit : null }
}

/** Its own prompt, and what was answered: `held_tokens` of `core/compaction.py`. */
export function heldTokens(usage: ChatMessageUsage): number | null {
  const prompt = (usage.input_tokens ?? 0) + (usage.cache_read_tokens ?? 0) + (usage.cache_creation_tokens ?? 0)
  return prompt > 0 ? prompt + (usage.output_tokens ?? 0) : usage.total_tokens
}

/** Of a turn, or of as much of a chat as was read; the server knows the sum of all of it (`GET …/cost`). */
export function spent(messages: Messages): Spent {
  let costMicros: number | null = null
  let isPartial = false
  let runtimeMs = 0
  for (const message of messages) {
    if (message.role !== "assistant") continue
    runtimeMs += message.runtime_ms ?? 0
    if (typeof message.cost_micros === "number") costMicros = (costMicros ?? 0) + message.cost_micros
    else isPartial = true
  }
  return { costMicros, isPartial, runtimeMs }
}

/** Milliseconds between two times of the server; null when one is missing or makes no sense. */
export function durationMs(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null
  const between = Date.parse(to) - Date.parse(from)
  return Number.isFinite(between) && between >= 0 ? between : null
}

export function isSummary(message: ChatMessage): boolean {
  return message.content.some((part) => part.type === "tool-call" && part.tool_name === summaryTool)
}

function lastLimit(messages: Messages): number | null {
  return messages.findLast((message) => typeof message.usage?.context_limit === "number")?.usage?.context_limit ?? null
}
