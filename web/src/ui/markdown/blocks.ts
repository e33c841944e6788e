/** A text as blocks that can be drawn one by one, so that another word at its end draws only the last of them. */
import type { Token, Tokens } from "marked"
import { blockTokens } from "./grammar"

export interface Block {
  raw: string
  /** Of headings: 1 for the outermost, one more for each that it stands under. */
  level: number | null
}

export interface Blocks {
  text: string
  blocks: readonly Block[]
  /** Definitions of links, which every block may refer to. */
  definitions: string
}

interface Kept extends Block {
  start: number
  depth: number | null
  definition: string | null
  isList: boolean
}

const memory = new WeakMap<Blocks, readonly Kept[]>()
const nothing: Blocks = { text: "", blocks: [], definitions: "" }

/** Splits a text. Given how it was split when it was shorter, only the end is looked at, and blocks before it stay the same objects. */
export function blocksOf(given: string, before: Blocks = nothing): Blocks {
  const text = given.replace(/\r\n?/g, "\n")
  if (text === before.text) return before
  const kept = text.startsWith(before.text) ? settled(memory.get(before) ?? []) : []
  const last = kept.at(-1)
  const start = last ? last.start + last.raw.length : 0
  const all = [...kept, ...read(text, start, kept)]
  const definitions = all.flatMap((one) => one.definition ?? []).join("\n")
  const result = { text, blocks: all, definitions }
  memory.set(result, all)
  return result
}

/** The last block may still grow; and what follows a list may turn out to be one more of its items. */
function settled(blocks: readonly Kept[]): readonly Kept[] {
  return blocks.slice(0, blocks.at(-2)?.isList ? -2 : -1)
}

function read(text: string, start: number, before: readonly Kept[]): Kept[] {
  const depths = openDepths(before)
  const read: Kept[] = []
  let at = start
  for (const token of blockTokens(text.slice(start))) {
    const raw = token.raw
    if (token.type === "space") {
      const previous = read.at(-1)
      if (previous) previous.raw += raw
      else read.push({ raw, level: null, start: at, depth: null, definition: null, isList: false })
    } else {
      const definition = token.type === "def" ? raw.trim() : null
      read.push({ raw, start: at, definition, isList: token.type === "list", ...heading(token, depths) })
    }
    at += raw.length
  }
  return read
}

/** A heading is one level below the nearest one above it that is more important: no level is ever left out. */
function heading(token: Token, depths: number[]): { level: number | null; depth: number | null } {
  if (!isHeading(token)) return { level: null, depth: null }
  enter(depths, token.depth)
  return { level: depths.length, depth: token.depth }
}

function enter(depths: number[], depth: number): void {
  while (depths.length > 0 && (depths.at(-1) ?? 0) >= depth) depths.pop()
  depths.push(depth)
}

function openDepths(blocks: readonly Kept[]): number[] {
  const depths: number[] = []
  for (const block of blocks) if (block.depth !== null) enter(depths, block.depth)
  return depths
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading"
}
