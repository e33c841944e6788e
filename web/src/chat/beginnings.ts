/** First messages of chats that have not begun. Each makes one chat, however often it has to be asked for. */
import { createStore, type StoreApi } from "zustand/vanilla"
import type { Chat, CreateChat, Problem } from "../api/schema"
import { problemOf } from "./actions"
import type { ChatSurroundings } from "./chat_state"
import { insist } from "./insist"
import { type UnsentChat, whyNotAgain } from "./unsent"

export interface Beginning {
  /** The idempotency key. */
  readonly key: string
  readonly body: CreateChat
  readonly state: "sending" | "unanswered" | "failed"
  readonly problem: Problem | null
}

export class Beginnings {
  readonly store: StoreApi<readonly Beginning[]> = createStore<readonly Beginning[]>(() => [])
  private readonly around: ChatSurroundings
  private readonly listeners = new Set<(chat: Chat) => void>()

  constructor(around: ChatSurroundings) {
    this.around = around
  }

  /** Without an answer it is tried again; refused, it stays as `failed`. */
  begin(body: CreateChat, key = this.around.newKey()): void {
    const one: UnsentChat = { kind: "chat", key, at: this.around.now(), problem: null, body }
    this.around.unsent.keep(one)
    void this.deliver(one, "sending")
  }

  /** Under its key: a server that failed may have done it before, and another tab may have tried again. */
  tryAgain(key: string): void {
    const failed = this.store.getState().find((one) => one.key === key && one.state === "failed")
    if (!failed) return
    this.forget(key)
    this.begin(failed.body, key)
  }

  forget(key: string): void {
    this.around.unsent.forget(key)
    this.store.setState(this.store.getState().filter((one) => one.key !== key), true)
  }

  /** Something was done elsewhere about one that was refused. */
  forgotten(key: string): void {
    const all = this.store.getState()
    const left = all.filter((one) => one.key !== key || one.state !== "failed")
    if (left.length < all.length) this.store.setState(left, true)
  }

  /** Goes on with what an earlier page has left without an answer. */
  resume(): void {
    this.showRefused()
    for (const one of this.unknown()) void this.deliver(one, "unanswered")
  }

  /** What was refused meanwhile, as by a chat that is gone. The others may be on their way from another tab, whose they are. */
  showRefused(): void {
    for (const one of this.unknown()) {
      const problem = whyNotAgain(one, this.around.now())
      if (problem) this.show(one, "failed", problem)
    }
  }

  /** Tells of every chat that has begun. Gives what ends it. */
  onBegun(run: (chat: Chat) => void): () => void {
    this.listeners.add(run)
    return () => void this.listeners.delete(run)
  }

  private unknown(): readonly UnsentChat[] {
    const known = new Set(this.store.getState().map((one) => one.key))
    return this.around.unsent.all().flatMap((one) => (one.kind === "chat" && !known.has(one.key) ? [one] : []))
  }

  private async deliver(one: UnsentChat, state: "sending" | "unanswered"): Promise<void> {
    const { key, body } = one
    this.show(one, state, null)
    try {
      const chat = await insist(() => this.around.request("POST /api/experimental/chats", { body, idempotencyKey: key }), {
        around: this.around,
        onUnanswered: () => this.show(one, "unanswered", null),
      })
      this.forget(key)
      for (const listener of this.listeners) listener(chat)
    } catch (error) {
      const problem = problemOf(error)
      this.around.unsent.keep({ ...one, problem })
      this.show(one, "failed", problem)
    }
  }

  private show({ key, body }: UnsentChat, state: Beginning["state"], problem: Problem | null): void {
    const all = this.store.getState()
    const shown: Beginning = { key, body, state, problem }
    const isThere = all.some((one) => one.key === key)
    this.store.setState(isThere ? all.map((one) => (one.key === key ? shown : one)) : [...all, shown], true)
  }
}
