/** What is being written to a chat and was not sent: text, files, references. One store per chat, kept over reloads. */
import { createStore, type StoreApi } from "zustand/vanilla"
import type { FileReferencePart } from "../api/events"
import type { ChatMessage, InputPart } from "../api/schema"
import { keptText } from "../browser/kept"
import { words } from "../words"

/** A file on its way to the server, or there. `id` is null until it is. */
export interface Attached {
  readonly key: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  readonly id: string | null
  /** 0 to 1, while it is being sent. */
  readonly progress: number | null
  readonly error: string | null
  /** It was pasted as text, and made a file because it is long. */
  readonly isPasted?: boolean
}

/** Lines of a file, and what is said about them: beside the lines, since a message may be about many. */
export interface Reference extends FileReferencePart {
  readonly comment?: string | undefined
}

export interface Written {
  readonly text: string
  readonly files: readonly Attached[]
  readonly references: readonly Reference[]
}

export interface Draft extends Written {
  /** The message that this replaces when it is sent, and what was being written before. */
  readonly editing: { readonly messageId: number; readonly before: Written } | null
  /**
   * An earlier message is shown instead of what was being written: which one, from the newest on, and the words that it hides.
   * Changed, it is what is being written; those wait until it is sent.
   */
  readonly recalled: { readonly place: number; readonly hidden: string; readonly isChanged?: boolean } | null
}

export type DraftStore = StoreApi<Draft>

export const nothingWritten: Written = { text: "", files: [], references: [] }

const nothingDrafted: Draft = { ...nothingWritten, editing: null, recalled: null }

const drafts = new Map<string, DraftStore>()

/** `"new"` is the one of a chat that has not begun. */
export function draftOf(chatId: string): DraftStore {
  const known = drafts.get(chatId)
  if (known) return known
  const kept = keptText("draft", chatId)
  const store = createStore<Draft>(() => read(kept.get()))
  store.subscribe((draft, before) => {
    if (draft === before) return
    const own = { ...ownWords(draft), editing: draft.editing }
    if (own.editing === null && isNothing(own)) kept.forget()
    else kept.set(JSON.stringify(own))
  })
  drafts.set(chatId, store)
  return store
}

export function isNothing({ text, files, references }: Written): boolean {
  return text.trim() === "" && files.length === 0 && references.length === 0
}

/** What was written here: not an earlier message that is only looked at. */
function ownWords({ text, files, references, recalled }: Draft): Written {
  const own = recalled ? (recalled.isChanged ? inParagraphs(text, recalled.hidden) : recalled.hidden) : text
  return { text: own, files, references }
}

function inParagraphs(...texts: readonly string[]): string {
  return texts.filter((one) => one.trim() !== "").join("\n\n")
}

export function writeText(store: DraftStore, text: string): void {
  store.setState(({ recalled }) => ({ text, recalled: recalled && recalled.hidden.trim() !== "" ? { ...recalled, isChanged: true } : null }))
}

/** Another of one's earlier messages, the newest first: further back (1), or forward (-1) and in the end to one's own words. Null: there is none. */
export function recall(store: DraftStore, prompts: readonly string[], by: 1 | -1): string | null {
  const draft = store.getState()
  const shown = draft.recalled?.isChanged ? null : draft.recalled
  const place = (shown?.place ?? -1) + by
  const found = place < 0 ? shown?.hidden : prompts[place]
  if (found === undefined) return null
  store.setState({ text: found, recalled: place < 0 ? null : { place, hidden: ownWords(draft).text } })
  return found
}

/** Changes a file, or takes it away, wherever it is by now: an edit has put aside what was being written. */
export function changeFile(store: DraftStore, key: string, change: Partial<Attached> | null): void {
  const changed = (files: readonly Attached[]) =>
    change === null ? files.filter((file) => file.key !== key) : files.map((file) => (file.key === key ? { ...file, ...change } : file))
  store.setState(({ files, editing }) => ({
    files: changed(files),
    editing: editing && { ...editing, before: { ...editing.before, files: changed(editing.before.files) } },
  }))
}

/**
 * What goes to the server: references first, since the text speaks of them, each before what is said about it. Those without a
 * comment come before them: the text that follows would look like theirs. Files that did not arrive are left out.
 */
export function asContent({ text, files, references }: Written): InputPart[] {
  const isCommented = ({ comment = "" }: Reference) => comment.trim() !== ""
  const ordered = [...references.filter((one) => !isCommented(one)), ...references.filter(isCommented)]
  return [
    ...ordered.flatMap(({ comment = "", ...reference }) => [referenceOf(reference), ...said(comment)]),
    ...said(text),
    ...files.flatMap(({ id }) => (id === null ? [] : [{ type: "file" as const, file_id: id }])),
  ]
}

