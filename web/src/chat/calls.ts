/** Calls of tools, each joined with what came of it. */
import type { Part, ToolCallDelta, ToolCallPart, ToolResultPart } from "../api/events"
import { isFields, textOf } from "./guards"
import { partialJson } from "./partial_json"

/** `writing`: its arguments are not whole. `interrupted`: it was stopped, or nobody waits for it any more. */
export type CallState = "writing" | "running" | "done" | "failed" | "interrupted"

export interface CallBlock {
  readonly kind: "call"
  readonly key: string
  readonly messageId: number | null
  readonly callId: string
  readonly name: string
  readonly state: CallState
  /** As JSON values; while it is being written, as far as it came. undefined: none. */
  readonly args: unknown
  readonly result: unknown
  /** Why it failed or stopped; empty when it did not. */
  readonly error: string
  /** What it says while it runs. null when it said nothing yet, or has a result. */
  readonly output: string | null
  readonly isMedia: boolean
  readonly isOfProvider: boolean
  readonly isRewritten: boolean
  readonly mcpServerId: string | null
  readonly startedAt: string | null
  readonly endedAt: string | null
}

/** A call as the model wrote it; without a part when only its result is known. */
export interface BareCall {
  readonly kind: "call"
  readonly key: string
  readonly messageId: number | null
  readonly callId: string
  readonly part: ToolCallPart | ToolCallDelta | null
}

export interface Outcome {
  readonly result: ToolResultPart | undefined
  readonly output: string | undefined
  /** Nothing more will come. */
  readonly isOver: boolean
}

/** The tool that a compaction is told as: `core/compaction.py`. */
export const summaryTool = "chat_summarized"

const joined = new WeakMap<BareCall, { outcome: Outcome; block: CallBlock }>()

/** The same block while the same came of it. */
export function callBlock(call: BareCall, outcome: Outcome): CallBlock {
  const known = joined.get(call)
  if (known && isSame(known.outcome, outcome)) return known.block
  const block = made(call, outcome)
  joined.set(call, { outcome, block })
  return block
}

/** With a result, nothing else matters. One that is shown and one that is stored a moment later are the same. */
function isSame(one: Outcome, other: Outcome): boolean {
  if (!one.result || !other.result) return one.result === other.result && one.output === other.output && one.isOver === other.isOver
  return one.result === other.result || (!!one.result.created_at && one.result.created_at === other.result.created_at)
}

function made(call: BareCall, { result, output, isOver }: Outcome): CallBlock {
  const part = call.part
  const whole = part !== null && !isDelta(part) ? part : null
  return {
    kind: "call",
    key: call.key,
    messageId: call.messageId,
    callId: call.callId,
    name: part?.tool_name || result?.tool_name || "",
    state: stateOf(part, result, isOver),
    args: part && isDelta(part) ? partialJson(part.args_delta) : whole?.args,
    result: result?.result,
    error: result ? errorOf(result) : "",
    output: result ? null : (output ?? null),
    isMedia: result?.is_media ?? false,
    isOfProvider: part?.provider_executed ?? result?.provider_executed ?? false,
    isRewritten: whole?.hook_rewritten ?? false,
    mcpServerId: whole?.mcp_server_config_id ?? result?.mcp_server_config_id ?? null,
    startedAt: part?.created_at || null,
    endedAt: result?.created_at || null,
  }
}

function stateOf(part: BareCall["part"], result: ToolResultPart | undefined, isOver: boolean): CallState {
  if (result) return stateOfResult(result)
  if (isOver) return "interrupted"
  return part && isDelta(part) ? "writing" : "running"
}

function stateOfResult(result: ToolResultPart): CallState {
  if (!result.is_error && !isFailure(result.result)) return "done"
  return tellsInterruption(errorOf(result)) ? "interrupted" : "failed"
}

/** A command that goes on by itself has not failed, although it has not succeeded either. */
function isFailure(result: unknown): boolean {
  if (!isFields(result) || result["running"] === true || result["backgrounded"] === true) return false
  return textOf(result, "error") !== "" || result["success"] === false
}

function errorOf(result: ToolResultPart): string {
  if (result.is_error && typeof result.result === "string") return result.result
  return textOf(result.result, "error")
}

/**
 * Calls that were stopped get a result that says so in words (`cancel_open_calls` of the store, `if_cut` of tools); there
 * is no other mark. A test holds these words against those of the server.
 */
const interruption = /\binterrupted\b|before this call was answered|instead of answering this call|was stopped before it had a result/

export function tellsInterruption(error: string): boolean {
  return interruption.test(error)
}

export function isDelta(part: ToolCallPart | ToolCallDelta): part is ToolCallDelta {
  return "args_delta" in part
}

export function isResult(part: Part | ToolCallDelta): part is ToolResultPart {
  return part.type === "tool-result"
}
