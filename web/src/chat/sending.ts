/**
 * What was asked of the server and is not in the picture yet. Pure: every function gives the next overlay, or the same
 * when nothing has changed. The picture stays what the server has said; this lies over it, and says that it does.
 */
import type { ChatMessage, ChatQueuedMessage, InputPart, Problem, SentMessage } from "../api/schema"
import type { SendOptions } from "./actions"
import { newestId, placeOf } from "./message_list"
import type { Picture, SettledPicture } from "./picture"
import type { UnsentEdit, UnsentMessage } from "./unsent"
import { isSameContent } from "./written"

/**
 * `unanswered`: no answer came, so it is being tried again with the same key. `sent`: stored, and about to show. `failed`:
 * refused, and shown with the reason until its writer has done something about it.
 */
export type SendState = "sending" | "unanswered" | "sent" | "failed"

export interface Send {
  /** The idempotency key. */
  readonly key: string
  readonly content: readonly InputPart[]
  readonly options: SendOptions
  /** The message that it was to replace: an edit that was refused. */
  readonly replaces: number | null
  /** It was refused after a try without an answer, which may have done it: then its words come by the stream. */
  readonly mayBeDone: boolean
  readonly state: SendState
  /** Why it was refused. */
  readonly problem: Problem | null
  /** What the answer said: one of the two. */
  readonly message: ChatMessage | null
  readonly queued: ChatQueuedMessage | null
  /** What was known when it was sent: whatever is newer may be it. */
  readonly newestBefore: number
  readonly queueBefore: readonly ChatQueuedMessage[]
}

export interface Edit {
  readonly key: string
  /** The message that is replaced, with all that follows it. */
  readonly messageId: number
  readonly content: readonly InputPart[]
  readonly state: "sending" | "unanswered" | "sent"
  readonly message: ChatMessage | null
}

export type QueueOperation = "deleting" | "promoting" | "holding" | "releasing"

/** `before` is the queue when it was answered: the next one that comes has the change in it. */
export interface QueueChange {
  readonly operation: QueueOperation
  readonly before: readonly ChatQueuedMessage[] | null
}

export interface Overlay {
  readonly sends: readonly Send[]
  readonly edit: Edit | null
  readonly queue: ReadonlyMap<number, QueueChange>
  /** The order that was asked for, and the queue when that was answered. */
  readonly order: { readonly ids: readonly number[]; readonly before: readonly ChatQueuedMessage[] | null } | null
  readonly isStopping: boolean
}

export const nothingSent: Overlay = { sends: [], edit: null, queue: new Map(), order: null, isStopping: false }

export function beginSend(overlay: Overlay, { key, content, options, newestBefore }: UnsentMessage, state: SendState, picture: Picture): Overlay {
  const known = { newestBefore, queueBefore: picture.queue }
  const send: Send = { key, content, options, replaces: null, mayBeDone: false, state, problem: null, message: null, queued: null, ...known }
  return { ...overlay, sends: [...overlay.sends, send] }
}

/** It was refused, now or at an earlier visit. An edit gives its place back to the message that it was to replace. */
export function withRefused(overlay: Overlay, one: UnsentMessage | UnsentEdit, problem: Problem, mayBeDone = false): Overlay {
  const { key, content, options } = one
  const replaces = one.kind === "edit" ? one.messageId : null
  const known = { message: null, queued: null, newestBefore: 0, queueBefore: [] }
  const refused: Send = { key, content, options, replaces, mayBeDone, state: "failed", problem, ...known }
  const isThere = overlay.sends.some((send) => send.key === key)
  return {
    ...overlay,
    sends: isThere ? overlay.sends.map((send) => (send.key === key ? refused : send)) : [...overlay.sends, refused],
    edit: overlay.edit?.key === key ? null : overlay.edit,
  }
}

export function changeSend(overlay: Overlay, key: string, change: Partial<Send>): Overlay {
  return { ...overlay, sends: overlay.sends.map((send) => (send.key === key ? { ...send, ...change } : send)) }
}

export function sendAnswered(overlay: Overlay, key: string, answer: SentMessage): Overlay {
  return changeSend(overlay, key, { state: "sent", message: answer.message ?? null, queued: answer.queued_message ?? null })
}

/** Takes one away: its content is back in the composer, or nobody wants it. */
export function withoutSend(overlay: Overlay, key: string): Overlay {
  const sends = overlay.sends.filter((send) => send.key !== key)
  return sends.length === overlay.sends.length ? overlay : { ...overlay, sends }
}

/** The same, if it was refused: one that is on its way has its own answer to come. */
export function withoutRefused(overlay: Overlay, key: string): Overlay {
  return overlay.sends.some((send) => send.key === key && send.state === "failed") ? withoutSend(overlay, key) : overlay
}

export function beginEdit(overlay: Overlay, { key, messageId, content }: UnsentEdit, state: Edit["state"]): Overlay {
  return { ...overlay, edit: { key, messageId, content, state, message: null } }
}

export function changeEdit(overlay: Overlay, key: string, change: Partial<Edit>): Overlay {
  return overlay.edit?.key === key ? { ...overlay, edit: { ...overlay.edit, ...change } } : overlay
}

export function withoutEdit(overlay: Overlay, key: string): Overlay {
  return overlay.edit?.key === key ? { ...overlay, edit: null } : overlay
}

export function withQueueChange(overlay: Overlay, id: number, change: QueueChange | null): Overlay {
  const queue = new Map(overlay.queue)
  if (change) queue.set(id, change)
  else queue.delete(id)
  return { ...overlay, queue }
}

