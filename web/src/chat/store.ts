/** One chat, live: reads its newest messages, follows it from there, and keeps its picture. */
import type { StreamEvent } from "../api/events"
import type { Followed } from "../api/follow"
import type { Connection } from "../api/lasting"
import { Refused } from "../api/request"
import type { ChatMessagesPage } from "../api/schema"
import { type ChatStore, type ChatSurroundings, chatStore, setPicture } from "./chat_state"
import { insist } from "./insist"
import { newestId, placeOf } from "./message_list"
import { apply, fromPage, type Picture, withOlder } from "./picture"

export const pageSize = 50
/** A history that is sent anew comes whole. Above this it is quicker to read its end. */
const mostSentAnew = 150

export class LiveChat {
  readonly chatId: string
  readonly store: ChatStore = chatStore()
  private readonly around: ChatSurroundings
  private followed: Followed | null = null
  private buffer: StreamEvent[] = []
  private cancelFrame: (() => void) | null = null
  private reading: AbortController | null = null
  private older: Promise<boolean> | null = null
  /** Counts histories: a page that was asked of another one is of no use. */
  private history = 0

  constructor(chatId: string, around: ChatSurroundings) {
    this.chatId = chatId
    this.around = around
  }

  /** Follows it from where it was left, or reads it first. */
  start(): void {
    if (this.store.getState().reading.state === "read") this.follow()
    else void this.read()
  }

  /** What is known stays. */
  stop(): void {
    this.flush()
    this.unfollow()
    this.reading?.abort()
  }

  /** Tries again what failed or waits. */
  retry(): void {
    if (this.store.getState().reading.state === "refused") void this.read()
    else this.followed?.hurry()
  }

  /** Whether there are more. Asking while it is being read changes nothing. */
  loadOlder(limit = pageSize): Promise<boolean> {
    this.older ??= this.readOlder(limit).finally(() => (this.older = null))
    return this.older
  }

  /** Reads back until the message is there. False: it is not to be had. */
  async loadBackTo(messageId: number): Promise<boolean> {
    for (;;) {
      const { messages } = this.store.getState().picture
      if (messages[placeOf(messages, messageId)]?.id === messageId) return true
      const [first] = messages
      if (!first || messageId > first.id) return false
      await this.loadOlder(4 * pageSize)
      if (this.store.getState().picture.messages[0] === first) return false
    }
  }

  private async read(): Promise<void> {
    this.reading?.abort()
    const reading = (this.reading = new AbortController())
    const { signal } = reading
    this.unfollow()
    this.history += 1
    this.store.setState({ reading: { state: "reading" } })
    try {
      const page = await insist(() => this.page({ limit: pageSize }, signal), { around: this.around, signal, onUnanswered: () => this.unreached() })
      if (signal.aborted) return
      this.history += 1
      setPicture(this.store, begunAnew(this.store.getState().picture, page))
      this.store.setState({ reading: { state: "read" }, older: { state: "read" } })
      this.follow()
    } catch (error) {
      if (signal.aborted) return
      this.store.setState({ reading: refusedReading(error) })
    }
  }

  private page(query: { limit: number; before_id?: number }, signal?: AbortSignal): Promise<ChatMessagesPage> {
    const asked = { path: { chat: this.chatId }, query, ...(signal ? { signal } : {}) }
    return this.around.request("GET /api/experimental/chats/{chat}/messages", asked)
  }

  private unreached(): void {
    this.store.setState({ connection: { state: "connecting", attempt: 1 } })
  }

  private async readOlder(limit: number): Promise<boolean> {
    const { picture, reading } = this.store.getState()
    const [first] = picture.messages
    if (!first || !picture.hasOlder || reading.state !== "read") return picture.hasOlder
    const history = this.history
    this.store.setState({ older: { state: "reading" } })
    try {
      const page = await this.page({ limit, before_id: first.id })
      if (history === this.history) setPicture(this.store, withOlder(this.store.getState().picture, page))
      this.store.setState({ older: { state: "read" } })
    } catch (error) {
      this.store.setState({ older: refusedReading(error) })
    }
    return this.store.getState().picture.hasOlder
  }

  private follow(): void {
    this.unfollow()
    const { lastId, messages } = this.store.getState().picture
    this.followed = this.around.follow(
      this.chatId,
      lastId === null ? { afterId: newestId(messages) } : { after: lastId },
      {
        onEvents: (events) => this.came(events),
        onConnection: (now) => this.connected(now),
        onRestart: () => void this.read(),
      },
      this.around,
    )
  }

  private unfollow(): void {
    this.followed?.close()
    this.followed = null
    this.cancelFrame?.()
    this.cancelFrame = null
    this.buffer = []
  }

  private connected(connection: Connection): void {
    this.store.setState({ connection })
    if (connection.state === "ended" && connection.why === "signed-out") this.around.signedOut()
  }

  /** Chunks come faster than pictures are drawn: one update for each that is. */
  private came(events: readonly StreamEvent[]): void {
    for (const event of events) this.buffer.push(event)
    this.cancelFrame ??= this.around.frame(() => this.flush())
  }

  private flush(): void {
    this.cancelFrame?.()
    this.cancelFrame = null
    const events = this.buffer
    this.buffer = []
    const { picture } = this.store.getState()
    const reset = picture.hasOlder || picture.messages.length > mostSentAnew ? events.findIndex((event) => event.type === "history_reset") : -1
    setPicture(this.store, apply(picture, reset < 0 ? events : events.slice(0, reset)))
    if (reset >= 0) void this.read()
  }
}

/** What was known stays in view where it is still true: before the page, if that goes on from it; and the turn's state. */
function begunAnew(known: Picture, page: ChatMessagesPage): Picture {
  const begun = fromPage(page, known.messages)
  const { status, error, action } = known
  const [first] = begun.messages
  const place = first ? placeOf(known.messages, first.id) : 0
  if (!first || !page.has_more || known.messages[place] !== first) return { ...begun, status, error, action }
  return { ...begun, status, error, action, messages: [...known.messages.slice(0, place), ...begun.messages], hasOlder: known.hasOlder }
}

function refusedReading(error: unknown) {
  return { state: "refused" as const, refused: error instanceof Refused ? error : null }
}
