/** A chat as data. `web/ARCHITECTURE.md`, "A chat, from bytes to pixels", says how the pieces go together. */
export type { ChatActions, SendOptions, WithModel } from "./actions"
export type { ContextBlock, FileBlock, ReasoningBlock, ReferenceBlock, SourcesBlock, TextBlock } from "./blocks"
export type { Beginning } from "./beginnings"
export type { OpenedChat } from "./cache"
export type { CallBlock, CallState } from "./calls"
export type { ChatState, ChatStore, Reading } from "./chat_state"
export {
  addReference,
  asContent,
  type Attached,
  beginEditing,
  changeComment,
  changeFile,
  type Draft,
  draftOf,
  type DraftStore,
  endEditing,
  fromContent,
  giveBack,
  isNothing,
  nothingWritten,
  recall,
  type Reference,
  resumeEditing,
  writeText,
  type Written,
} from "./draft"
export { type Beside, type LiveStatus, liveStatus } from "./live_status"
export { beginnings, openChat, resumeUnsent } from "./open_chat"
export { newestId } from "./message_list"
export { partialJson } from "./partial_json"
export { emptyPicture, type Picture, type SettledPicture } from "./picture"
export type { EndRow, NoticeRow, ReasoningRow, Row, Step, StepsRow, SummaryRow, UserRow } from "./row_kinds"
export { allRows, countRows, type InTwo, isResting, rowAt, type Rows, rows } from "./rows"
export { type Edit, isWaiting, nothingSent, type Overlay, type QueueOperation, type Send, type SendState, type ShownQueued, shownQueue } from "./sending"
export { signOut } from "./sign_out"
export { type SendRow, type Timeline, timeline, type TimelineRow } from "./timeline"
export { countUnsent } from "./unsent"
export { type ContextUse, contextUse, durationMs, type Spent, spent } from "./usage"
export { asInput, promptTexts } from "./written"