/** Drops what the picture has by now. To be called with every new picture. */
export function settledOverlay(overlay: Overlay, picture: Picture): Overlay {
  const sends = overlay.sends.filter((send) => !isInPicture(send, picture))
  const edit = overlay.edit && isEditInPicture(overlay.edit, picture) ? null : overlay.edit
  const queue = new Map([...overlay.queue].filter(([id, change]) => !isChangeInPicture(id, change, picture)))
  const order = overlay.order?.before && overlay.order.before !== picture.queue ? null : overlay.order
  const isStopping = overlay.isStopping && (picture.status === "running" || picture.status === "requires_action")
  const isSame =
    sends.length === overlay.sends.length &&
    edit === overlay.edit &&
    queue.size === overlay.queue.size &&
    order === overlay.order &&
    isStopping === overlay.isStopping
  return isSame ? overlay : { sends, edit, queue, order, isStopping }
}

/** An id that was passed is there, or was taken back by an edit. A queue that changed since has it, or had it. */
function isInPicture(send: Send, picture: Picture): boolean {
  if (send.message) return newestId(picture.messages) >= send.message.id
  if (!send.queued) return false
  return picture.queue !== send.queueBefore || picture.queue.some((one) => one.id === send.queued?.id)
}

function isEditInPicture(edit: Edit, picture: Picture): boolean {
  return edit.message !== null && newestId(picture.messages) >= edit.message.id
}

function isChangeInPicture(id: number, { before }: QueueChange, picture: Picture): boolean {
  return (before !== null && before !== picture.queue) || !picture.queue.some((one) => one.id === id)
}

/**
 * The sends that are to be shown besides the picture. The stream is often faster than the answer, which has the id: a
 * message that is newer and says the same is taken for the one that was sent, so that nothing is shown twice.
 */
export function shownSends(overlay: Overlay, picture: SettledPicture): readonly Send[] {
  if (overlay.sends.length === 0) return overlay.sends
  const taken = new Set<ChatMessage | ChatQueuedMessage>()
  return overlay.sends.filter((send) => {
    if (send.state === "failed") return !(send.mayBeDone && isReplacedBy(picture.messages, send.replaces ?? 0, send.content))
    const come = [...newerMessages(send, picture), ...newerQueued(send, picture)].find((one) => !taken.has(one) && isSameContent(one.content, send.content))
    if (come) taken.add(come)
    return come === undefined
  })
}

/** Whether the words of an edit are among the messages. */
export function isReplacedBy(messages: readonly ChatMessage[], replaced: number, content: readonly InputPart[]): boolean {
  return messages.some((message) => message.role === "user" && message.id > replaced && isSameContent(message.content, content))
}

function newerMessages(send: Send, { messages }: SettledPicture): readonly ChatMessage[] {
  return messages.slice(placeOf(messages, send.newestBefore + 1)).filter((message) => message.role === "user")
}

function newerQueued(send: Send, { queue }: SettledPicture): readonly ChatQueuedMessage[] {
  return queue.filter((one) => !send.queueBefore.some((known) => known.id === one.id))
}

/** The edit that is to be shown: only while the message that it replaces is there. */
export function shownEdit(overlay: Overlay, picture: Picture): Edit | null {
  const { edit } = overlay
  if (!edit) return null
  return picture.messages[placeOf(picture.messages, edit.messageId)]?.id === edit.messageId ? edit : null
}

/** Whether it is to be shown where messages wait: it does, or it will because the chat is at work. */
export function goesToQueue(send: Send, picture: SettledPicture): boolean {
  if (send.state === "failed") return false
  if (send.queued !== null) return true
  return send.message === null && (picture.status === "running" || picture.status === "interrupting")
}

/** One that waits, or that is on its way there: one of the two. */
export interface ShownQueued {
  readonly key: string
  readonly message: ChatQueuedMessage | null
  readonly send: Send | null
  /** What is being done to it. */
  readonly operation: QueueOperation | null
}

/** The queue as it will be when everything that was asked for is done. */
export function shownQueue(overlay: Overlay, picture: SettledPicture): readonly ShownQueued[] {
  const shown = picture.queue.flatMap((message): ShownQueued[] => {
    const operation = overlay.queue.get(message.id)?.operation ?? null
    return operation === "deleting" || operation === "promoting" ? [] : [{ key: `q${message.id}`, message, send: null, operation }]
  })
  const ids = overlay.order?.ids
  const ordered = ids ? shown.toSorted((one, other) => place(ids, one) - place(ids, other)) : shown
  const sends = shownSends(overlay, picture).filter((send) => goesToQueue(send, picture))
  return [...ordered, ...sends.map((send) => ({ key: send.queued ? `q${send.queued.id}` : `s${send.key}`, message: send.queued, send, operation: null }))]
}

/** One that came since stays last. */
function place(ids: readonly number[], { message }: ShownQueued): number {
  const found = message ? ids.indexOf(message.id) : -1
  return found < 0 ? ids.length : found
}

export function isWaiting(overlay: Overlay): boolean {
  const waits = (state: SendState | undefined) => state === "sending" || state === "unanswered"
  return overlay.sends.some((send) => waits(send.state)) || waits(overlay.edit?.state)
}

/** Whether there are words in it that nobody else has: on their way, or refused. */
export function hasWords(overlay: Overlay): boolean {
  return isWaiting(overlay) || overlay.sends.some((send) => send.state === "failed")
}
