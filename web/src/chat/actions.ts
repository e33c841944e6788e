/** What a person can do to a chat. Each shows at once in the overlay, and leaves it when the picture has it. */
import { Refused } from "../api/request"
import type { Chat, ChatMessage, ChatQueuedMessage, InputPart, Problem, ReasoningEffort } from "../api/schema"
import { words } from "../words"
import { type ChatStore, type ChatSurroundings, changeOverlay } from "./chat_state"
import { insist } from "./insist"
import { newestId } from "./message_list"
import {
  beginEdit,
  beginSend,
  changeEdit,
  changeSend,
  isReplacedBy,
  type QueueOperation,
  sendAnswered,
  withoutEdit,
  withoutRefused,
  withoutSend,
  withQueueChange,
  withRefused,
} from "./sending"
import { type UnsentChat, type UnsentEdit, type UnsentMessage, whyNotAgain } from "./unsent"

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
/** An edit that was done a moment ago is among the newest. */
const fewMessages = 100
/** For a stop that was answered, until the stream says that it has begun. */
const stoppingMs = 3000

export class ChatActions {
  private readonly chatId: string
  private readonly store: ChatStore
  private readonly around: ChatSurroundings
  /** Messages and edits go one after the other, in the order in which they were written: an edit hides what arrived before it. */
  private lastSend: Promise<void> = Promise.resolve()
  private readonly givenUp = new Map<string, AbortController>()

  constructor(chatId: string, store: ChatStore, around: ChatSurroundings) {
    this.chatId = chatId
    this.store = store
    this.around = around
  }

  /** Gives the key of the send in the overlay. Without an answer it is tried again; refused, it is `failed` there. */
  send(content: readonly InputPart[], options: SendOptions = {}, key = this.around.newKey()): string {
    const one: UnsentMessage = { kind: "message", ...this.begun(key), content, options }
    this.around.unsent.keep(one)
    this.take(one, "sending")
    return one.key
  }

  /** Takes a send out of the overlay: one that failed, or one that nobody wants to wait for. It may have arrived all the same. */
  forgetSend(key: string): void {
    this.givenUp.get(key)?.abort()
    this.givenUp.delete(key)
    this.around.unsent.forget(key)
    changeOverlay(this.store, (overlay) => withoutSend(overlay, key))
  }

  /** Something was done elsewhere about one that was refused. */
  forgotten(key: string): void {
    changeOverlay(this.store, (overlay) => withoutRefused(overlay, key))
  }

  /** Replaces a message and all that follows it. Refused, it is among the sends as `failed`. */
  async edit(messageId: number, content: readonly InputPart[], options: WithModel = {}): Promise<void> {
    const one: UnsentEdit = { kind: "edit", ...this.begun(this.around.newKey()), messageId, content, options }
    this.around.unsent.keep(one)
    await this.replace(one, "sending")
  }

  /** One that failed, as it was, under its key: a server that failed may have done it before, and another tab may have tried again. */
  tryAgain(key: string): void {
    const send = this.store.getState().overlay.sends.find((one) => one.key === key && one.state === "failed")
    if (!send) return
    this.forgetSend(key)
    if (send.replaces === null) this.send(send.content, send.options, key)
    else void this.edit(send.replaces, send.content, send.options)
  }

