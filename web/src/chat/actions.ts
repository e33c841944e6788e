/** What a person can do to a chat. Each shows at once in the overlay, and leaves it when the picture has it. */
import { Refused } from "../api/request"
import type { Chat, ChatQueuedMessage, InputPart, ReasoningEffort } from "../api/schema"
import { type ChatStore, type ChatSurroundings, changeOverlay } from "./chat_state"
import { insist } from "./insist"
import {
  beginEdit,
  beginSend,
  changeEdit,
  changeSend,
  type QueueOperation,
  sendAnswered,
  withoutEdit,
  withoutSend,
  withQueueChange,
} from "./sending"

export interface WithModel {
  readonly modelConfigId?: string
  readonly reasoningEffort?: ReasoningEffort
}

export interface SendOptions extends WithModel {
  /** Stop the turn for it instead of waiting for its end. */
  readonly interrupt?: boolean
  /** "" ends planning. */
  readonly planMode?: "" | "plan"
}

/** Tries, where nobody waits for ever. */
const fewTries = 4
/** For a stop that was answered, until the stream says that it has begun. */
const stoppingMs = 3000

export class ChatActions {
  private readonly chatId: string
  private readonly store: ChatStore
  private readonly around: ChatSurroundings
  /** Messages go one after the other, so that they arrive in the order in which they were written. */
  private lastSend: Promise<void> = Promise.resolve()
  private readonly givenUp = new Map<string, AbortController>()

  constructor(chatId: string, store: ChatStore, around: ChatSurroundings) {
    this.chatId = chatId
    this.store = store
    this.around = around
  }

  /** Gives the key of the send in the overlay. Without an answer it is tried again; refused, it is `failed` there. */
  send(content: readonly InputPart[], options: SendOptions = {}): string {
    const key = this.around.newKey()
    changeOverlay(this.store, (overlay, picture) => beginSend(overlay, key, content, picture))
    this.givenUp.set(key, new AbortController())
    this.lastSend = this.lastSend.then(() => this.deliver(key, content, options))
    return key
  }

  /** Takes a send out of the overlay: one that failed, or one that nobody wants to wait for. It may have arrived all the same. */
  forgetSend(key: string): void {
    this.givenUp.get(key)?.abort()
    this.givenUp.delete(key)
    changeOverlay(this.store, (overlay) => withoutSend(overlay, key))
  }

  /** Replaces a message and all that follows it. Refused, the edit in the overlay is `failed`; `forgetEdit` takes it away. */
  async edit(messageId: number, content: readonly InputPart[], model: WithModel = {}): Promise<void> {
    let isUnsure = false
    changeOverlay(this.store, (overlay) => beginEdit(overlay, messageId, content))
    const path = { chat: this.chatId, message: messageId }
    const body = { content: [...content], ...modelOf(model) }
    try {
      const answer = await insist(() => this.around.request("PATCH /api/experimental/chats/{chat}/messages/{message}", { path, body }), {
        around: this.around,
        onUnanswered: () => {
          isUnsure = true
          changeOverlay(this.store, (overlay) => changeEdit(overlay, messageId, { state: "unanswered" }))
        },
      })
      changeOverlay(this.store, (overlay) => changeEdit(overlay, messageId, { state: "sent", message: answer.message }))
    } catch (error) {
      // A message that an unanswered try has replaced is not there for the next one.
      const isDone = isUnsure && error instanceof Refused && error.status === 404
      if (isDone) this.forgetEdit()
      else changeOverlay(this.store, (overlay) => changeEdit(overlay, messageId, { state: "failed", problem: problemOf(error) }))
    }
  }

  forgetEdit(): void {
    changeOverlay(this.store, withoutEdit)
  }

  /** Stops the turn. What was written is kept. */
  async interrupt(): Promise<void> {
    const stopping = (isStopping: boolean) => changeOverlay(this.store, (overlay) => ({ ...overlay, isStopping }))
    stopping(true)
    try {
      await this.few(() => this.around.request("POST /api/experimental/chats/{chat}/interrupt", { path: this.path }))
      this.around.after(stoppingMs, () => stopping(false))
    } catch (error) {
      stopping(false)
      if (!(error instanceof Refused && error.status === 409)) throw error // it has ended meanwhile
    }
  }

  async compact(): Promise<void> {
    await this.few(() => this.around.request("POST /api/experimental/chats/{chat}/compact", { path: this.path }))
  }

