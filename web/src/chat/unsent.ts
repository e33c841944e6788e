/**
 * What was sent and has no answer yet, kept in the browser until it has one: a page that is reloaded or closed, or a session
 * that ends, loses no words. Each goes out again under its key, so that it is done once. One that was refused stays, with the
 * reason, until its writer has done something about it.
 */
import type { CreateChat, InputPart, Problem } from "../api/schema"
import { keptNames, keptText, keptTextsOf, onTextGone } from "../browser/kept"
import { words } from "../words"
import type { SendOptions, WithModel } from "./actions"

interface OfAll {
  /** The idempotency key. */
  readonly key: string
  /** As `Date.now` gives it. */
  readonly at: number
  /** Why it was refused. */
  readonly problem: Problem | null
}

export interface UnsentMessage extends OfAll {
  readonly kind: "message"
  readonly chatId: string
  readonly content: readonly InputPart[]
  readonly options: SendOptions
  /** The newest message that was known: whatever is newer may be this one. */
  readonly newestBefore: number
}

export interface UnsentEdit extends OfAll {
  readonly kind: "edit"
  readonly chatId: string
  /** The message that it replaces. */
  readonly messageId: number
  readonly content: readonly InputPart[]
  readonly options: WithModel
  /** The newest message that was known: its writer has not seen what others say after it, so that is not to be replaced. */
  readonly newestBefore: number
}

/** The first message of a chat. */
export interface UnsentChat extends OfAll {
  readonly kind: "chat"
  readonly body: CreateChat
}

export type Unsent = UnsentMessage | UnsentEdit | UnsentChat

export interface UnsentStore {
  /** In the order in which they were written. */
  all(): readonly Unsent[]
  keep(one: Unsent): void
  forget(key: string): void
  /** Tells of each that is forgotten, here or in another tab. Gives what ends it. */
  onForgotten(run: (key: string) => void): () => void
}

const listeners = new Set<(key: string) => void>()

/** In the storage of this browser, each under a name of its own: tabs write without knowing of each other. */
export const browserUnsent: UnsentStore = {
  all: () =>
    keptNames("unsent")
      .flatMap((key) => read(keptText("unsent", key).get()) ?? [])
      .toSorted((one, other) => one.at - other.at),
  keep: (one) => keptText("unsent", one.key).set(JSON.stringify(one)),
  forget: (key) => {
    keptText("unsent", key).forget()
    for (const listener of listeners) listener(key)
  },
  onForgotten: (run) => {
    const end = onTextGone("unsent", run)
    listeners.add(run)
    return () => {
      end()
      listeners.delete(run)
    }
  },
}

/** The server forgets the key of a message after thirty days. */
const surelyKnownMs = 25 * 24 * 3600 * 1000

/** What to say instead of sending it again; null: it can go out. */
export function whyNotAgain(one: Unsent, now: number): Problem | null {
  if (one.problem) return one.problem
  return now - one.at > surelyKnownMs ? { message: words.chat.tooOldToSend } : null
}

/** How much of what someone has sent waits here to go out, also before it is known that they are here again. */
export function countUnsent(userId: string): number {
  const all = keptTextsOf(userId, "unsent").flatMap((text) => read(text) ?? [])
  return all.filter((one) => whyNotAgain(one, Date.now()) === null).length
}

function read(text: string): Unsent | null {
  try {
    const value = JSON.parse(text) as Unsent
    const content = value.kind === "chat" ? value.body.content : value.content
    return Array.isArray(content) && typeof value.key === "string" ? value : null
  } catch {
    return null
  }
}