  /** Goes on with what an earlier page has left without an answer. */
  resume(one: UnsentMessage | UnsentEdit): void {
    const { sends, edit } = this.store.getState().overlay
    if (edit?.key === one.key || sends.some((send) => send.key === one.key)) return
    const problem = whyNotAgain(one, this.around.now())
    if (problem) changeOverlay(this.store, (overlay) => withRefused(overlay, one, problem))
    else if (one.kind === "edit") void this.replace(one, "unanswered")
    else this.take(one, "unanswered")
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

  private begun(key: string) {
    const newestBefore = newestId(this.store.getState().picture.messages)
    return { key, chatId: this.chatId, at: this.around.now(), problem: null, newestBefore }
  }

  private take(one: UnsentMessage, state: "sending" | "unanswered"): void {
    changeOverlay(this.store, (overlay, picture) => beginSend(overlay, one, state, picture))
    this.givenUp.set(one.key, new AbortController())
    this.lastSend = this.lastSend.then(() => this.deliver(one))
  }

  private replace(one: UnsentEdit, state: "sending" | "unanswered"): Promise<void> {
    changeOverlay(this.store, (overlay) => beginEdit(overlay, one, state))
    this.lastSend = this.lastSend.then(() => this.deliverEdit(one, state === "unanswered"))
    return this.lastSend
  }

  private async deliverEdit(one: UnsentEdit, isUnsure: boolean): Promise<void> {
    const { key, messageId, content, options } = one
    const path = { chat: this.chatId, message: messageId }
    const body = { content: [...content], ...modelOf(options) }
    try {
      const ask = async () => {
        if (isUnsure && (await this.hasGoneOn(one))) throw new Refused(409, { message: words.chat.goneOn })
        return await this.around.request("PATCH /api/experimental/chats/{chat}/messages/{message}", { path, body })
      }
      const answer = await insist(ask, {
        around: this.around,
        onUnanswered: () => {
          isUnsure = true
          changeOverlay(this.store, (overlay) => changeEdit(overlay, key, { state: "unanswered" }))
        },
      })
      this.around.unsent.forget(key)
      changeOverlay(this.store, (overlay) => changeEdit(overlay, key, { state: "sent", message: answer.message }))
    } catch (error) {
      // A message that an unanswered try has replaced is not there for the next one.
      const isGone = isUnsure && error instanceof Refused && error.status === 404
      if (!isGone || !(await this.isReplaced(one))) return this.refused(one, error, isUnsure)
      this.around.unsent.forget(key)
      changeOverlay(this.store, (overlay) => withoutEdit(overlay, key))
    }
  }

  /** Whether the words of an edit are in the history, or were a moment ago. Someone else may have replaced the message with others. */
  private async isReplaced({ messageId, content }: UnsentEdit): Promise<boolean> {
    const isIn = (messages: readonly ChatMessage[]) => isReplacedBy(messages, messageId, content)
    if (isIn(this.store.getState().picture.messages)) return true
    try {
      const ask = () => this.around.request("GET /api/experimental/chats/{chat}/messages", { path: this.path, query: { limit: fewMessages } })
      return isIn((await this.few(ask)).messages) || isIn(this.store.getState().picture.messages)
    } catch {
      return false // words that may be there twice are better than words that are lost
    }
  }

  /**
   * Whether there is something since that its writer did not know of: said elsewhere, while this one waited for a network or
   * for its page to be opened again. Hours of that may be gone by an edit that comes late.
   */
  private async hasGoneOn({ content, newestBefore }: UnsentEdit): Promise<boolean> {
    const asked = { path: this.path, query: { limit: fewMessages } }
    const { prompts } = await this.around.request("GET /api/experimental/chats/{chat}/prompts", asked)
    const since = prompts.filter(({ id }) => id > newestBefore)
    const own = textOf(content)
    return since.length > 0 && !since.some(({ text }) => text.trim() === own)
  }

  private refused(one: UnsentMessage | UnsentEdit, error: unknown, mayBeDone = false): void {
    const problem = problemOf(error)
    const isChatGone = one.kind === "message" && error instanceof Refused && error.status === 404
    this.around.unsent.keep(isChatGone ? asBeginning(one) : { ...one, problem })
    changeOverlay(this.store, (overlay) => withRefused(overlay, one, problem, mayBeDone))
  }

  private async deliver(one: UnsentMessage): Promise<void> {
    const { key, content, options } = one
    const signal = this.givenUp.get(key)?.signal
    if (!signal || signal.aborted) return
    const body = { content: [...content], ...modelOf(options), ...steering(options) }
    try {
      const answer = await insist(
        () => this.around.request("POST /api/experimental/chats/{chat}/messages", { path: this.path, body, idempotencyKey: key, signal }),
        { around: this.around, signal, onUnanswered: () => changeOverlay(this.store, (overlay) => changeSend(overlay, key, { state: "unanswered" })) },
      )
      this.around.unsent.forget(key)
      changeOverlay(this.store, (overlay) => sendAnswered(overlay, key, answer))
    } catch (error) {
      if (!signal.aborted) this.refused(one, error)
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

/** Nobody comes to a chat that is gone: its words wait where chats begin. */
function asBeginning({ key, at, content, options }: UnsentMessage): UnsentChat {
  const { interrupt: _, planMode, ...model } = options
  const body = { content: [...content], client_type: "ui" as const, ...modelOf(model), ...(planMode ? { plan_mode: planMode } : {}) }
  return { kind: "chat", key, at, problem: { message: words.chat.chatGone }, body }
}

/** As the server tells what was written: each text without spaces around it, and nothing between them. */
function textOf(content: readonly InputPart[]): string {
  return content.map((part) => (part.type === "text" ? (part.text ?? "").trim() : "")).join("")
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

export function problemOf(error: unknown): Problem {
  return error instanceof Refused ? error.problem : { message: error instanceof Error ? error.message : String(error) }
}
