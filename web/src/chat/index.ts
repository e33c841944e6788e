/** A chat as data. `web/ARCHITECTURE.md`, "A chat, from bytes to pixels", says how the pieces go together. */
export type { ContextBlock, FileBlock, ReasoningBlock, ReferenceBlock, SourcesBlock, TextBlock } from "./blocks"
export type { CallBlock, CallState } from "./calls"
export type { Picture } from "./picture"
export type { EndRow, NoticeRow, ReasoningRow, Row, Step, StepsRow, SummaryRow, UserRow } from "./row_kinds"
export { allRows, countRows, isResting, type Rows, rowAt, rows } from "./rows"
export { type ContextUse, contextUse, durationMs, type Spent, spent } from "./usage"
