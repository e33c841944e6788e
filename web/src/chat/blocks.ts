/**
 * What a message is made of, as a page shows it. A stored message and the answer that is being written go the same way
 * and get the same keys, so that nothing moves when one takes over from the other: a key is made of the message before
 * (`previousId`) and of the block's place, which both know.
 */
import type { ContextFilePart, FilePart, FileReferencePart, Part, SkillPart, SourcePart } from "../api/events"
import type { ChatMessage } from "../api/schema"
import type { BareCall } from "./calls"
import type { LiveEntry } from "./live_parts"

interface Placed {
  readonly key: string
  /** null while it is being written. */
  readonly messageId: number | null
}

export interface TextBlock extends Placed {
  readonly kind: "text"
  readonly text: string
  readonly isStreaming: boolean
}

export interface ReasoningBlock extends Placed {
  readonly kind: "reasoning"
  readonly text: string
  readonly isStreaming: boolean
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export interface FileBlock extends Placed {
  readonly kind: "file"
  readonly file: FilePart
}

export interface ReferenceBlock extends Placed {
  readonly kind: "file-reference"
  readonly reference: FileReferencePart
}

/** Each address once, in the order in which they came. */
export interface SourcesBlock extends Placed {
  readonly kind: "sources"
  readonly sources: readonly SourcePart[]
}

/** Instruction files and skills that the chat was given. */
export interface ContextBlock extends Placed {
  readonly kind: "context"
  readonly files: readonly ContextFilePart[]
  readonly skills: readonly SkillPart[]
}

/** Calls are joined with their results later: those are in messages that follow. */
export type BareBlock = TextBlock | ReasoningBlock | BareCall | FileBlock | ReferenceBlock | SourcesBlock | ContextBlock

const stored = new WeakMap<ChatMessage, { previousId: number; blocks: readonly BareBlock[] }>()

/** Of a stored message. The same blocks for the same message after the same one. */
export function storedBlocks(message: ChatMessage, previousId: number): readonly BareBlock[] {
  const known = stored.get(message)
  if (known?.previousId === previousId) return known.blocks
  const blocks = blocksOf(message.content, { previousId, messageId: message.id, isWriting: false })
  stored.set(message, { previousId, blocks })
  return blocks
}

/** Of the answer that is being written. `isWriting`: more of it may come. */
export function liveBlocks(parts: readonly LiveEntry[], previousId: number, isWriting: boolean): readonly BareBlock[] {
  return blocksOf(parts, { previousId, messageId: null, isWriting })
}

interface Of {
  readonly previousId: number
  readonly messageId: number | null
  readonly isWriting: boolean
}

function blocksOf(parts: readonly (Part | LiveEntry)[], of: Of): readonly BareBlock[] {
  const blocks: BareBlock[] = []
  const calls = new Map<string, number>()
  parts.forEach((part, place) => {
    const again = part.type === "tool-call" ? calls.get(part.tool_call_id) : undefined
    const key = `a${of.previousId}.${again ?? blocks.length}`
    const block = blockOf(part, { key, messageId: of.messageId }, of.isWriting && place === parts.length - 1)
    if (block === null) return
    if (again !== undefined) blocks[again] = block
    else {
      if (block.kind === "call") calls.set(block.callId, blocks.length)
      blocks.push(block)
    }
  })
  return [...blocks, ...asides(parts, of)]
}

/** Texts of white space alone are not stored, so they get no place while they are being written either. */
function blockOf(part: Part | LiveEntry, placed: Placed, isStreaming: boolean): BareBlock | null {
  switch (part.type) {
    case "text":
      return isBlank(part.text) ? null : lasting(part, { kind: "text", ...placed, text: part.text, isStreaming })
    case "reasoning":
      return isBlank(part.text) ? null : lasting(part, thought(part, placed, isStreaming))
    case "tool-call":
      return lasting(part, { kind: "call", ...placed, callId: part.tool_call_id, part })
    case "file":
      return lasting(part, { kind: "file", ...placed, file: part })
    case "file-reference":
      return lasting(part, { kind: "file-reference", ...placed, reference: part })
    default:
      return null
  }
}

function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

function thought(part: Extract<Part, { type: "reasoning" }>, placed: Placed, isStreaming: boolean): ReasoningBlock {
  return { kind: "reasoning", ...placed, text: part.text, isStreaming, startedAt: part.created_at || null, endedAt: part.completed_at || null }
}

const lasted = new WeakMap<object, BareBlock>()

/** The block that was made of this part before, if it is still the same: parts that no chunk has touched stay. */
function lasting<B extends BareBlock>(part: Part | LiveEntry, block: B): BareBlock {
  const known = lasted.get(part)
  if (known && isSame(known, block)) return known
  lasted.set(part, block)
  return block
}

function isSame(one: BareBlock, other: BareBlock): boolean {
  const isAlike = one.kind === other.kind && one.key === other.key && one.messageId === other.messageId
  return isAlike && ("isStreaming" in one && "isStreaming" in other ? one.isStreaming === other.isStreaming : true)
}

/** What is gathered from all over a message: it has keys of its own and shifts nothing. */
function asides(parts: readonly (Part | LiveEntry)[], { previousId, messageId }: Of): BareBlock[] {
  const sources = new Map<string, SourcePart>()
  const files: ContextFilePart[] = []
  const skills: SkillPart[] = []
  for (const part of parts) {
    if (part.type === "source" && !sources.has(part.url)) sources.set(part.url, part)
    else if (part.type === "context-file") files.push(part)
    else if (part.type === "skill") skills.push(part)
  }
  const found: BareBlock[] = []
  if (sources.size > 0) found.push(gathered({ kind: "sources", key: `a${previousId}.sources`, messageId, sources: [...sources.values()] }))
  if (files.length + skills.length > 0) found.push({ kind: "context", key: `a${previousId}.context`, messageId, files, skills })
  return found
}

const gatheredSources = new WeakMap<SourcePart, SourcesBlock>()

/** The same block while no source has come. */
function gathered(block: SourcesBlock): SourcesBlock {
  const [first] = block.sources
  const known = first && gatheredSources.get(first)
  const isKnown = known?.key === block.key && known.messageId === block.messageId && known.sources.length === block.sources.length
  if (isKnown) return known
  if (first) gatheredSources.set(first, block)
  return block
}