function said(text: string): InputPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }]
}

/** Back into the composer: what was refused, or a message that is to be edited. A text right after lines is about them, unless it is all that is said. */
export function fromContent(content: readonly InputPart[] | ChatMessage["content"]): Written {
  let written: Written = nothingWritten
  const parts: readonly { type: string }[] = content
  const hasTexts = parts.filter((part) => part.type === "text").length > 1
  const isComment = (place: number) =>
    parts[place - 1]?.type === "file-reference" && (hasTexts || parts.slice(place).some((part) => part.type === "file-reference"))
  for (const [place, part] of content.entries()) {
    if (part.type === "text" && isComment(place)) {
      const lines = written.references.at(-1)
      if (lines) written = { ...written, references: [...written.references.slice(0, -1), { ...lines, comment: part.text ?? "" }] }
    } else if (part.type === "text") written = { ...written, text: [written.text, part.text ?? ""].filter(Boolean).join("\n\n") }
    else if (part.type === "file-reference") written = { ...written, references: [...written.references, referenceOf(part)] }
    else if (part.type === "file" && part.file_id) written = { ...written, files: [...written.files, arrived(part.file_id, part)] }
  }
  return written
}

function referenceOf({ file_name = "", start_line = 1, end_line = 1, content = "" }: Partial<FileReferencePart> | InputPart): FileReferencePart {
  return { type: "file-reference", file_name, start_line, end_line, content }
}

function arrived(id: string, part: object): Attached {
  const name = "name" in part && typeof part.name === "string" ? part.name : ""
  const mediaType = "media_type" in part && typeof part.media_type === "string" ? part.media_type : ""
  return { key: id, name, mediaType, bytes: 0, id, progress: null, error: null }
}

export function beginEditing(store: DraftStore, message: ChatMessage): void {
  const draft = store.getState()
  const before = draft.editing ? draft.editing.before : ownWords(draft)
  store.setState({ ...fromContent(message.content), editing: { messageId: message.id, before }, recalled: null })
}

/** What was being written before comes back. */
export function endEditing(store: DraftStore): void {
  const { editing } = store.getState()
  if (editing) store.setState({ ...editing.before, editing: null })
}

/** What was refused comes back in front of what was written since: nothing of either is lost. An edit under way is not mixed with it. */
export function giveBack(store: DraftStore, refused: Written): void {
  store.setState((draft) => {
    const { editing } = draft
    if (editing) return { editing: { ...editing, before: inFront(refused, editing.before) } }
    return { ...inFront(refused, ownWords(draft)), recalled: null }
  })
}

function inFront(refused: Written, { text, files, references }: Written): Written {
  return {
    text: inParagraphs(refused.text, text),
    files: [...refused.files, ...files],
    references: [...refused.references, ...references],
  }
}

/**
 * An edit that was refused is one again, and what was written since waits for its end. So do the words of another edit that
 * is under way; those of one of the same message are its own.
 */
export function resumeEditing(store: DraftStore, messageId: number, refused: Written): void {
  const draft = store.getState()
  const { editing } = draft
  const own = ownWords(draft)
  if (editing?.messageId === messageId) store.setState(inFront(refused, own))
  else store.setState({ ...refused, editing: { messageId, before: editing ? inFront(own, editing.before) : own }, recalled: null })
}

export function addReference(store: DraftStore, reference: Reference): void {
  store.setState(({ references }) => ({ references: [...references, reference] }))
}

export function changeComment(store: DraftStore, place: number, comment: string): void {
  store.setState(({ references }) => ({ references: references.map((one, at) => (at === place ? { ...one, comment } : one)) }))
}

/** A file that was on its way when the page was left has not arrived, and its bytes are gone: that is said where it was. */
function reread({ text = "", files = [], references = [] }: Partial<Written>): Written {
  const left = (file: Attached): Attached => (file.id !== null ? file : { ...file, progress: null, error: file.error ?? words.composer.uploadCut })
  return { text, references, files: files.map(left) }
}

function read(kept: string): Draft {
  if (kept === "") return nothingDrafted
  try {
    const { editing, ...written } = JSON.parse(kept) as Partial<Draft>
    return { ...reread(written), editing: editing ? { ...editing, before: reread(editing.before) } : null, recalled: null }
  } catch {
    return nothingDrafted
  }
}
