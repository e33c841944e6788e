/** The rows of a timeline. */
import type { ChatMessage } from "../api/schema"
import type { BareBlock, ContextBlock, FileBlock, ReasoningBlock, ReferenceBlock, SourcesBlock, TextBlock } from "./blocks"
import type { BareCall, CallBlock, CallState } from "./calls"
import type { Spent } from "./usage"

/** A block whose call has been joined with what came of it. */
export type Block = Exclude<BareBlock, BareCall> | CallBlock | NoticeRow

/** What a person sent, in the order in which they wrote it. */
export interface UserRow {
  readonly kind: "user"
  readonly key: string
  readonly message: ChatMessage
  readonly blocks: readonly (TextBlock | FileBlock | ReferenceBlock)[]
  readonly context: ContextBlock | null
}

/** Something that the server has to say, not the model. */
export interface NoticeRow {
  readonly kind: "notice"
  readonly key: string
  readonly messageId: number
  readonly text: string
}

/** Thoughts without a call among them. */
export interface ReasoningRow {
  readonly kind: "reasoning"
  readonly key: string
  readonly thoughts: readonly ReasoningBlock[]
}

export type Step = CallBlock | ReasoningBlock

/** A run of calls and thoughts between two texts, over as many messages as it takes. */
export interface StepsRow {
  readonly kind: "steps"
  readonly key: string
  readonly steps: readonly Step[]
  readonly isRunning: boolean
  readonly failed: number
  readonly startedAt: string | null
  readonly endedAt: string | null
}

/** A compaction. `summary` is there when it is done. */
export interface SummaryRow {
  readonly kind: "summary"
  readonly key: string
  readonly state: CallState
  readonly summary: string
  readonly isManual: boolean
  readonly percent: number | null
  readonly error: string
  readonly call: CallBlock
}

/** The end of a turn that is over: what it took, and its words for the clipboard. */
export interface EndRow {
  readonly kind: "end"
  readonly key: string
  readonly messageId: number
  readonly spent: Spent
  readonly startedAt: string | null
  readonly endedAt: string
  readonly text: string
}

export type Row =
  | UserRow
  | TextBlock
  | ReasoningRow
  | StepsRow
  | SummaryRow
  | FileBlock
  | ReferenceBlock
  | SourcesBlock
  | ContextBlock
  | NoticeRow
  | EndRow
