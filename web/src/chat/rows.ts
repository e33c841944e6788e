/**
 * A picture as the rows of a timeline.
 *
 * Everything is memoised on the identity of what it was made of. A chunk touches the parts of the answer alone, so it
 * costs what that answer has so far, however long the chat is; a stored message costs its turn.
 */
import type { ToolResultPart } from "../api/events"
import { liveBlocks } from "./blocks"
import { type BareCall, callBlock, isResult } from "./calls"
import { grouped, isRun, isStep } from "./grouping"
import type { LiveEntry } from "./live_parts"
import { type Messages, newestId } from "./message_list"
import { type Picture, shownParts } from "./picture"
import type { Block, Row } from "./row_kinds"
import { type Meanwhile, storedRows } from "./stored_rows"
import { type Turn, turnsOf } from "./turns"

/** In two, so that the longer part can stay the same array: the rows of all turns but the last, and those of the last. */
export interface InTwo<R> {
  readonly settled: readonly R[]
  readonly tail: readonly R[]
}

export type Rows = InTwo<Row>

export function rows(picture: Picture): Rows {
  const turns = turnsOf(picture.messages, picture.hasOlder)
  return { settled: settledRows(picture.messages, turns), tail: tailRows(picture, turns.at(-1)) }
}

export function countRows({ settled, tail }: InTwo<unknown>): number {
  return settled.length + tail.length
}

export function rowAt<R>({ settled, tail }: InTwo<R>, place: number): R | undefined {
  return place < settled.length ? settled[place] : tail[place - settled.length]
}

export function allRows<R>({ settled, tail }: InTwo<R>): readonly R[] {
  return settled.length === 0 ? tail : [...settled, ...tail]
}

/** Whether nothing more comes unless someone does something. */
export function isResting(picture: Picture): boolean {
  return picture.status === "waiting" || picture.status === "error"
}

const ofMessages = new WeakMap<Messages, { turns: readonly Turn[]; rows: readonly Row[] }>()
const ofLastTurn = new WeakMap<Turn, { turns: readonly Turn[]; rows: readonly Row[] }>()

function settledRows(messages: Messages, turns: readonly Turn[]): readonly Row[] {
  const known = ofMessages.get(messages)
  if (known?.turns === turns) return known.rows
  const found = { turns, rows: rowsOfTurns(turns) }
  ofMessages.set(messages, found)
  return found.rows
}

function rowsOfTurns(turns: readonly Turn[]): readonly Row[] {
  const last = turns.at(-2)
  const known = last && ofLastTurn.get(last)
  if (known && isSameButLast(known.turns, turns)) return known.rows
  const made = turns.slice(0, -1).flatMap((turn) => storedRows(turn, true))
  if (last) ofLastTurn.set(last, { turns, rows: made })
  return made
}

function isSameButLast(one: readonly Turn[], other: readonly Turn[]): boolean {
  return one.length === other.length && one.every((turn, place) => turn === other[place] || place === one.length - 1)
}

function tailRows(picture: Picture, turn: Turn | undefined): readonly Row[] {
  const parts = shownParts(picture)
  const isOver = isResting(picture) && parts.length === 0
  const meanwhile = meanwhileOf(picture)
  const before = turn ? storedRows(turn, isOver, meanwhile) : []
  if (parts.length === 0) return before
  return followed(before, joinedLive(picture, parts, meanwhile))
}

/** A run of steps goes on from the stored messages into the answer that is being written. */
function followed(before: readonly Row[], live: readonly Block[]): readonly Row[] {
  const last = before.at(-1)
  if (isRun(last) && isStep(live[0])) return [...before.slice(0, -1), ...grouped(live, last)]
  return [...before, ...grouped(live)]
}

function joinedLive(picture: Picture, parts: readonly LiveEntry[], meanwhile: Meanwhile): readonly Block[] {
  const isWriting = picture.status === "running"
  const isOver = isResting(picture)
  return liveBlocks(parts, newestId(picture.messages), isWriting).map((block) =>
    block.kind === "call" ? callBlock(block, outcome(block, meanwhile, isOver)) : block,
  )
}

function outcome(call: BareCall, { results, outputs }: Meanwhile, isOver: boolean) {
  return { result: results.get(call.callId), output: outputs.get(call.callId), isOver }
}

/** Also when the answer is stored by now: its results may come a moment after it. */
function meanwhileOf(picture: Picture): Meanwhile {
  const results = new Map<string, ToolResultPart>()
  for (const part of picture.parts) if (isResult(part)) results.set(part.tool_call_id, part)
  return { results, outputs: picture.live }
}
