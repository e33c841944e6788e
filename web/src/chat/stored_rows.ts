/** The rows of one turn, as far as it is stored. */
import type { ToolResultPart } from "../api/events"
import type { ChatMessage } from "../api/schema"
import { type BareBlock, type FileBlock, type ReferenceBlock, storedBlocks, type TextBlock } from "./blocks"
import { type BareCall, callBlock, isResult } from "./calls"
import { grouped } from "./grouping"
import type { Messages } from "./message_list"
import type { Block, EndRow, NoticeRow, Row, UserRow } from "./row_kinds"
import { isPrompt, type Turn } from "./turns"
import { spent } from "./usage"

/** What running tools have said and given that is not stored yet, by call. */
export interface Meanwhile {
  readonly results: ReadonlyMap<string, ToolResultPart>
  readonly outputs: ReadonlyMap<string, string>
}

export const nothingMeanwhile: Meanwhile = { results: new Map(), outputs: new Map() }

interface Joined {
  readonly bare: readonly (BareBlock | NoticeRow)[]
  readonly results: ReadonlyMap<BareCall, ToolResultPart>
  /** Calls without a result. */
  readonly open: readonly BareCall[]
}

const joinedTurns = new WeakMap<Turn, Joined>()
const rowsOfTurns = new WeakMap<Turn, { isOver: boolean; rows: readonly Row[] }>()

/** `isOver`: nothing more comes of this turn. The same rows while nothing in them has changed. */
export function storedRows(turn: Turn, isOver: boolean, meanwhile: Meanwhile = nothingMeanwhile): readonly Row[] {
  const joined = joinedOf(turn)
  const waits = joined.open.some((call) => meanwhile.results.has(call.callId) || meanwhile.outputs.has(call.callId))
  if (waits) return rowsOf(turn, joined, isOver, meanwhile)
  const known = rowsOfTurns.get(turn)
  if (known?.isOver === isOver) return known.rows
  const rows = rowsOf(turn, joined, isOver, nothingMeanwhile)
  rowsOfTurns.set(turn, { isOver, rows })
  return rows
}

function rowsOf(turn: Turn, joined: Joined, isOver: boolean, meanwhile: Meanwhile): readonly Row[] {
  const blocks = joined.bare.map((block): Block => {
    if (block.kind !== "call") return block
    const result = joined.results.get(block) ?? meanwhile.results.get(block.callId)
    return callBlock(block, { result, output: meanwhile.outputs.get(block.callId), isOver })
  })
  const [first] = turn.messages
  const prompt = first && isPrompt(first) ? userRow(first, turn.previousId) : null
  const end = isOver ? endRow(turn, blocks) : null
  return [...(prompt ? [prompt] : []), ...grouped(blocks), ...(end ? [end] : [])]
}

function joinedOf(turn: Turn): Joined {
  const known = joinedTurns.get(turn)
  if (known) return known
  const bare: (BareBlock | NoticeRow)[] = []
  const results = new Map<BareCall, ToolResultPart>()
  const open = new Map<string, BareCall>()
  let previousId = turn.previousId
  for (const message of turn.messages) {
    for (const block of blocksIn(message, previousId)) {
      bare.push(block)
      if (block.kind === "call") open.set(block.callId, block)
    }
    message.content.filter(isResult).forEach((part, place) => {
      const call = open.get(part.tool_call_id) ?? orphan(part, `a${previousId}.r${place}`, message.id)
      if (!open.delete(part.tool_call_id)) bare.push(call)
      results.set(call, part)
    })
    previousId = message.id
  }
  const joined = { bare, results, open: [...open.values()] }
  joinedTurns.set(turn, joined)
  return joined
}

function blocksIn(message: ChatMessage, previousId: number): readonly (BareBlock | NoticeRow)[] {
  if (isPrompt(message)) return []
  return message.role === "system" ? [noticeRow(message)] : storedBlocks(message, previousId)
}

const notices = new WeakMap<ChatMessage, NoticeRow>()

function noticeRow(message: ChatMessage): NoticeRow {
  const known = notices.get(message)
  if (known) return known
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n")
  const row: NoticeRow = { kind: "notice", key: `m${message.id}`, messageId: message.id, text }
  notices.set(message, row)
  return row
}

/** A result whose call was not read, or is gone: it happened, so it is shown. */
function orphan(part: ToolResultPart, key: string, messageId: number): BareCall {
  return { kind: "call", key, messageId, callId: part.tool_call_id, part: null }
}

const userRows = new WeakMap<ChatMessage, UserRow>()

function userRow(message: ChatMessage, previousId: number): UserRow {
  const known = userRows.get(message)
  if (known) return known
  const blocks = storedBlocks(message, previousId)
  const row: UserRow = {
    kind: "user",
    key: `m${message.id}`,
    message,
    blocks: blocks.filter(isWritten),
    context: blocks.find((block) => block.kind === "context") ?? null,
  }
  userRows.set(message, row)
  return row
}

function isWritten(block: BareBlock): block is TextBlock | FileBlock | ReferenceBlock {
  return block.kind === "text" || block.kind === "file" || block.kind === "file-reference"
}

const ends = new WeakMap<ChatMessage, { messages: Messages; row: EndRow }>()

function endRow({ messages }: Turn, blocks: readonly Block[]): EndRow | null {
  const [first] = messages
  const last = messages.at(-1)
  if (!first || !last || !messages.some((message) => message.role === "assistant")) return null
  const known = ends.get(last)
  if (known?.messages.length === messages.length && messages.every((message, place) => message === known.messages[place])) return known.row
  const row: EndRow = {
    kind: "end",
    key: `e${first.id}`,
    messageId: last.id,
    spent: spent(messages),
    startedAt: isPrompt(first) ? first.created_at : null,
    endedAt: last.created_at,
    text: blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n\n"),
  }
  ends.set(last, { messages, row })
  return row
}