  /** A chat of one's own with this history, up to a message or all of it. */
  fork(messageId?: number, title?: string): Promise<Chat> {
    const idempotencyKey = this.around.newKey()
    const body = { ...(messageId === undefined ? {} : { message_id: messageId }), ...(title === undefined ? {} : { title }) }
    return this.few(() => this.around.request("POST /api/experimental/chats/{chat}/fork", { path: this.path, body, idempotencyKey }))
  }

  /** Sends one that waits now; the turn stops for it. */
  async promote(id: number): Promise<void> {
    const path = { ...this.path, queued: id }
    await this.onQueued(id, "promoting", () => this.around.request("POST /api/experimental/chats/{chat}/queue/{queued}/promote", { path }))
  }

  async deleteQueued(id: number): Promise<void> {
    const path = { ...this.path, queued: id }
    try {
      await this.onQueued(id, "deleting", () => this.around.request("DELETE /api/experimental/chats/{chat}/queue/{queued}", { path }))
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error // it is gone, as was asked for
    }
  }

  /** Keeps one from being sent for two minutes, to edit it. Again, for two more. */
  hold(id: number): Promise<ChatQueuedMessage> {
    const path = { ...this.path, queued: id }
    return this.onQueued(id, "holding", () => this.around.request("POST /api/experimental/chats/{chat}/queue/{queued}/hold", { path }))
  }

  /** Lets it be sent: as it was, or with other content. */
  async release(id: number, content?: readonly InputPart[], model: WithModel = {}): Promise<void> {
    const path = { ...this.path, queued: id }
    const body = { ...(content ? { content: [...content] } : {}), ...modelOf(model) }
    await this.onQueued(id, "releasing", () => this.around.request("POST /api/experimental/chats/{chat}/queue/{queued}/release", { path, body }))
  }

  /** All ids that wait, in their new order. */
  async reorder(ids: readonly number[]): Promise<void> {
    const before = this.store.getState().picture.queue
    changeOverlay(this.store, (overlay) => ({ ...overlay, order: { ids, before: null } }))
    try {
      await this.few(() => this.around.request("PUT /api/experimental/chats/{chat}/queue", { path: this.path, body: { ids: [...ids] } }))
      changeOverlay(this.store, (overlay) => (overlay.order ? { ...overlay, order: { ...overlay.order, before } } : overlay))
    } catch (error) {
      changeOverlay(this.store, (overlay) => ({ ...overlay, order: null }))
      throw error
    }
  }

  private get path(): { chat: string } {
    return { chat: this.chatId }
  }

  private few<T>(ask: () => Promise<T>): Promise<T> {
    return insist(ask, { around: this.around, most: fewTries })
  }

  private async deliver(key: string, content: readonly InputPart[], options: SendOptions): Promise<void> {
    const signal = this.givenUp.get(key)?.signal
    if (!signal || signal.aborted) return
    const body = { content: [...content], ...modelOf(options), ...steering(options) }
    try {
      const answer = await insist(
        () => this.around.request("POST /api/experimental/chats/{chat}/messages", { path: this.path, body, idempotencyKey: key, signal }),
        { around: this.around, signal, onUnanswered: () => changeOverlay(this.store, (overlay) => changeSend(overlay, key, { state: "unanswered" })) },
      )
      changeOverlay(this.store, (overlay) => sendAnswered(overlay, key, answer))
    } catch (error) {
      changeOverlay(this.store, (overlay) => changeSend(overlay, key, { state: "failed", problem: problemOf(error) }))
    } finally {
      this.givenUp.delete(key)
    }
  }

  private async onQueued<T>(id: number, operation: QueueOperation, ask: () => Promise<T>): Promise<T> {
    const before = this.store.getState().picture.queue
    changeOverlay(this.store, (overlay) => withQueueChange(overlay, id, { operation, before: null }))
    try {
      const answer = await this.few(ask)
      changeOverlay(this.store, (overlay) => (overlay.queue.has(id) ? withQueueChange(overlay, id, { operation, before }) : overlay))
      return answer
    } catch (error) {
      changeOverlay(this.store, (overlay) => withQueueChange(overlay, id, null))
      throw error
    }
  }
}

function modelOf({ modelConfigId, reasoningEffort }: WithModel) {
  return {
    ...(modelConfigId === undefined ? {} : { model_config_id: modelConfigId }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  }
}

function steering({ interrupt, planMode }: SendOptions) {
  return {
    ...(interrupt ? { busy_behavior: "interrupt" as const } : {}),
    ...(planMode === undefined ? {} : { plan_mode: planMode }),
  }
}

function problemOf(error: unknown) {
  return error instanceof Refused ? error.problem : { message: error instanceof Error ? error.message : String(error) }
}
